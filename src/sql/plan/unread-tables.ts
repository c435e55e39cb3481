/**
 * MariaDB leaves the inner side of a LEFT JOIN out where no other clause reads it and the join condition gives each of its tables a whole unique key:
 * it finds one row at most, and none is a row of NULLs that no clause sees. Such a table is neither read nor locked (`eliminate_tables` in
 * opt_table_elimination.cc). A join condition counts as a clause for the tables before it, also where its own table is left out.
 */
import { engineRules } from '../model/index.ts';
import { accessWays } from './access.ts';
import type { Conjunct } from './conjunct.ts';
import { type FromList, type FromNode, type Leaf, type OuterJoin, rowsOf } from './join.ts';
import type { Planning } from './planning.ts';

type Rows = ReadonlySet<number>;

/** @param read the rows that other clauses look at */
export function withoutUnreadTables(list: FromList, read: Rows, planning: Planning): FromList {
  return engineRules[planning.dialect].leavesUnreadTablesOut ? remaining(list, read, planning) : list;
}

function remaining({ nodes, conjuncts }: FromList, readElsewhere: Rows, planning: Planning): FromList {
  const read = new Set([...readElsewhere, ...readBy(conjuncts)]);
  const parts = nodes.map((node) => ofNode(node, read, planning));
  return {
    nodes: parts.flatMap((part) => part.nodes),
    conjuncts: [...conjuncts, ...parts.flatMap((part) => part.conjuncts)],
  };
}

function ofNode(node: FromNode, readElsewhere: Rows, planning: Planning): FromList {
  if (node.kind !== 'left') return { nodes: [node], conjuncts: [] };
  const read = new Set([...readElsewhere, ...readBy(node.on)]);
  const left = remaining(node.left, read, planning);
  const right = remaining(node.right, read, planning);
  const isUnread = node.right.nodes.flatMap(rowsOf).every((row) => !readElsewhere.has(row));
  return isUnread && hasOneRow(right, node, planning) ? left : { nodes: [{ ...node, left, right }], conjuncts: [] };
}

function readBy(conjuncts: readonly Conjunct[]): number[] {
  return conjuncts.flatMap(({ uses }) => [...uses]);
}

/** Do the conditions give a whole unique key of every table, one after the other? */
function hasOneRow({ nodes, conjuncts }: FromList, { on }: OuterJoin, { dialect }: Planning): boolean {
  const unknown = new Set(nodes.flatMap(rowsOf));
  const isKnown = (row: number): boolean => !unknown.has(row);
  const conditions = [...conjuncts, ...on];
  const isFound = ({ item: { table, row } }: Leaf): boolean =>
    table !== null && accessWays(table, row, conditions, isKnown, dialect)[0]?.isPoint === true;
  const leaves = nodes.filter((node): node is Leaf => node.kind === 'leaf');
  if (leaves.length < nodes.length) return false;
  for (const _ of leaves) for (const leaf of leaves) if (isFound(leaf)) unknown.delete(leaf.item.row);
  return unknown.size === 0;
}
