/**
 * MIN and MAX by an index: MariaDB reads one record at each end and locks no more (`opt_sum_query`). PostgreSQL does so where its statistics say
 * that it is cheaper, which for the small tables of tests they rarely do.
 */
import { columnAtCell, type Index, primaryKey, type Table } from '../catalog/relation.ts';
import type { Aggregate } from '../expressions/index.ts';
import { type AccessPath, engineRules } from '../model/index.ts';
import { accessWays, type Access, wholeIndex } from './access.ts';
import type { Conjunct } from './conjunct.ts';
import type { FromList } from './join.ts';
import type { Planning } from './planning.ts';
import { rowCondition } from './row-condition.ts';
import { generated, rowsOf, type Source } from './cursor.ts';
import { tableSource } from './source.ts';

/**
 * The rows that the aggregates want: those with the least and greatest values, where these are all. Where another aggregate needs every row, the ends
 * are read and locked before the others.
 * @param all every row that satisfies the conditions
 */
export function indexEnds(
  { nodes, conjuncts }: FromList,
  aggregates: readonly Aggregate[],
  all: Source,
  planning: Planning,
): Source {
  const [leaf, another] = nodes;
  if (!engineRules[planning.dialect].isClustered || another !== undefined || leaf?.kind !== 'leaf') return all;
  const { item } = leaf;
  const { table } = item;
  if (table === null) return all;
  const condition = rowCondition(item, conjuncts, planning);
  const ends = aggregates.flatMap(({ extreme }): Source[] => {
    const access = extreme?.row === item.row ? accessTo(extreme.cell, table, item.row, conjuncts, planning) : null;
    if (extreme === null || access === null) return [];
    const searches = extreme.isGreatest ? [lastOf(access)] : firstOf(access, extreme.cell, table);
    return [inTurn(searches.map((paths) => tableSource(table.id, item.row, paths, condition)))];
  });
  if (ends.length === 0) return all;
  const areAll = ends.length === aggregates.length;
  return generated(function* endsFirst(frame) {
    for (const end of ends) {
      let isFound = false;
      for (const _ of rowsOf(end, frame)) {
        isFound = true;
        if (areAll) yield undefined;
        break;
      }
      // No row satisfies the condition: the server reads no more.
      if (!isFound) return;
    }
    if (!areAll) yield* rowsOf(all, frame);
  });
}

function inTurn(sources: readonly Source[]): Source {
  return generated(function* oneAfterTheOther(frame) {
    for (const source of sources) yield* rowsOf(source, frame);
  });
}

type Paths = Access['paths'];
type IndexPath = Extract<AccessPath, { kind: 'index' }>;

function lastOf({ paths }: Access): Paths {
  return eachOf(paths, (path) => ({ ...path, isDescending: true, readsEnd: true }));
}

/** NULL is no minimum where another value is there: the search begins behind the NULLs, and comes to one if it finds nothing. */
function firstOf({ paths, equalities, index }: Access, wanted: number, table: Table): Paths[] {
  const isEqual = index.parts.slice(0, equalities).some(({ cell }) => cell === wanted);
  const end = eachOf(paths, (path) => ({ ...path, readsEnd: true }));
  if (isEqual || columnAtCell(table, wanted)?.isNotNull === true) return [end];
  const behindNulls = { value: null, isInclusive: false };
  const isUnbounded = ({ from }: IndexPath): boolean => from === undefined;
  return [
    eachOf(end, (path) => ({ ...path, from: path.from ?? behindNulls })),
    (frame) =>
      paths(frame).flatMap((path) =>
        path.kind === 'index' && isUnbounded(path)
          ? { kind: 'index', index: path.index, prefix: [...path.prefix, null], isDescending: false }
          : [],
      ),
  ];
}

function eachOf(paths: Paths, change: (path: IndexPath) => AccessPath): Paths {
  return (frame) => paths(frame).map((path) => (path.kind === 'all' ? path : change(path)));
}

/** The columns of InnoDB's records of an index, as its optimizer sees them: behind its own, where it is not unique, those of the primary key. */
function orderOf({ parts, isUnique }: Index, table: Table): number[] {
  const behind = isUnique ? [] : (primaryKey(table)?.parts ?? []);
  return [...new Set([...parts, ...behind].map(({ cell }) => cell))];
}

/** An index that has the column in ascending order behind columns with one value, or as the last of these, and decides the whole condition. */
function accessTo(
  wanted: number,
  table: Table,
  row: number,
  conjuncts: readonly Conjunct[],
  { dialect }: Planning,
): Access | null {
  if (conjuncts.length === 0) {
    const isOrdered = ({ predicate, parts: [first] }: Index): boolean =>
      predicate === null && first?.cell === wanted && !first.isDescending;
    const index = table.indexes.find(isOrdered);
    return index === undefined ? null : wholeIndex(index);
  }
  const isFit = (access: Access | null): boolean => {
    if (access === null || !access.isOneRange) return false;
    const { index, equalities } = access;
    const place = orderOf(index, table).indexOf(wanted);
    if (place < 0 || (place !== equalities && place !== equalities - 1)) return false;
    const parts = index.parts.slice(0, place + 1);
    if (parts.some(({ isDescending }) => isDescending)) return false;
    const decided = new Set(parts.map((part) => part.cell));
    const isDecided = ({ comparisons }: Conjunct): boolean =>
      comparisons.some((each) => each.row === row && decided.has(each.cell));
    return conjuncts.every(isDecided);
  };
  return accessWays(table, row, conjuncts, () => false, dialect).find(isFit) ?? null;
}
