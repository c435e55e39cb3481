/**
 * The order of values, and keys for equality. PostgreSQL: text by code point (collation C), NaN above all numbers. MySQL: text without
 * regard to case or trailing spaces, which is what utf8mb4_general_ci does with most of it.
 */
import type { Dialect } from './dialect.ts';
import { compareNumerics } from './numeric.ts';
import type { SqlType, TypeName } from './type.ts';
import { intervalLength } from './value-interval.ts';
import { formatJsonDocument, isJsonNumeric, isJsonObject, numericOfJson, sortedKeys } from './value-json.ts';
import type { SqlValue, TypeValues } from './value.ts';

type Present = Exclude<SqlValue, null>;
export type Comparator = (a: Present, b: Present) => number;

/** The comparison operators that every ordered type has, as tests of what a comparator gives. */
export const comparisons: Readonly<Record<ComparisonOperator, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};
export type ComparisonOperator = '=' | '<>' | '<' | '<=' | '>' | '>=';

export function isComparison(operator: string): operator is ComparisonOperator {
  return Object.hasOwn(comparisons, operator);
}

/** Negative, zero or positive for two values of the type that are not null. Inside arrays NULLs are equal and last. */
export function comparatorOf(type: SqlType, dialect: Dialect): Comparator {
  return comparators[type.name](type, dialect) as Comparator;
}

type Compare<Value> = (a: Value, b: Value) => number;
type Comparators = {
  readonly [Name in TypeName]: (type: SqlType, dialect: Dialect) => Compare<TypeValues[Name]>;
};

const asNumbers = (): Compare<number> => subtract;
const asFloats = (): Compare<number> => compareFloats;
const asBigints = (): Compare<bigint> => compareBigints;
const asScalars = (): Compare<number> => compareScalars;
const asTexts = (_type: SqlType, dialect: Dialect): Compare<string> => textRules[dialect].compare;
const asPlainTexts = (): Compare<string> => compareText;
const asCodes = (): Compare<string> => compareScalars;

const comparators: Comparators = {
  bool: () => compareScalars,
  int2: asNumbers,
  int4: asNumbers,
  int8: asBigints,
  uint8: asBigints,
  numeric: () => compareNumerics,
  float4: asFloats,
  float8: asFloats,
  text: asTexts,
  varchar: asTexts,
  unknown: asTexts,
  bpchar: (_type, dialect) => textRules[dialect].comparePadded,
  char: asPlainTexts,
  name: asPlainTexts,
  json: asPlainTexts,
  uuid: asCodes,
  regclass: asCodes,
  regtype: asCodes,
  regnamespace: asCodes,
  regrole: asCodes,
  oid: asScalars,
  xid: asScalars,
  date: asScalars,
  time: asBigints,
  timestamp: asBigints,
  timestamptz: asBigints,
  bytea: () => (a, b) => Buffer.compare(a, b),
  interval: () => (a, b) => compareScalars(intervalLength(a), intervalLength(b)),
  jsonb: () => (a, b) => compareJson(a.value, b.value),
  enum: ({ labels }) => {
    const ranks = new Map(labels?.map((label, i) => [label, i]));
    return (a, b) => (ranks.get(a) ?? -1) - (ranks.get(b) ?? -1);
  },
  array: (type, dialect) => {
    const compare = comparatorOf(type.element ?? type, dialect);
    return (a, b) => compareArrays(a.elements, b.elements, compare);
  },
  record: (type, dialect) => (a, b) => compareRecords(a.elements, b.elements, type, dialect),
  void: () => () => 0,
};

function subtract(a: number, b: number): number {
  return a - b;
}

/** Apart from other scalars: a function that compares bigints only is compiled for them. */
function compareBigints(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareScalars<T extends number | bigint | string | boolean>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareFloats(a: number, b: number): number {
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  return Number.isNaN(b) ? -1 : compareScalars(a, b);
}

const comparePadded = (a: string, b: string): number => compareText(trimEnd(a), trimEnd(b));
const compareFolded = (a: string, b: string): number => compareText(foldText(a), foldText(b));

interface TextRules {
  readonly compare: Compare<string>;
  /** Of char(n). */
  readonly comparePadded: Compare<string>;
  /** The same for equal texts. */
  readonly keyOf: (text: string) => string;
  readonly keyOfPadded: (text: string) => string;
  /** Are equal texts of varchar the same text? */
  readonly isIdentity: boolean;
}

const textRules: Readonly<Record<Dialect, TextRules>> = {
  postgres: {
    compare: compareText,
    comparePadded,
    keyOf: (text) => text,
    keyOfPadded: trimEnd,
    isIdentity: true,
  },
  mysql: {
    compare: compareFolded,
    comparePadded: compareFolded,
    keyOf: foldText,
    keyOfPadded: foldText,
    isIdentity: false,
  },
};

/** By code point. JavaScript compares UTF-16 units, which puts U+E000..U+FFFF above the surrogates. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const first = a.charCodeAt(i);
    const second = b.charCodeAt(i);
    if (first !== second) return rank(first) - rank(second);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}

function trimEnd(text: string): string {
  return text.replace(/ +$/, '');
}

/** What MySQL's default collation compares: upper case, no trailing spaces, accents away. */
export function foldText(text: string): string {
  const folded = trimEnd(text).toUpperCase();
  // Only letters outside ASCII can have accents.
  // oxlint-disable-next-line no-control-regex -- the ASCII range
  return /[^\u0000-\u007f]/.test(folded) ? folded.normalize('NFD').replace(/\p{M}/gu, '') : folded;
}

function compareArrays(a: readonly SqlValue[], b: readonly SqlValue[], compare: Comparator): number {
  for (let i = 0; i < a.length && i < b.length; i += 1) {
    const [first = null, second = null] = [a[i], b[i]];
    if (first === null || second === null) {
      if (first !== second) return first === null ? 1 : -1;
      continue;
    }
    const order = compare(first, second);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareRecords(a: readonly SqlValue[], b: readonly SqlValue[], type: SqlType, dialect: Dialect): number {
  const fields = type.fields ?? [];
  return firstDifference(
    fields.map((field, i) => () => compareArrays([a[i] ?? null], [b[i] ?? null], comparatorOf(field.type, dialect))),
  );
}

/** Object > array > boolean > number > string > null; more members are greater. PostgreSQL manual, 8.14.4. */
export function compareJson(a: unknown, b: unknown): number {
  const order = jsonRank(a) - jsonRank(b);
  if (order !== 0) return order;
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) return a.length - b.length;
    return firstDifference(a.map((each, i) => () => compareJson(each, b[i])));
  }
  if (isJsonObject(a) && isJsonObject(b)) return compareObjects(a, b);
  if (jsonRank(a) === 2) return compareNumerics(numericOfJson(a as number), numericOfJson(b as number));
  if (typeof a === 'string') return compareText(a, b as string);
  return compareScalars(a as boolean, b as boolean);
}

function jsonRank(value: unknown): number {
  if (value === null) return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'number' || isJsonNumeric(value)) return 2;
  if (typeof value === 'boolean') return 3;
  // An empty array is below everything: a known oddity, kept for compatibility.
  if (Array.isArray(value)) return value.length === 0 ? -1 : 4;
  return 5;
}

function compareObjects(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): number {
  const [first, second] = [sortedKeys(a), sortedKeys(b)];
  if (first.length !== second.length) return first.length - second.length;
  return firstDifference(
    first.flatMap((key, i) => {
      const other = second[i] ?? '';
      return [() => compareText(key, other), () => compareJson(a[key], b[other])];
    }),
  );
}

function firstDifference(compares: readonly (() => number)[]): number {
  for (const compare of compares) {
    const order = compare();
    if (order !== 0) return order;
  }
  return 0;
}

/**
 * A key that is the same for equal values of a type and different for others; null has its own. For grouping, DISTINCT and hash joins.
 * Both sides of a join must have the same type.
 */
export function keyText(value: SqlValue, type: SqlType, dialect: Dialect): string {
  switch (typeof value) {
    case 'string':
      return `v${keyOfText(value, type.name, dialect)}`;
    case 'object':
      return value === null ? 'n' : `v${keyOfObject(value, type, dialect)}`;
    default:
      return `v${value.toString()}`;
  }
}

function keyOfText(text: string, type: TypeName, dialect: Dialect): string {
  switch (type) {
    case 'text':
    case 'varchar':
    case 'unknown':
      return textRules[dialect].keyOf(text);
    case 'bpchar':
      return textRules[dialect].keyOfPadded(text);
    default:
      return text;
  }
}

function keyOfObject(value: Extract<SqlValue, object>, type: SqlType, dialect: Dialect): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  switch (value.kind) {
    case 'numeric':
      return value.value.toString();
    case 'interval':
      return intervalLength(value).toString();
    case 'json':
      return formatJsonDocument(canonicalJson(value.value));
    case 'array': {
      const { element = type, fields } = type;
      const parts = value.elements.map((each, i) => keyText(each, fields?.[i]?.type ?? element, dialect));
      return parts.map((key) => `${key.length}:${key}`).join('');
    }
  }
}

/** Are equal values of the type the same value to JavaScript? */
export function isIdentity({ name }: SqlType, dialect: Dialect): boolean {
  return scalars.has(name) || (textRules[dialect].isIdentity && (name === 'text' || name === 'varchar'));
}

const scalars: ReadonlySet<TypeName> = new Set<TypeName>([
  'bool',
  'int2',
  'int4',
  'int8',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'uuid',
]);

/** Numbers of jsonb are equal whatever their scale. */
function canonicalJson(value: unknown): unknown {
  if (isJsonNumeric(value))
    return { kind: 'numeric', value: value.value, scale: Math.max(0, value.value.decimalPlaces()) };
  if (Array.isArray(value)) return value.map(canonicalJson);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, canonicalJson(each)]));
}
