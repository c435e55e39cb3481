/** `= <> < <= > >=` for every type that has an order, and equality of records. */
import { comparatorOf, comparisons, isIdentity, type SqlValue } from '../model/index.ts';
import { typed } from './signature.ts';
import type { Signature, Typed } from './signature.ts';

type Present = Exclude<SqlValue, null>;

/** Pairs that PostgreSQL compares; int2 with int8 and the like come by implicit casts and have entries so that choosing is exact. */
const sameTypes =
  'bool int2 int4 int8 numeric float4 float8 text bpchar char name oid bytea date time timestamp timestamptz interval uuid jsonb anyarray anyenum record';
const integers = ['int2', 'int4', 'int8'];
const mixed: readonly (readonly [string, string])[] = [
  ...integers.flatMap((a) => integers.filter((b) => b !== a).map((b) => [a, b] as const)),
  ['float4', 'float8'],
  ['float8', 'float4'],
  ['date', 'timestamp'],
  ['timestamp', 'date'],
  ['date', 'timestamptz'],
  ['timestamptz', 'date'],
  ['timestamp', 'timestamptz'],
  ['timestamptz', 'timestamp'],
  ['name', 'text'],
  ['text', 'name'],
];

const table: Record<string, Typed> = {};
for (const [operator, holds] of Object.entries(comparisons)) {
  for (const name of sameTypes.split(' ')) {
    table[`${operator}(${name}, ${name}) bool`] = ({ types: [type], dialect }) => {
      if (type === undefined) throw new TypeError('a comparison has two operands');
      if (isIdentity(type, dialect)) {
        if (operator === '=') return (a: Present, b: Present) => a === b;
        if (operator === '<>') return (a: Present, b: Present) => a !== b;
      }
      const compare = comparatorOf(type, dialect);
      return (a: Present, b: Present) => holds(compare(a, b));
    };
  }
  for (const [a, b] of mixed) table[`${operator}(${a}, ${b}) bool`] = () => mixedComparison(a, b, holds);
}

// Numbers of transactions are equal or not; they have no order. An integer is taken by its bits: xideqint4().
for (const other of ['xid', 'int4']) {
  table[`=(xid, ${other}) bool`] = () => (a: number, b: number) => a === b >>> 0;
  table[`<>(xid, ${other}) bool`] = () => (a: number, b: number) => a !== b >>> 0;
}

const microsecondsPerDay = 86_400_000_000n;

/** Integers compare across number and bigint as JavaScript does it; a date is its midnight (UTC). */
function mixedComparison(a: string, b: string, holds: (order: number) => boolean): (x: never, y: never) => boolean {
  const widen = (name: string): ((value: number | bigint) => number | bigint) =>
    name === 'date'
      ? (value) => (Number.isFinite(value) ? BigInt(value) * microsecondsPerDay : value)
      : (value) => value;
  const [left, right] = [widen(a), widen(b)];
  return (x: number | bigint, y: number | bigint) => {
    const [first, second] = [left(x), right(y)];
    if (Number.isNaN(first)) return holds(Number.isNaN(second) ? 0 : 1);
    return holds(Number.isNaN(second) ? -1 : first < second ? -1 : first > second ? 1 : 0);
  };
}

export const comparisonOperators: readonly Signature[] = typed(table);
