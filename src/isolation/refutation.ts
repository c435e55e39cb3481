/**
 * Proofs that a history has no commit order at a level, and the search for them.
 *
 * A refutation derives pairs of co, each from the history, from an axiom, or from the pairs before it, until a transaction is before
 * itself. Where no rule applies it assumes one order of two transactions, then the other, and refutes both. `certify` re-checks every
 * step with the definition alone. The search works in rounds, so that it finds a cycle with the fewest rounds of reasoning; it is for
 * histories that a person will look at (it costs reads x transactions^2 a round), after a faster algorithm has said that there is one.
 */
import { assert, type TimeLimit, unlimited } from '../base/index.ts';
import { type ExternalRead, INITIAL, type Relations, type TransactionIndex } from '../history/index.ts';
import { type Execution, visible } from './definition.ts';
import type { IsolationLevel, LevelOf } from './level.ts';
import { PartialOrder } from './partial-order.ts';

/** `from` is before `to` in every commit order, given the steps before. */
export interface Step {
  readonly from: TransactionIndex;
  readonly to: TransactionIndex;
  readonly why: Reason;
}

/**
 * `axiom`: `writer` is visible to the read, so it is before the write that was read: (writer, read.from).
 * `hidden`: the write that was read is before `writer`, so `writer` must not be visible to the read; (to, from) would make it so.
 */
export type Reason =
  | { readonly rule: 'so' | 'rt' | 'assumed' }
  | { readonly rule: 'wr'; readonly read: ExternalRead }
  | { readonly rule: 'axiom' | 'hidden'; readonly read: ExternalRead; readonly writer: TransactionIndex };

/** A proof that there is no commit order: derived pairs, then a cycle of them, or two cases of which neither is possible. */
export interface Refutation {
  readonly steps: readonly Step[];
  readonly end: { readonly kind: 'cycle'; readonly cycle: readonly Step[] } | Cases;
}

/** `first` and `second` can be in neither order: each case opens by assuming one. */
export interface Cases {
  readonly kind: 'cases';
  readonly first: TransactionIndex;
  readonly second: TransactionIndex;
  readonly before: Refutation;
  readonly after: Refutation;
}

/** The refutation of a history that has none of the commit orders. @returns `null` where `casesMax` runs out */
export function refute(
  relations: Relations,
  levelOf: LevelOf,
  limit: TimeLimit = unlimited,
  casesMax = 1_000,
): Refutation | null {
  const budget = { cases: casesMax, limit };
  return refuteFrom(
    relations,
    levelOf,
    baseSteps(relations, levelOf),
    new PartialOrder(relations.history.transactions.length),
    budget,
  );
}

/** All that the steps and their reasons speak of. */
export function transactionsOfRefutation({ steps, end }: Refutation): Set<TransactionIndex> {
  const found = new Set<TransactionIndex>();
  for (const { from, to, why } of steps) {
    found.add(from).add(to);
    if ('read' in why) found.add(why.read.by).add(why.read.from);
    if ('writer' in why) found.add(why.writer);
  }
  if (end.kind === 'cycle') return found;
  return new Set([...found, ...transactionsOfRefutation(end.before), ...transactionsOfRefutation(end.after)]);
}

function refuteFrom(
  relations: Relations,
  levelOf: LevelOf,
  fresh: readonly Step[],
  inherited: PartialOrder<Step>,
  budget: { cases: number; readonly limit: TimeLimit },
): Refutation | null {
  const order = inherited.copy();
  const steps: Step[] = [];
  for (let round = fresh; round.length > 0; round = derive(relations, levelOf, order)) {
    budget.limit.checkNow();
    for (const step of round) {
      if (order.has(step.from, step.to)) continue;
      steps.push(step);
      const back = order.shortestPath(step.to, step.from);
      if (back !== null) return { steps, end: { kind: 'cycle', cycle: [step, ...back] } };
      order.add(step.from, step.to, step);
    }
  }
  const open = openPair(relations, levelOf, order);
  assert(open !== null, 'a history that the search refutes leaves a contradiction or an open pair');
  if (budget.cases === 0) return null;
  budget.cases -= 1;
  const [first, second] = open;
  const assume = (from: TransactionIndex, to: TransactionIndex): Step[] => [{ from, to, why: { rule: 'assumed' } }];
  const before = refuteFrom(relations, levelOf, assume(first, second), order, budget);
  const after = before && refuteFrom(relations, levelOf, assume(second, first), order, budget);
  return before && after && { steps, end: { kind: 'cases', first, second, before, after } };
}

/** All that the rules derive, up to the first round that contradicts; then the pairs are cyclic. */
export function saturate(relations: Relations, levelOf: LevelOf): PartialOrder<Step> {
  const order = new PartialOrder<Step>(relations.history.transactions.length);
  let isAcyclic = true;
  for (
    let round = baseSteps(relations, levelOf);
    isAcyclic && round.length > 0;
    round = derive(relations, levelOf, order)
  ) {
    for (const step of round) {
      if (order.has(step.to, step.from)) isAcyclic = false;
      order.add(step.from, step.to, step);
    }
  }
  return order;
}

/** so, wr and real time, as far as they bind; only neighbours in a session, the rest follows. */
function baseSteps(relations: Relations, levelOf: LevelOf): Step[] {
  const { members, reads } = relations;
  const steps: Step[] = members.map((t) => ({ from: INITIAL, to: t, why: { rule: 'so' } }));
  members.forEach((b, position) => {
    const a = members.slice(0, position).findLast((t) => relations.so(t, b));
    if (a !== undefined) steps.push({ from: a, to: b, why: { rule: 'so' } });
  });
  for (const read of reads) {
    steps.push({ from: read.from, to: read.by, why: { rule: 'wr', read } });
  }
  for (const b of members.filter((t) => levelOf(t) === 'strict-serializable')) {
    for (const a of members) if (relations.realTime(a, b)) steps.push({ from: a, to: b, why: { rule: 'rt' } });
  }
  return steps;
}

/** What one round of the rules adds. */
function derive(relations: Relations, levelOf: LevelOf, order: PartialOrder<Step>): Step[] {
  const known: Execution = { ...relations, co: (a, b) => order.has(a, b) };
  const steps: Step[] = [];
  for (const { read, writer } of axiomInstances(relations)) {
    const level = levelOf(read.by);
    if (order.has(writer, read.from)) continue;
    if (visible[level](known, writer, read))
      steps.push({ from: writer, to: read.from, why: { rule: 'axiom', read, writer } });
    else if (order.has(read.from, writer)) steps.push(...hidden(known, level, read, writer));
  }
  return steps;
}

/** Every read with every other transaction that writes its key: the instances of the axiom. */
export function* axiomInstances(relations: Relations): Generator<{ read: ExternalRead; writer: TransactionIndex }> {
  for (const read of relations.reads) {
    for (const writer of relations.writersOf(read.key)) {
      if (writer !== read.from && writer !== read.by && writer !== INITIAL) yield { read, writer };
    }
  }
}

/** The pairs that hold because their opposite would make `writer` visible to `read`. */
function hidden(known: Execution, level: IsolationLevel, read: ExternalRead, writer: TransactionIndex): Step[] {
  return candidatePairs(known, level, read, writer)
    .filter(
      ([from, to]) => from !== to && !known.co(from, to) && visible[level](withPair(known, to, from), writer, read),
    )
    .map(([from, to]) => ({ from, to, why: { rule: 'hidden', read, writer } }));
}

/**
 * Where visible mentions co, it is between the writer and a transaction right before the reader, or, for snapshot isolation, between one
 * that conflicts with the reader and either. What holds for the last of its session holds for those before it.
 */
function candidatePairs(
  known: Execution,
  level: IsolationLevel,
  { by }: ExternalRead,
  writer: TransactionIndex,
): [number, number][] {
  switch (level) {
    case 'serializable':
    case 'strict-serializable':
      return [[by, writer]];
    case 'prefix':
    case 'snapshot-isolation': {
      const previous = known.members.findLast((t4) => known.so(t4, by)) ?? INITIAL;
      const sources = known.readsOf(by).map(({ from }) => from);
      const toWriter = [previous, ...sources]
        .filter((t4) => t4 !== INITIAL)
        .map((t4): [number, number] => [t4, writer]);
      return level === 'prefix' ? toWriter : [...toWriter, ...conflictPairs(known, by, writer)];
    }
    default:
      return [];
  }
}

function conflictPairs(known: Execution, reader: TransactionIndex, writer: TransactionIndex): [number, number][] {
  const conflicting = [...known.keysWrittenBy(reader)].flatMap((key) => known.writersOf(key));
  return conflicting
    .filter((t4) => t4 !== INITIAL && t4 !== reader)
    .flatMap((t4): [number, number][] => [
      [t4, writer],
      [reader, t4],
    ]);
}

function withPair(known: Execution, from: TransactionIndex, to: TransactionIndex): Execution {
  const co = (a: TransactionIndex, b: TransactionIndex): boolean =>
    known.co(a, b) || ((a === from || known.co(a, from)) && (b === to || known.co(to, b)));
  return { ...known, co };
}

/** Two transactions whose order is open and matters to some read. */
function openPair(
  relations: Relations,
  levelOf: LevelOf,
  order: PartialOrder<Step>,
): [TransactionIndex, TransactionIndex] | null {
  const isOpen = (a: TransactionIndex, b: TransactionIndex): boolean => a !== b && !order.has(a, b) && !order.has(b, a);
  const known: Execution = { ...relations, co: (a, b) => order.has(a, b) };
  for (const { read, writer } of axiomInstances(relations)) {
    if (isOpen(writer, read.from) && candidatePairs(known, levelOf(read.by), read, writer).length > 0)
      return [writer, read.from];
  }
  for (const { read, writer } of axiomInstances(relations)) {
    if (!order.has(read.from, writer)) continue;
    const pair = candidatePairs(known, levelOf(read.by), read, writer).find(([a, b]) => isOpen(a, b));
    if (pair !== undefined) return pair;
  }
  return null;
}
