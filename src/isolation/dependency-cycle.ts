/**
 * From a refutation to the cycle of dependencies that people know: so, wr, ww and rw edges between transactions (Adya's direct
 * serialization graph). A refutation ends in a cycle of pairs of co; each pair is spelled out in the edges that it stands for.
 */
import { assert } from '../base/assert.ts';
import type { ExternalRead, Key, Relations, TransactionIndex } from '../history/index.ts';
import { PartialOrder } from './partial-order.ts';
import type { Reason, Refutation, Step } from './refutation.ts';

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
}

/** The shortest cycle among the ends of the refutation's cases. */
export function dependencyCycle(relations: Relations, refutation: Refutation): Edge[] {
  const cycles = leafCycles(relations, refutation, new PartialOrder<Step>(relations.history.transactions.length));
  const [shortest] = cycles.toSorted((a, b) => a.length - b.length);
  assert(shortest !== undefined, 'every case of a refutation ends in a cycle');
  return shortest;
}

function leafCycles(relations: Relations, { steps, end }: Refutation, given: PartialOrder<Step>): Edge[][] {
  const order = given.copy();
  for (const step of steps) {
    if (order.has(step.from, step.to)) continue;
    if (step.from !== step.to && !order.has(step.to, step.from)) order.add(step.from, step.to, step);
  }
  if (end.kind === 'cycle') return [rotate(spellOut(relations, end.cycle, order))];
  return [...leafCycles(relations, end.before, order), ...leafCycles(relations, end.after, order)];
}

/** Starts at the transaction that comes first in the history. */
function rotate(cycle: Edge[]): Edge[] {
  const first = cycle.reduce((best, edge, i) => (edge.from < (cycle[best] as Edge).from ? i : best), 0);
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}

function spellOut(relations: Relations, cycle: readonly Step[], order: PartialOrder<Step>): Edge[] {
  const edges = cycle.flatMap((step) => edgesOf(relations, step));
  if (isDirtyWrite(edges) || edges.some(({ relation }) => relation === 'rw')) return edges;
  const axiom = cycle.find(({ why }) => why.rule === 'axiom');
  return axiom === undefined ? edges : (overwrittenRead(relations, axiom, cycle, order) ?? edges);
}

/** Two or more keys overwritten in opposite orders. */
function isDirtyWrite(edges: readonly Edge[]): boolean {
  return edges.every(({ relation }) => relation === 'ww') && new Set(edges.map(({ key }) => key)).size > 1;
}

/**
 * The axiom put `writer` before the write that was read; the rest of the cycle says the opposite, that it overwrote it. Given the rest,
 * the reader is before `writer` (rw), and yet `writer` is visible to the reader: this is the cycle that has a name.
 */
function overwrittenRead(
  relations: Relations,
  axiom: Step,
  cycle: readonly Step[],
  order: PartialOrder<Step>,
): Edge[] | null {
  assert(axiom.why.rule === 'axiom', 'an axiom step');
  const { read, writer } = axiom.why;
  const path = order.shortestPath(writer, read.by);
  if (path === null || path.some((step) => step === axiom) || path.length > 2 * cycle.length + 2) return null;
  return [...path.flatMap((step) => edgesOf(relations, step)), antiDependency(read, writer)];
}

function antiDependency(read: ExternalRead, writer: TransactionIndex): Edge {
  return { from: read.by, to: writer, relation: 'rw', key: read.key, operation: read.operation };
}

function edgesOf(relations: Relations, { from, to, why }: Step): Edge[] {
  switch (why.rule) {
    case 'so':
    case 'rt':
      return [{ from, to, relation: why.rule }];
    case 'wr':
      return [{ from, to, relation: 'wr', key: why.read.key, operation: why.read.operation }];
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
  if (seen !== undefined) return [{ from, to: read.by, relation: 'wr', key: seen.key, operation: seen.operation }, rw];
  return [writeWrite(relations, from, read.by), rw];
}

function writeWrite(relations: Relations, from: TransactionIndex, to: TransactionIndex): Edge {
  const key = [...relations.keysWrittenBy(from)].find((k) => relations.writes(to, k));
  return key === undefined ? { from, to, relation: 'co' } : { from, to, relation: 'ww', key };
}
