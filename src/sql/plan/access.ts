/**
 * How to get at the rows of one table: from the conditions that compare its columns with what is known before a row is read, the index
 * with the longest prefix of equalities, then a range on the column after it. Conditions are evaluated again on what it finds.
 */
import type { Index, Table } from '../catalog/relation.ts';
import {
  comparatorOf,
  type Dialect,
  engineRules,
  isSameType,
  type AccessPath,
  type PathBound,
  type SqlType,
  type SqlArray,
  type SqlValue,
} from '../model/index.ts';
import type { Expression, Frame } from '../expression.ts';
import { boundConversion, type ConvertBound } from './bound.ts';
import type { Comparison, ComparisonKind, Conjunct } from './conjunct.ts';
import { impliesPredicate } from './implied-predicate.ts';
import type { PlanStep } from './plan-step.ts';
import { treeText } from './tree.ts';

export interface Access {
  /** The scans whose rows together are a superset of those wanted; no row comes twice. */
  readonly paths: (frame: Frame) => readonly AccessPath[];
  /** At most one row: a whole unique key. */
  readonly isPoint: boolean;
  /** One scan at most, of one range: no list of values. */
  readonly isOneRange: boolean;
  readonly equalities: number;
  /** How many of the index's first columns have one value. */
  readonly constants: number;
  /** Of those, how many from the first on are compared with a value, not by IS NULL. */
  readonly values: number;
  /** `id =, range`: for EXPLAIN. */
  readonly condition: string;
  readonly index: Index;
  /** The column of another row whose value is the whole key, as it is stored; `null`: the key is something else. */
  readonly keyColumn: ColumnPlace | null;
}

type ColumnPlace = NonNullable<Expression['column']>;

/** `undefined`: no value of the column equals it. */
type ValueOf = (frame: Frame) => SqlValue | undefined;

/** Values of one index column: one, or a list of which each is tried. */
interface PrefixPart {
  /** IS NULL: a unique index may have any number of them. */
  readonly isNull: boolean;
  /** `null`: it is a list. */
  readonly valueOf: ValueOf | null;
  readonly valuesOf: (frame: Frame) => SqlValue[];
  readonly compare: (a: SqlValue, b: SqlValue) => number;
  readonly column: ColumnPlace | null;
}

interface Bound {
  readonly isInclusive: boolean;
  readonly valueOf: ValueOf;
  /** Of the columns behind, as far as the elements of a row are compared with columns of the index in its order. */
  readonly behind: readonly ValueOf[];
}

const pointsMax = 100_000;
const nothing: readonly AccessPath[] = [];
export const wholeTable: readonly AccessPath[] = [{ kind: 'all' }];

/**
 * The ways to the rows, the one with the most equalities first; `null`: all rows of the table. A server chooses by statistics: PostgreSQL reads a
 * small table whole though it has the key, InnoDB looks up a whole unique key always. The values of `IN (SELECT ...)` open the last ways.
 * @param isKnown the rows of the frame that are there before this table is read
 */
export function accessWays(
  table: Table,
  row: number,
  conjuncts: readonly Conjunct[],
  isKnown: (row: number) => boolean,
  dialect: Dialect,
): readonly (Access | null)[] {
  const usable = conjuncts
    .flatMap(({ comparisons }) => comparisons)
    .filter((each) => each.row === row && [...each.uses].every(isKnown));
  const indexes = table.indexes.filter((index) => impliesPredicate(index, conjuncts, row));
  if (usable.length === 0) return [null, ...waysByWholeIndexes(indexes, usable, dialect)];
  const plain = usable.filter(({ kind }) => kind !== 'member');
  const found = indexes
    .flatMap((index) => accessBy(index, plain, dialect) ?? [])
    .toSorted((a, b) => b.score - a.score)
    .map(({ access }) => access);
  const [best] = found;
  if (best?.isPoint === true && engineRules[dialect].looksUpUniqueKeys) return [best];
  const others = indexes.filter((index) => !found.some((access) => access.index === index));
  const whole = waysByWholeIndexes(others, plain, dialect);
  return [...found, null, ...whole, ...waysByMembers(indexes, plain, usable, dialect)];
}

/** Indexes of which a condition concerns a column that is not the first, and partial indexes: no entry is passed over, but not every row is read. */
function waysByWholeIndexes(indexes: readonly Index[], usable: readonly Comparison[], dialect: Dialect): Access[] {
  if (!engineRules[dialect].filtersWholeIndexes) return [];
  const isOfUse = ({ predicate, parts }: Index): boolean =>
    predicate !== null || parts.some((part) => usable.some((comparison) => concerns(comparison, part)));
  return indexes
    .filter(isOfUse)
    .map((index) => ({ ...wholeIndex(index), paths: filteredEntries(index, usable, dialect) }));
}

/** All entries of an index. */
export function wholeIndex(index: Index): Access {
  const paths: readonly AccessPath[] = [{ kind: 'index', index: index.id, prefix: [], isDescending: false }];
  return {
    paths: () => paths,
    isPoint: false,
    isOneRange: true,
    equalities: 0,
    constants: 0,
    values: 0,
    condition: '',
    index,
    keyColumn: null,
  };
}

/** All entries of an index but those whose key fails an equality of a later column (`_bt_checkkeys` in nbtutils.c). */
function filteredEntries(index: Index, usable: readonly Comparison[], dialect: Dialect): Access['paths'] {
  const filters = index.parts.flatMap((part, at) => {
    const found = prefixPart(part, usable, dialect)?.part;
    return found === undefined ? [] : [{ at, ...found }];
  });
  const { paths } = wholeIndex(index);
  if (filters.length === 0) return paths;
  return (frame) => {
    const wanted = filters.map(({ at, valuesOf, compare }) => ({ at, values: valuesOf(frame), compare }));
    const accepts = (key: readonly SqlValue[]): boolean =>
      wanted.every(({ at, values, compare }) => values.some((value) => compare(value, key[at] ?? null) === 0));
    return paths(frame).map((path) => ({ ...path, accepts }));
  };
}

/** Those that the values of a subquery open, for a server that expects few of them. */
function waysByMembers(
  indexes: readonly Index[],
  plain: readonly Comparison[],
  usable: readonly Comparison[],
  dialect: Dialect,
): Access[] {
  if (plain.length === usable.length) return [];
  return indexes.flatMap((index) => {
    const own = accessBy(index, plain, dialect);
    const wider = accessBy(index, usable, dialect);
    return wider !== null && wider.access.equalities > (own?.access.equalities ?? 0) ? wider.access : [];
  });
}

function accessBy(
  index: Index,
  usable: readonly Comparison[],
  dialect: Dialect,
): { access: Access; score: number } | null {
  const prefix: PrefixPart[] = [];
  const words: string[] = [];
  for (const part of index.parts) {
    const found = prefixPart(part, usable, dialect);
    if (found === undefined) break;
    prefix.push(found.part);
    words.push(`${found.text} ${found.part.isNull ? 'is null' : found.part.valueOf === null ? 'in' : '='}`);
  }
  const from = boundOf(index, prefix.length, ['>', '>='], usable, dialect);
  const to = boundOf(index, prefix.length, ['<', '<='], usable, dialect);
  if (prefix.length === 0 && from === undefined && to === undefined) return null;
  if (from !== undefined || to !== undefined) words.push('range');
  const isWhole = prefix.length === index.parts.length;
  const firstList = prefix.findIndex(({ valueOf }) => valueOf === null);
  const firstOther = prefix.findIndex(({ valueOf, isNull }) => valueOf === null || isNull);
  const mayRepeat = prefix.some(({ isNull }) => isNull) && !index.nullsAreEqual;
  const isPoint = isWhole && index.isUnique && !mayRepeat && prefix.every(({ valueOf }) => valueOf !== null);
  const access: Access = {
    paths: pathsOf(index, prefix, from, to),
    isPoint,
    isOneRange: prefix.every(({ valueOf }) => valueOf !== null),
    equalities: prefix.length,
    constants: firstList < 0 ? prefix.length : firstList,
    values: firstOther < 0 ? prefix.length : firstOther,
    condition: words.join(', '),
    index,
    keyColumn: index.parts.length === 1 ? (prefix[0]?.column ?? null) : null,
  };
  const score =
    (isPoint ? 1000 : isWhole && index.isUnique && !mayRepeat ? 500 : 0) +
    prefix.length * 10 +
    (words.at(-1) === 'range' ? 5 : 0) +
    (index.isPrimary ? 1 : 0);
  return { access, score };
}

type Part = Index['parts'][number];

function prefixPart(
  part: Part,
  usable: readonly Comparison[],
  dialect: Dialect,
): { part: PrefixPart; text: string } | undefined {
  const candidates = usable.filter((each) => concerns(each, part));
  for (const kind of ['=', 'is null', 'in', 'any', 'member'] as const) {
    for (const each of candidates.filter((candidate) => candidate.kind === kind)) {
      const isList = kind === 'in' || kind === 'any' || kind === 'member';
      const valueOf = isList ? null : valueReader(each, part.type, dialect);
      const valuesOf = isList ? valuesReader(each, part.type, dialect) : valueOf === null ? null : listed(valueOf);
      if (valuesOf === null) continue;
      const compare = nullableComparator(part.type, dialect);
      const column = kind === '=' ? columnOf(each, part.type) : null;
      return { part: { isNull: kind === 'is null', valueOf, valuesOf, compare, column }, text: columnText(each) };
    }
  }
  return undefined;
}

function columnOf({ values: [value] }: Comparison, type: SqlType): ColumnPlace | null {
  return value?.column !== undefined && isSameType(value.type, type) ? value.column : null;
}

function concerns(comparison: Comparison, part: Part): boolean {
  return part.cell >= 0 ? comparison.cell === part.cell : comparison.text === treeText(part.expression);
}

/** `null`: the value cannot be looked up in the index. NULL equals nothing. */
function valueReader(comparison: Comparison, type: SqlType, dialect: Dialect): ValueOf | null {
  if (comparison.kind === 'is null') return () => null;
  const [value] = comparison.values;
  const convert = value === undefined ? null : boundConversion(type, value.type, dialect);
  if (value === undefined || convert === null) return null;
  const { evaluate } = value;
  return (frame) => {
    const found = evaluate(frame);
    return found === null ? undefined : convert(found);
  };
}

function listed(valueOf: ValueOf): PrefixPart['valuesOf'] {
  return (frame) => {
    const value = valueOf(frame);
    return value === undefined ? [] : [value];
  };
}

/** `null`: the values cannot be looked up in the index. NULL equals nothing and is left out. */
function valuesReader(comparison: Comparison, type: SqlType, dialect: Dialect): PrefixPart['valuesOf'] | null {
  if (comparison.kind === 'any' || comparison.kind === 'member') {
    const [array] = comparison.values;
    const element = array?.type.element;
    const convert = element === undefined ? null : boundConversion(type, element, dialect);
    if (array === undefined || convert === null) return null;
    return (frame) => {
      const value = array.evaluate(frame) as SqlArray | null;
      return value === null ? [] : value.elements.flatMap((each) => converted(each, convert));
    };
  }
  const conversions = comparison.values.map((value) => boundConversion(type, value.type, dialect));
  if (conversions.some((each) => each === null)) return null;
  return (frame) =>
    comparison.values.flatMap((value, i) => converted(value.evaluate(frame), conversions[i] as ConvertBound));
}

function converted(value: SqlValue, convert: ConvertBound): SqlValue[] {
  if (value === null) return [];
  const result = convert(value);
  return result === undefined ? [] : [result];
}

/** @param at the column of the index */
function boundOf(
  { parts }: Index,
  at: number,
  kinds: readonly ComparisonKind[],
  usable: readonly Comparison[],
  dialect: Dialect,
): Bound | undefined {
  const [part, ...others] = parts.slice(at);
  if (part === undefined) return undefined;
  for (const each of usable) {
    const valueOf = kinds.includes(each.kind) ? rangeValue(each, part, dialect) : null;
    if (valueOf === null) continue;
    // A scan that turns round at a column is bounded by those before it: `_bt_first` in nbtsearch.c.
    const turn = others.findIndex(({ isDescending }) => isDescending !== part.isDescending);
    const behind = behindOf(each, turn < 0 ? others : others.slice(0, turn), dialect);
    const last = behind.length < each.behind.length ? each : (each.behind.at(-1) ?? each);
    return { isInclusive: last.kind.length === 2, valueOf, behind };
  }
  return undefined;
}

function behindOf({ behind }: Comparison, parts: readonly Part[], dialect: Dialect): ValueOf[] {
  const found: ValueOf[] = [];
  for (const [i, each] of behind.entries()) {
    const part = parts[i];
    const valueOf = each === null || part === undefined ? null : rangeValue(each, part, dialect);
    if (valueOf === null) break;
    found.push(valueOf);
  }
  return found;
}

/** Its value is `null` where the column is compared with NULL, `undefined` where the type has no such bound. `null`: not a bound of this column. */
function rangeValue(comparison: Comparison, part: Part, dialect: Dialect): ValueOf | null {
  const [value] = comparison.values;
  if (!concerns(comparison, part) || value === undefined) return null;
  const convert = boundConversion(part.type, value.type, dialect);
  if (convert === null) return null;
  return (frame) => {
    const found = value.evaluate(frame);
    return found === null ? null : convert(found);
  };
}

/** `null`: compared with NULL, so no row at all. `undefined`: no bound. A value behind that cannot be one leaves those before it. */
function boundValue({ isInclusive, valueOf, behind }: Bound, frame: Frame): PathBound | null | undefined {
  const value = valueOf(frame);
  if (value === null || value === undefined) return value;
  if (behind.length === 0) return { value, isInclusive };
  const values: SqlValue[] = [];
  for (const each of behind) {
    const next = each(frame);
    if (next === null || next === undefined) return { value, behind: values, isInclusive: true };
    values.push(next);
  }
  return { value, behind: values, isInclusive };
}

function pathsOf(
  index: Index,
  prefix: readonly PrefixPart[],
  from: Bound | undefined,
  to: Bound | undefined,
): (frame: Frame) => readonly AccessPath[] {
  const single = prefix.flatMap(({ valueOf }) => valueOf ?? []);
  const isSingle = single.length === prefix.length;
  if (isSingle && from === undefined && to === undefined) return pointOf(index, single);
  return (frame) => {
    const low = from === undefined ? undefined : boundValue(from, frame);
    const high = to === undefined ? undefined : boundValue(to, frame);
    if (low === null || high === null) return nothing;
    const bounds: { from?: PathBound; to?: PathBound } = {};
    if (low !== undefined) bounds.from = low;
    if (high !== undefined) bounds.to = high;
    const points = isSingle ? singlePoint(single, frame) : manyPoints(prefix, frame);
    const isCut = (points[0]?.length ?? 0) < prefix.length;
    if (isCut) return points.map((values) => ({ kind: 'index', index: index.id, prefix: values, isDescending: false }));
    return points.map((values) => ({ kind: 'index', index: index.id, prefix: values, ...bounds, isDescending: false }));
  };
}

/** A join makes one of these paths for each row. */
function pointOf(index: Index, parts: readonly ValueOf[]): (frame: Frame) => readonly AccessPath[] {
  const [only, another] = parts;
  const { id } = index;
  if (only !== undefined && another === undefined)
    return (frame) => {
      const value = only(frame);
      return value === undefined ? nothing : [{ kind: 'index', index: id, prefix: [value], isDescending: false }];
    };
  return (frame) =>
    singlePoint(parts, frame).map((prefix) => ({ kind: 'index', index: id, prefix, isDescending: false }));
}

function singlePoint(parts: readonly ValueOf[], frame: Frame): SqlValue[][] {
  const point: SqlValue[] = [];
  for (const valueOf of parts) {
    const value = valueOf(frame);
    if (value === undefined) return [];
    point.push(value);
  }
  return [point];
}

/** Every combination, in order, each once. */
function manyPoints(prefix: readonly PrefixPart[], frame: Frame): SqlValue[][] {
  let points: SqlValue[][] = [[]];
  for (const { valuesOf, compare } of prefix) {
    const values = distinct(valuesOf(frame), compare);
    // Too many combinations: the shorter prefix finds the same rows, and more that are filtered out.
    if (points.length * values.length > pointsMax) break;
    points = points.flatMap((point) => values.map((value) => [...point, value]));
  }
  return points;
}

function distinct(values: SqlValue[], compare: (a: SqlValue, b: SqlValue) => number): SqlValue[] {
  if (values.length < 2) return values;
  const sorted = values.toSorted(compare);
  return sorted.filter((value, i) => i === 0 || compare(sorted[i - 1] as SqlValue, value) !== 0);
}

export function nullableComparator(type: SqlType, dialect: Dialect): (a: SqlValue, b: SqlValue) => number {
  const compare = comparatorOf(type, dialect);
  const { nullsAreSmallest } = engineRules[dialect];
  return (a, b) => {
    if (a === null || b === null) return a === b ? 0 : (a === null) === nullsAreSmallest ? -1 : 1;
    return compare(a, b);
  };
}

export function indexStep({ index: { name }, condition }: Access, relation: string): PlanStep {
  return { nodeType: 'Index Scan', relation, index: { name, condition } };
}

function columnText({ text, row }: Comparison): string {
  const names = [...text.matchAll(/"sval":"([^"]*)"/g)].map(([, name]) => name);
  return names.at(-1) ?? `row ${row}`;
}
