/** A history as a graph: every transaction with its operations, which read saw which write, and the cycle that shows what is wrong. */
import type { History, Operation } from '../history/index.ts';
import { exampleOf, weakestViolation } from '../isolation/index.ts';
import type { CycleDrawing } from './cycle-drawing.ts';
import { truncate } from './display-text.ts';

type Edge = CycleDrawing['edges'][number];

/** @param abortedReads as for `weakestViolation` */
export function drawHistory(history: History, title: string, abortedReads: 'constrained' | 'ignored'): CycleDrawing {
  const ids = history.transactions.map(({ id }) => id);
  const violation = weakestViolation(history, { abortedReads });
  const cycle = violation === null ? [] : exampleOf(violation.verdict).cycle;
  const all: Edge[] = [
    ...readsOf(history, ids),
    ...cycle.map(({ from, to, relation, key = null }) => ({
      from: ids[from] ?? INITIAL_ID,
      to: ids[to] ?? INITIAL_ID,
      relation,
      key,
    })),
  ];
  const edges = [...new Map(all.map((edge) => [Object.values(edge).join('\0'), edge])).values()];
  const usesInitial = edges.some(({ from, to }) => from === INITIAL_ID || to === INITIAL_ID);
  return {
    title,
    nodes: [
      ...(usesInitial ? [{ id: INITIAL_ID, lines: [INITIAL_ID] }] : []),
      ...history.transactions.map(({ id, status, operations }) => ({
        id,
        lines: [`${id} ${status}`, ...operations.map(operationLine)],
      })),
    ],
    edges,
  };
}

/** Reads of another transaction's writes. */
function readsOf({ transactions }: History, ids: readonly string[]): Edge[] {
  return transactions.flatMap(({ id, operations }) =>
    operations.flatMap((operation) => {
      if (operation.kind !== 'read' || operation.from === undefined) return [];
      const from = ids[operation.from];
      return from === undefined || from === id ? [] : [{ from, to: id, relation: 'wr', key: operation.key }];
    }),
  );
}

const INITIAL_ID = 'initial state';

function operationLine({ kind, key, value }: Operation): string {
  return truncate(`${kind} ${key} = ${JSON.stringify(value)}`, 60);
}
