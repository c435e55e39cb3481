/**
 * MIN and MAX by an index: MariaDB reads one record at each end and locks no more (`opt_sum_query`). PostgreSQL does so where its statistics say
 * that it is cheaper, which for the small tables of tests they rarely do.
 */
import { type Index, primaryKey, type Table } from '../catalog/relation.ts';
import type { Aggregate } from '../expressions/index.ts';
import { engineRules, cell } from '../model/index.ts';
import { accessWays, type Access, wholeIndex } from './access.ts';
import type { Conjunct } from './conjunct.ts';
import type { FromList } from './join.ts';
import type { Planning } from './planning.ts';
import { rowCondition } from './row-condition.ts';
import { generated, rowsOf, type Source } from './cursor.ts';
import { tableSource } from './source.ts';

/** The rows with the least and greatest values that the aggregates want. `null`: all rows have to be read. */
export function indexEnds(
  { nodes, conjuncts }: FromList,
  aggregates: readonly Aggregate[],
  planning: Planning,
): Source | null {
  const [leaf, another] = nodes;
  if (!engineRules[planning.dialect].isClustered || another !== undefined || leaf?.kind !== 'leaf') return null;
  const { item } = leaf;
  const { table } = item;
  if (table === null || aggregates.length === 0) return null;
  const condition = rowCondition(item, conjuncts, planning);
  const ends: { readonly at: number; readonly source: Source }[] = [];
  for (const { extreme } of aggregates) {
    if (extreme === null || extreme.row !== item.row) return null;
    const access = accessTo(extreme.cell, table, item.row, conjuncts, planning);
    if (access === null) return null;
    const isDescending = extreme.isGreatest;
    const paths: Access['paths'] = (frame) =>
      access.paths(frame).map((path) => (path.kind === 'all' ? path : { ...path, isDescending }));
    ends.push({ at: extreme.cell, source: tableSource(table.id, item.row, paths, condition) });
  }
  return generated(function* firstOfEach(frame) {
    for (const { at, source } of ends)
      for (const _ of rowsOf(source, frame)) {
        const row = frame.rows[item.row];
        if (!row || cell(row, at) === null) continue;
        yield undefined;
        break;
      }
  });
}

/** The columns of InnoDB's records of an index: behind its own, those of the primary key. */
function orderOf({ parts }: Index, table: Table): number[] {
  return [...new Set([...parts, ...(primaryKey(table)?.parts ?? [])].map((part) => part.cell))];
}

/** An index that has the column in order behind columns with one value, and decides the whole condition. */
function accessTo(
  wanted: number,
  table: Table,
  row: number,
  conjuncts: readonly Conjunct[],
  { dialect }: Planning,
): Access | null {
  if (conjuncts.length === 0) {
    const index = table.indexes.find(({ parts, predicate }) => predicate === null && parts[0]?.cell === wanted);
    return index === undefined ? null : wholeIndex(index);
  }
  const isFit = (access: Access | null): boolean => {
    if (access === null || !access.isOneRange) return false;
    const { index, equalities } = access;
    const decided = new Set(index.parts.slice(0, equalities + 1).map((part) => part.cell));
    const isDecided = ({ comparisons }: Conjunct): boolean =>
      comparisons.some((each) => each.row === row && decided.has(each.cell));
    return orderOf(index, table)[equalities] === wanted && conjuncts.every(isDecided);
  };
  return accessWays(table, row, conjuncts, () => false, dialect).find(isFit) ?? null;
}
