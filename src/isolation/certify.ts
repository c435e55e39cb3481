/**
 * Re-checks the evidence of a verdict with the definition alone: no search, no incremental state, nothing shared with what found it.
 */
import {
  type ExternalRead,
  type History,
  INITIAL,
  type Relations,
  type RelationsOptions,
  type TransactionIndex,
} from '../history/index.ts';
import { nameCycle } from './anomaly.ts';
import { bindingRelations, type Execution, satisfiedBy, visible } from './definition.ts';
import { type LevelOf, type Levels, levelOfEach } from './level.ts';
import type { Edge } from './dependency-cycle.ts';
import { PartialOrder } from './partial-order.ts';
import type { Refutation, Step } from './refutation.ts';
import type { RefutedChoice, Verdict, Violated } from './verdict.ts';
import { coversAllChoices, onlyResolved, withWriters } from './writer-choices.ts';

/** Does the evidence prove the verdict? `unknown` claims nothing and is always certified. */
export function certify(history: History, level: Levels, verdict: Verdict, options: RelationsOptions = {}): boolean {
  const levelOf = levelOfEach(level);
  switch (verdict.kind) {
    case 'unknown':
      return true;
    case 'satisfied':
      return certifyOrder(
        bindingRelations(withWriters(history, verdict.writers ?? []), levelOf, options),
        levelOf,
        verdict,
      );
    case 'violated': {
      if (verdict.choices !== undefined) return certifyChoices(history, level, verdict.choices, options);
      const relations = bindingRelations(history, levelOf, { ...options, ...onlyResolved });
      return verdict.read === undefined
        ? certifyCycle(relations, verdict) && certifyRefutationOf(relations, levelOf, verdict)
        : certifyRead(relations, verdict);
    }
  }
}

function certifyOrder(
  relations: Relations,
  levelOf: LevelOf,
  { commitOrder }: Extract<Verdict, { kind: 'satisfied' }>,
): boolean {
  return (
    relations.ambiguous.length === 0 &&
    isPermutation(commitOrder, relations.members) &&
    satisfiedBy(relations, commitOrder, levelOf)
  );
}

/** Is each combination of writers refuted, and is there one in each choice? */
function certifyChoices(
  history: History,
  level: Levels,
  choices: readonly RefutedChoice[],
  options: RelationsOptions,
): boolean {
  const { ambiguous } = bindingRelations(history, levelOfEach(level), options);
  return (
    coversAllChoices(ambiguous, choices) &&
    choices.every(
      ({ writers, verdict }) =>
        verdict.choices === undefined && certify(withWriters(history, writers), level, verdict, options),
    )
  );
}

function isPermutation(order: readonly TransactionIndex[], members: readonly TransactionIndex[]): boolean {
  return (
    order.length === members.length && new Set(order).size === order.length && members.every((t) => order.includes(t))
  );
}

function certifyRead({ phenomena }: Relations, { anomaly, cycle, read, refutation }: Violated): boolean {
  const isPhenomenon = phenomena.some((p) => read !== undefined && p.kind === read.kind && isSameRead(p, read));
  return isPhenomenon && read?.kind === anomaly && cycle.length === 0 && refutation === undefined;
}

/** Is it a cycle of facts of the history, of the anomaly's shape? That it is forbidden, the refutation shows. */
function certifyCycle(relations: Relations, { anomaly, cycle }: Violated): boolean {
  return isCycle(cycle) && cycle.every((edge) => isFact(relations, edge)) && nameCycle(cycle) === anomaly;
}

function isCycle(pairs: readonly { readonly from: TransactionIndex; readonly to: TransactionIndex }[]): boolean {
  return pairs.length > 0 && pairs.every(({ to }, i) => to === pairs[(i + 1) % pairs.length]?.from);
}

/** ww and rw say who writes what was written or read before; that it was before, the refutation shows. */
function isFact(relations: Relations, { from, to, relation, key = '', operation }: Edge): boolean {
  const readBy = (by: TransactionIndex): ExternalRead | undefined =>
    relations.readsOf(by).find((read) => read.key === key && read.operation === operation);
  switch (relation) {
    case 'so':
      return relations.so(from, to);
    case 'rt':
      return relations.realTime(from, to);
    case 'wr':
      return readBy(to)?.from === from;
    case 'rw':
      return relations.writes(to, key) && to !== from && readBy(from) !== undefined && readBy(from)?.from !== to;
    case 'ww':
      return relations.writes(from, key) && relations.writes(to, key) && to !== from;
    case 'co':
      return from !== to;
  }
}

function isSameRead(a: ExternalRead, b: ExternalRead): boolean {
  return a.by === b.by && a.operation === b.operation && a.key === b.key && a.from === b.from;
}

function certifyRefutationOf(relations: Relations, levelOf: LevelOf, { refutation }: Violated): boolean {
  const nothing = new PartialOrder<null>(relations.history.transactions.length);
  return refutation !== undefined && certifyRefutation(relations, levelOf, refutation, nothing);
}

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
      return end.kind === 'cycle' && position === steps.length - 1 && closes(order, step, end.cycle);
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

/** Is the cycle made of the last step and of pairs known before it? */
function closes(order: PartialOrder<null>, last: Step, cycle: readonly Step[]): boolean {
  const [first, ...rest] = cycle;
  return (
    first?.from === last.from && first.to === last.to && isCycle(cycle) && rest.every((s) => order.has(s.from, s.to))
  );
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
      return from === why.read.from && to === why.read.by && relations.wr(from, to);
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
    relations.reads.some((r) => isSameRead(r, read))
  );
}
