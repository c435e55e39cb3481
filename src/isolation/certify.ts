/**
 * Re-checks the evidence of a verdict with the definition alone: no search, no incremental state, nothing shared with what found it.
 */
import {
  type History,
  INITIAL,
  type Relations,
  type RelationsOptions,
  relationsOf,
  type TransactionIndex,
} from '../history/index.ts';
import { type Execution, satisfiedBy, visible } from './definition.ts';
import type { IsolationLevel, Levels } from './level.ts';
import { PartialOrder } from './partial-order.ts';
import type { Refutation, Step } from './refutation.ts';
import type { Verdict } from './verdict.ts';

/** Does the evidence prove the verdict? `unknown` claims nothing and is always certified. */
export function certify(history: History, level: Levels, verdict: Verdict, options: RelationsOptions = {}): boolean {
  const relations = relationsOf(history, options);
  const levelOf = typeof level === 'function' ? level : () => level;
  switch (verdict.kind) {
    case 'unknown':
      return true;
    case 'satisfied':
      return (
        isPermutation(verdict.commitOrder, relations.members) && satisfiedBy(relations, verdict.commitOrder, level)
      );
    case 'violated': {
      const { read, refutation } = verdict;
      if (refutation !== undefined)
        return certifyRefutation(relations, levelOf, refutation, new PartialOrder(history.transactions.length));
      return (
        read !== undefined &&
        levelOf(read.by) !== 'read-uncommitted' &&
        relations.phenomena.some((p) => p.kind === read.kind && p.by === read.by && p.operation === read.operation)
      );
    }
  }
}

function isPermutation(order: readonly TransactionIndex[], members: readonly TransactionIndex[]): boolean {
  return (
    order.length === members.length && new Set(order).size === order.length && members.every((t) => order.includes(t))
  );
}

type LevelOf = (t: TransactionIndex) => IsolationLevel;

function certifyRefutation(
  relations: Relations,
  levelOf: LevelOf,
  refutation: Refutation,
  given: PartialOrder<null>,
): boolean {
  const order = given.copy();
  const { steps, end } = refutation;
  for (const [position, step] of steps.entries()) {
    if (!follows(relations, levelOf, step, order)) return false;
    if (step.from === step.to || order.has(step.to, step.from))
      return end.kind === 'cycle' && position === steps.length - 1;
    order.add(step.from, step.to, null);
  }
  if (end.kind === 'cycle') return false;
  const { first, second, before, after } = end;
  const open = (from: TransactionIndex, to: TransactionIndex, branch: Refutation): boolean => {
    const [assumption, ...rest] = branch.steps;
    if (assumption === undefined || assumption.from !== from || assumption.to !== to || order.has(to, from))
      return false;
    const assumed = order.copy();
    if (!assumed.has(from, to)) assumed.add(from, to, null);
    return certifyRefutation(relations, levelOf, { steps: rest, end: branch.end }, assumed);
  };
  return first !== second && open(first, second, before) && open(second, first, after);
}

/** Does the step follow from the history, the definition and the pairs in `order`? */
function follows(relations: Relations, levelOf: LevelOf, { from, to, why }: Step, order: PartialOrder<null>): boolean {
  const known: Execution = { ...relations, co: (a, b) => order.has(a, b) };
  switch (why.rule) {
    case 'so':
      return relations.so(from, to);
    case 'rt':
      return levelOf(to) === 'strict-serializable' && relations.realTime(from, to);
    case 'wr':
      return (
        from === why.read.from && to === why.read.by && relations.wr(from, to) && levelOf(to) !== 'read-uncommitted'
      );
    case 'axiom':
      return (
        from === why.writer &&
        to === why.read.from &&
        isInstance(relations, why) &&
        visible[levelOf(why.read.by)](known, from, why.read)
      );
    case 'hidden': {
      const opposite: Execution['co'] = (a, b) =>
        known.co(a, b) || ((a === to || known.co(a, to)) && (b === from || known.co(from, b)));
      const seen = visible[levelOf(why.read.by)]({ ...relations, co: opposite }, why.writer, why.read);
      return isInstance(relations, why) && known.co(why.read.from, why.writer) && seen;
    }
    case 'assumed':
      return false; // only where a case opens
  }
}

function isInstance(
  relations: Relations,
  { read, writer }: Extract<Step['why'], { rule: 'axiom' | 'hidden' }>,
): boolean {
  return (
    writer !== read.from &&
    writer !== INITIAL &&
    relations.writersOf(read.key).includes(writer) &&
    relations.reads.some(
      (r) => r.by === read.by && r.operation === read.operation && r.key === read.key && r.from === read.from,
    )
  );
}
