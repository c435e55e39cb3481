/**
 * From a refutation to the cycle of dependencies that people know: so, wr, ww and rw edges between transactions (Adya's direct
 * serialization graph). A refutation ends in a cycle of pairs of co; each pair is spelled out in the edges that it stands for.
 */
import { assert } from '../base/index.ts';
import type { ExternalRead, Key, Relations, TransactionIndex } from '../history/index.ts';
import { type Execution, visible } from './definition.ts';
import { PartialOrder } from './partial-order.ts';
import type { LevelOf } from './level.ts';
import { axiomInstances, type Reason, type Refutation, saturate, type Step } from './refutation.ts';

/**
 * `so` session order, `wr` write-read, `ww` write-write, `rw` anti-dependency, `rt` real time, `co` an order that a proof assumed, both
 * ways, between transactions that share no key.
 */
export type EdgeRelation = 'so' | 'wr' | 'ww' | 'rw' | 'rt' | 'co';

/** `from` is before `to`. */
export interface Edge {
  readonly from: TransactionIndex;
  readonly to: TransactionIndex;
  readonly relation: EdgeRelation;
  readonly key?: Key;
  /** The read behind a wr or rw edge: its position in the operations of its transaction. */
  readonly operation?: number;
  /** Of an rw edge: the condition that the row did not satisfy before `to` wrote it; Adya's predicate-anti-dependency. */
  readonly condition?: string;
}

/**
 * The cycles that a refutation can be read as: those at the ends of its cases, and one for each read of a version that was overwritten by
 * a transaction which is visible to the reader.
 */
export function dependencyCycles(relations: Relations, levelOf: LevelOf, refutation: Refutation): Edge[][] {
  const start = new PartialOrder<Step>(relations.history.transactions.length);
  const cycles = [...leafCycles(relations, refutation, start), ...contradictedReads(relations, levelOf)];
  assert(cycles.length > 0, 'every case of a refutation ends in a cycle');
  return cycles.map(rotate);
}

function leafCycles(relations: Relations, { steps, end }: Refutation, given: PartialOrder<Step>): Edge[][] {
  const order = given.copy();
  for (const step of steps) if (!order.has(step.to, step.from)) order.add(step.from, step.to, step);
  if (end.kind === 'cases') {
    return [...leafCycles(relations, end.before, order), ...leafCycles(relations, end.after, order)];
  }
  const edges = end.cycle.flatMap((step) => edgesOf(relations, step));
  const overwritten = end.cycle.flatMap((step) => overwrittenReads(relations, step, order));
  return isDirtyWrite(edges) || end.cycle.every(({ why }) => why.rule !== 'axiom')
    ? [edges, ...overwritten]
    : overwritten;
}

/** Two or more keys overwritten in opposite orders: of what the axioms demand, all else is better said of the read that demands it. */
function isDirtyWrite(edges: readonly Edge[]): boolean {
  return edges.every(({ relation }) => relation === 'ww') && new Set(edges.map(({ key }) => key)).size > 1;
}

/** From all that the rules derive, so that neither the order of sessions nor that of the proof decides what is found. */
function contradictedReads(relations: Relations, levelOf: LevelOf): Edge[][] {
  const order = saturate(relations, levelOf);
  const known: Execution = { ...relations, co: (a, b) => order.has(a, b) };
  return [...axiomInstances(relations)]
    .filter(({ read, writer }) => known.co(read.from, writer) && visible[levelOf(read.by)](known, writer, read))
    .flatMap(({ read, writer }) => overwrittenRead(relations, read, writer, order));
}

/** Starts at the transaction that comes first in the history. */
function rotate(cycle: Edge[]): Edge[] {
  const first = cycle.reduce((best, edge, i) => (edge.from < cycle[best].from ? i : best), 0);
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}

/**
 * An axiom puts `writer` before the write that was read. The rest of the cycle says the opposite, that `writer` overwrote it. Given the
 * rest, the reader is before `writer` (rw), and yet `writer` is visible to the reader: these are the cycles that have names.
 * So it is where snapshot isolation puts the reader before a conflicting transaction that would make `writer` visible.
 */
function overwrittenReads(relations: Relations, step: Step, order: PartialOrder<Step>): Edge[][] {
  const { why, to } = step;
  if (why.rule !== 'axiom' && why.rule !== 'hidden') return [];
  const { read, writer } = why;
  if (why.rule === 'hidden') {
    const path = step.from === read.by && to !== writer ? order.shortestPath(writer, to) : null;
    const edges = path?.flatMap((before) => edgesOf(relations, before)) ?? [];
    return path === null ? [] : [[...edges, writeWrite(relations, to, read.by), antiDependency(read, writer)]];
  }
  return overwrittenRead(relations, read, writer, order);
}

/** `writer` overwrote what `read` saw, and yet it is before the reader: one cycle for each way to say why. */
function overwrittenRead(
  relations: Relations,
  read: ExternalRead,
  writer: TransactionIndex,
  order: PartialOrder<Step>,
): Edge[][] {
  const isObserved = ({ why }: Step): boolean => why.rule === 'so' || why.rule === 'wr';
  const paths = [order.shortestPath(writer, read.by, isObserved), order.shortestPath(writer, read.by)].flatMap(
    (path) => (path === null ? [] : [path.flatMap((step) => edgesOf(relations, step))]),
  );
  const seen = relations.readsOf(read.by).filter(({ from }) => from === writer);
  paths.push(...seen.map((other) => [writeRead(other)]));
  const written = writeWrite(relations, writer, read.by);
  if (order.has(writer, read.by) && written.relation === 'ww') paths.push([written]);
  return paths.map((edges) => [...edges, antiDependency(read, writer)]);
}

function writeRead({ from, by, key, operation }: ExternalRead): Edge {
  return { from, to: by, relation: 'wr', key, operation };
}

function antiDependency(read: ExternalRead, writer: TransactionIndex): Edge {
  const { by, key, operation, condition } = read;
  const edge = { from: by, to: writer, relation: 'rw', key, operation } as const;
  return condition === undefined ? edge : { ...edge, condition };
}

function edgesOf(relations: Relations, { from, to, why }: Step): Edge[] {
  switch (why.rule) {
    case 'so':
    case 'rt':
      return [{ from, to, relation: why.rule }];
    case 'wr':
      return [writeRead(why.read)];
    case 'axiom':
      return [{ from, to, relation: 'ww', key: why.read.key }];
    case 'assumed':
      return [writeWrite(relations, from, to)];
    case 'hidden':
      return hiddenEdges(relations, from, to, why);
  }
}

function hiddenEdges(
  relations: Relations,
  from: TransactionIndex,
  to: TransactionIndex,
  why: Extract<Reason, { writer: number }>,
): Edge[] {
  const { read, writer } = why;
  if (to !== writer) return [writeWrite(relations, from, to)]; // snapshot isolation: the reader is before a conflicting writer
  const rw = antiDependency(read, writer);
  if (from === read.by) return [rw];
  const seen = relations.readsOf(read.by).find((r) => r.from === from);
  if (relations.so(from, read.by)) return [{ from, to: read.by, relation: 'so' }, rw];
  if (seen !== undefined) return [writeRead(seen), rw];
  return [writeWrite(relations, from, read.by), rw];
}

function writeWrite(relations: Relations, from: TransactionIndex, to: TransactionIndex): Edge {
  const key = [...relations.keysWrittenBy(from)].find((k) => relations.writes(to, k));
  return key === undefined ? { from, to, relation: 'co' } : { from, to, relation: 'ww', key };
}
