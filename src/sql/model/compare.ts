/**
 * The order of values, and keys for equality. PostgreSQL: text by code point (collation C), NaN above all numbers. MySQL: text without
 * regard to case or trailing spaces, which is what utf8mb4_general_ci does with most of it.
 */
import type { Dialect } from './dialect.ts';
import { compareNumerics } from './numeric.ts';
import type { Numeric } from './numeric.ts';
import type { SqlType, TypeName } from './type.ts';
import { intervalLength } from './value-interval.ts';
import { formatJsonDocument, isJsonNumeric, isJsonObject, numericOfJson, sortedKeys } from './value-json.ts';
import type { Interval, JsonDocument, SqlArray, SqlValue } from './value.ts';

type Present = Exclude<SqlValue, null>;
export type Comparator = (a: Present, b: Present) => number;

/** Negative, zero or positive for two values of the type that are not null. Inside arrays NULLs are equal and last. */
export function comparatorOf(type: SqlType, dialect: Dialect): Comparator {
  switch (type.name) {
    case 'numeric':
      return (a, b) => compareNumerics(a as Numeric, b as Numeric);
    case 'int2':
    case 'int4':
      return (a, b) => (a as number) - (b as number);
    case 'float4':
    case 'float8':
      return (a, b) => compareFloats(a as number, b as number);
    case 'text':
    case 'varchar':
    case 'unknown':
      return textRules[dialect].compare;
    case 'bpchar':
      return textRules[dialect].comparePadded;
    case 'name':
    case 'json':
    case 'char':
      return compareTextValues;
    case 'bytea':
      return (a, b) => Buffer.compare(a as Uint8Array, b as Uint8Array);
    case 'interval':
      return (a, b) => compareScalars(intervalLength(a as Interval), intervalLength(b as Interval));
    case 'jsonb':
      return (a, b) => compareJson((a as JsonDocument).value, (b as JsonDocument).value);
    case 'enum': {
      const ranks = new Map(type.labels?.map((label, i) => [label, i]));
      return (a, b) => (ranks.get(a as string) ?? -1) - (ranks.get(b as string) ?? -1);
    }
    case 'array': {
      const compare = comparatorOf(type.element ?? type, dialect);
      return (a, b) => compareArrays((a as SqlArray).elements, (b as SqlArray).elements, compare);
    }
    case 'record':
      return (a, b) => compareRecords((a as SqlArray).elements, (b as SqlArray).elements, type, dialect);
    default:
      return (a, b) => compareScalars(a as number, b as number);
  }
}

function compareScalars<T extends number | bigint | string | boolean>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareFloats(a: number, b: number): number {
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  return Number.isNaN(b) ? -1 : compareScalars(a, b);
}

const compareTextValues: Comparator = (a, b) => compareText(a as string, b as string);
const comparePadded: Comparator = (a, b) => compareText(trimEnd(a as string), trimEnd(b as string));
const compareFolded: Comparator = (a, b) => compareText(foldText(a as string), foldText(b as string));

interface TextRules {
  readonly compare: Comparator;
  /** Of char(n). */
  readonly comparePadded: Comparator;
  /** The same for equal texts. */
  readonly keyOf: (text: string) => string;
  readonly keyOfPadded: (text: string) => string;
  /** Are equal texts of varchar the same text? */
  readonly isIdentity: boolean;
}

const textRules: Readonly<Record<Dialect, TextRules>> = {
  postgres: {
    compare: compareTextValues,
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

function firstDifference(comparisons: readonly (() => number)[]): number {
  for (const compare of comparisons) {
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
  if (value === null) return 'n';
  switch (type.name) {
    case 'numeric':
      return `v${(value as Numeric).value.toString()}`;
    case 'float4':
    case 'float8':
      return `v${String((value as number) + 0 === 0 ? 0 : (value as number))}`;
    case 'text':
    case 'varchar':
    case 'unknown':
      return `v${textRules[dialect].keyOf(value as string)}`;
    case 'bpchar':
      return `v${textRules[dialect].keyOfPadded(value as string)}`;
    case 'bytea':
      return `v${Buffer.from(value as Uint8Array).toString('latin1')}`;
    case 'interval':
      return `v${intervalLength(value as Interval)}`;
    case 'jsonb':
      return `v${formatJsonDocument(canonicalJson((value as JsonDocument).value))}`;
    case 'array': {
      const keys = (value as SqlArray).elements.map((each) => keyText(each, type.element ?? type, dialect));
      return `v${keys.map((key) => `${key.length}:${key}`).join('')}`;
    }
    case 'record': {
      const fields = type.fields ?? [];
      const keys = (value as SqlArray).elements.map((each, i) => keyText(each, fields[i]?.type ?? type, dialect));
      return `v${keys.map((key) => `${key.length}:${key}`).join('')}`;
    }
    default:
      return `v${typeof value === 'string' ? value : (value as number).toString()}`;
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
