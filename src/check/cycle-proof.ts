/**
 * A cycle of so, wr and forced edges proves by itself that there is no commit order: each edge follows from the history and the axiom of the
 * level alone. So a cycle that is too long for a part of the history is evidence as well.
 */
import { assert } from '../base/index.ts';
import type { ExternalRead } from '../history/index.ts';
import type { Edge, Step } from '../isolation/index.ts';
import type { OrderProblem } from './commit-order.ts';
import type { CommitEdge } from './cycle.ts';
import { readerOf } from './reads.ts';
import type { CycleProof } from './verdict.ts';

export function cycleProof(problem: OrderProblem, cycle: readonly CommitEdge[]): CycleProof {
  const readOf = (read: number): ExternalRead => externalRead(problem, read);
  const steps = cycle.map((edge): Step => {
    const { from, to, relation } = edge;
    if (relation === 'so') return { from, to, why: { rule: 'so' } };
    const read = readOf(edge.read);
    return relation === 'wr'
      ? { from, to, why: { rule: 'wr', read } }
      : { from, to, why: { rule: 'axiom', read, writer: from } };
  });
  const last = steps.at(-1);
  assert(last !== undefined, 'a cycle has an edge');
  return {
    cycle: cycle.map((edge) => namedEdge(edge, readOf)),
    refutation: { steps, end: { kind: 'cycle', cycle: [last, ...steps.slice(0, -1)] } },
  };
}

/** A forced edge says that the writes of two transactions to one key have this order. */
function namedEdge({ from, to, relation, read }: CommitEdge, readOf: (read: number) => ExternalRead): Edge {
  if (relation === 'so') return { from, to, relation };
  const { key, operation } = readOf(read);
  return relation === 'forced' ? { from, to, relation: 'ww', key } : { from, to, relation: 'wr', key, operation };
}

/** A read of `Reads`, in the transactions and operations of the history. */
export function externalRead({ history, reads }: OrderProblem, read: number): ExternalRead {
  const by = readerOf(history, reads, read);
  const operation = reads.readOperation[read];
  return {
    by,
    operation: operation - history.operationStart[by],
    key: history.names.key(reads.readKey[read]),
    from: reads.readFrom[read],
  };
}
