import { expect, test } from 'vitest';
import { DependencyGraph } from './dependency-graph.ts';
import { stateCode, TransactionTable } from './transaction-table.ts';

/** Committed transactions in the order of their commits; `pruned` lists by name what the graph has given up. */
function graphOf(names: readonly string[]): {
  at: number[];
  table: TransactionTable;
  graph: DependencyGraph;
  pruned: string[];
} {
  const table = new TransactionTable();
  const pruned: string[] = [];
  const graph = new DependencyGraph(table, (transaction) => void pruned.push(table.name[transaction] as string));
  const at = names.map((name, session) => table.open(name, session, session));
  for (const transaction of at) graph.add(transaction);
  return { at, table, graph, pruned };
}

test('what is over stays in the graph while a transaction is before it: it can be on a cycle', () => {
  const { at, table, graph, pruned } = graphOf(['a', 'b']);
  const [a = 0, b = 0] = at;
  graph.connect(a, b, 'wr', 0);
  expect(graph.cycleBy(a, b)).toBeNull();
  table.state[b] = stateCode.retired;
  graph.prune(b);
  expect({ pruned, size: graph.size }).toEqual({ pruned: [], size: 2 });
  graph.connect(b, a, 'rw', 0);
  expect(graph.cycleBy(b, a)?.map(({ from, to }) => [from, to])).toEqual([
    [b, a],
    [a, b],
  ]);
});

test('it leaves the graph with the last transaction before it, once', () => {
  const { at, table, graph, pruned } = graphOf(['a', 'b', 'c']);
  const [a = 0, b = 0, c = 0] = at;
  for (const [from, to] of [
    [a, b],
    [b, c],
  ] as const)
    graph.connect(from, to, 'ww', 0);
  for (const transaction of [c, b, a]) {
    table.state[transaction] = stateCode.retired;
    graph.prune(transaction);
  }
  expect({ pruned, size: graph.size }).toEqual({ pruned: ['a', 'b', 'c'], size: 0 });
});
