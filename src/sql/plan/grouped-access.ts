/**
 * GROUP BY and DISTINCT by the first columns of an index: MariaDB reads that index whole rather than sort, where no condition chooses another
 * (`test_if_skip_sort_order` in sql_select.cc), and locks its records and gaps.
 */
import { engineRules } from '../model/index.ts';
import type { Expression } from '../expression.ts';
import type { Index } from '../catalog/relation.ts';
import { accessWays, type Access, wholeIndex } from './access.ts';
import { shortestWith } from './covering-index.ts';
import type { Source } from './cursor.ts';
import type { FromList } from './join.ts';
import type { Planning } from './planning.ts';
import { rowCondition } from './row-condition.ts';
import { tableSource } from './source.ts';

/** The rows of FROM's only table, a group behind the other. `null`: they come as the conditions say. */
export function groupedSource(
  { nodes, conjuncts }: FromList,
  keys: readonly Expression[],
  planning: Planning,
): Source | null {
  const [leaf, another] = nodes;
  if (!engineRules[planning.dialect].isClustered || another !== undefined || leaf?.kind !== 'leaf') return null;
  const { item } = leaf;
  const { table } = item;
  if (table === null || keys.length === 0) return null;
  const { row } = item;
  const isKey = (key: Expression | undefined, cell: number): boolean =>
    key?.column?.row === row && key.column.cell === cell;
  const isGrouped = ({ predicate, parts }: Index): boolean =>
    predicate === null && keys.every((key, i) => isKey(key, parts[i]?.cell ?? -1));
  const index = table.indexes.find(isGrouped);
  const [best] = accessWays(table, row, conjuncts, () => false, planning.dialect);
  if (index === undefined || best !== null) return null;
  const whole = wholeIndex(index);
  // Which columns the statement reads is known when it runs.
  const paths: Access['paths'] = (frame) => (shortestWith(item.cellsRead, table) ?? whole).paths(frame);
  return tableSource(table.id, row, paths, rowCondition(item, conjuncts, planning));
}
