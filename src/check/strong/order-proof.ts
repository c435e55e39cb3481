/**
 * A contradiction that followed without any choice, as a proof about the whole history: the edges behind it in the order in which they were
 * found, each with the rule that gave it. It needs no part that is small enough to be looked at. At serializable, where a transaction is one
 * point of the order; edges between snapshots and commits are none of the proof system's.
 */
import { assert, AssertionFailure, type TimeLimit } from '../../base/index.ts';
import { type ExternalRead, INITIAL, type TransactionIndex } from '../../history/index.ts';
import type { Edge, Step } from '../../isolation/index.ts';
import type { OrderProblem } from '../commit-order.ts';
import { externalRead } from '../cycle-proof.ts';
import type { CycleProof } from '../verdict.ts';
import type { StrongProblem } from './check-strong.ts';
import { derivationOf } from './core.ts';
import { rule, transactionAt } from './nodes.ts';

/** A step, and the edge of the dependency graph that it is read as. */
interface Proven {
  readonly step: Step;
  readonly edge: Edge;
}

/** @returns `null`: not at this level, or not without real time */
export function orderProof(problem: OrderProblem, contradiction: StrongProblem, limit: TimeLimit): CycleProof | null {
  const { nodes, edges } = contradiction;
  if (nodes.shift !== 0) return null;
  const derivation = derivationOf(contradiction);
  const proven: Proven[] = [];
  for (const [before, after] of derivation.chainSteps) {
    const known = knownStep(problem, transactionAt(nodes, before), transactionAt(nodes, after));
    if (known === null) return null;
    proven.push(known);
  }
  for (const edge of derivation.edges) {
    if (edges.rule.array[edge] === rule.realTime) return null;
    if (edges.rule.array[edge] === rule.initialRead)
      proven.push(sessionOrder(INITIAL, transactionAt(nodes, edges.to.array[edge])));
    proven.push(provenEdge(problem, contradiction, edge));
  }
  return closed(proven, limit);
}

/** An edge of so, or of wr where the next transaction of the chain reads from this one. */
function knownStep(problem: OrderProblem, from: TransactionIndex, to: TransactionIndex): Proven | null {
  const { history, reads } = problem;
  if (from === INITIAL || to === INITIAL) return null;
  if (history.session[from] === history.session[to]) return sessionOrder(from, to);
  for (let i = reads.readStart[to]; i < reads.readStart[to + 1]; i += 1)
    if (reads.readFrom[i] === from) return writeRead(externalRead(problem, i));
  return null;
}

/** The initial transaction is before all sessions. */
function sessionOrder(from: TransactionIndex, to: TransactionIndex): Proven {
  return { step: { from, to, why: { rule: 'so' } }, edge: { from, to, relation: 'so' } };
}

function writeRead(read: ExternalRead): Proven {
  const { from, by: to, key, operation } = read;
  return { step: { from, to, why: { rule: 'wr', read } }, edge: { from, to, relation: 'wr', key, operation } };
}

function provenEdge(problem: OrderProblem, contradiction: StrongProblem, e: number): Proven {
  const { nodes, versions, edges } = contradiction;
  const [fromNode, toNode, why, cause] = edges.at(e);
  const [from, to] = [transactionAt(nodes, fromNode), transactionAt(nodes, toNode)];
  const readAt = (i: number): ExternalRead => externalRead(problem, versions.readOf[i]);
  /** The write that was read is before that of `to`, so the reader is. */
  const hidden = (read: ExternalRead): Proven => ({
    step: { from, to, why: { rule: 'hidden', read, writer: to } },
    edge: { from, to, relation: 'rw', key: read.key, operation: read.operation },
  });
  switch (why) {
    case rule.writeRead:
      return writeRead(externalRead(problem, cause));
    case rule.initialRead:
      return hidden(
        readAt(readBy(contradiction, fromNode, (i) => versions.readVersion[i] < 0 && versions.readKey[i] === cause)),
      );
    case rule.antiDependency:
      return hidden(readAt(readBy(contradiction, fromNode, (i) => versions.readVersion[i] === cause)));
    case rule.overwritten: {
      const read = readAt(cause);
      const step: Step = { from, to, why: { rule: 'axiom', read, writer: from } };
      return { step, edge: { from, to, relation: 'ww', key: read.key } };
    }
    default:
      return sessionOrder(from, to);
  }
}

/** The first read of a member with this property: a rule gave an edge from its reader. */
function readBy({ versions }: StrongProblem, member: number, has: (read: number) => boolean): number {
  for (let i = versions.readStart[member]; i < versions.readStart[member + 1]; i += 1) if (has(i)) return i;
  throw new AssertionFailure(`member ${member} has the read that an edge from it is about`);
}

/** Up to the first step that closes a cycle, and that cycle. */
function closed(proven: readonly Proven[], limit: TimeLimit): CycleProof | null {
  const after = new Map<TransactionIndex, Proven[]>();
  for (const [i, last] of proven.entries()) {
    limit.check();
    const { from, to } = last.step;
    const way = wayBetween(after, to, from);
    if (way !== null) {
      const cycle = [last, ...way];
      const steps = proven.slice(0, i + 1).map(({ step }) => step);
      return {
        cycle: cycle.map(({ edge }) => edge),
        refutation: { steps, end: { kind: 'cycle', cycle: cycle.map(({ step }) => step) } },
      };
    }
    after.set(from, [...(after.get(from) ?? []), last]);
  }
  return null;
}

/** A shortest one, breadth first. */
function wayBetween(
  after: ReadonlyMap<TransactionIndex, readonly Proven[]>,
  from: TransactionIndex,
  to: TransactionIndex,
): Proven[] | null {
  const cameBy = new Map<TransactionIndex, Proven>();
  const queue = [from];
  for (const t of queue) {
    for (const next of after.get(t) ?? []) {
      const reached = next.step.to;
      if (cameBy.has(reached) || reached === from) continue;
      cameBy.set(reached, next);
      if (reached === to) return wayBack(cameBy, from, to);
      queue.push(reached);
    }
  }
  return null;
}

function wayBack(
  cameBy: ReadonlyMap<TransactionIndex, Proven>,
  from: TransactionIndex,
  to: TransactionIndex,
): Proven[] {
  const way: Proven[] = [];
  for (let t = to; t !== from; ) {
    const step = cameBy.get(t);
    assert(step !== undefined, 'each transaction that was reached has a step before it');
    way.unshift(step);
    t = step.step.from;
  }
  return way;
}
