/**
 * Interval traces as JSON Lines: an operation a line, with the times just before it was sent and just after its answer came.
 * Leopard (ICDE 2023), section IV.A; the format is ours:
 *
 *     {"moirai":"trace","version":1,"initial":{"x":0},"sessions":["a","b"]}            optional; as are its last two
 *     {"session":"a","transaction":"t1","op":"read","reads":[["x",0]],"start":1,"end":2}
 *     {"session":"a","transaction":"t1","op":"write","writes":[["accounts/7",{"balance":20}]],"start":3,"end":4}
 *     {"session":"a","transaction":"t1","op":"commit","start":5,"end":6}
 *
 * A recorder's header has `"marks":true`; then `{"moirai":"mark","time":T}` says that nothing that starts before T comes any more, the last
 * one has `"time":null`, and may have `"crc32"`, the sum of all bytes before its line (`end-sum.ts`).
 *
 * A write may say `"unknown":[["accounts/7",["n"]]]`: these columns of the row were written with values that the client does not know.
 *
 * and `"opaque":"writes"`, perhaps with `"tables":["orders"]`: it may have written any rows of these tables, or of all.
 * A value is a scalar, or a map of columns to values, which may name some of the row's columns only; null: there is no such row.
 */
import { assert } from '../base/index.ts';
import { canonicalText, copyValue, type Value } from '../history/index.ts';

/** What a line of a trace can be. */
export const operationKinds = [
  'begin',
  'read',
  'write',
  'commit',
  'abort',
  'savepoint',
  'rollback-to',
  'release',
  'end',
] as const;

/**
 * `rollback-to` undoes what was written since the savepoint, which stays; `release` forgets it. `end`: the session is over, nothing of
 * it will come any more.
 */
export type TraceOperationKind = (typeof operationKinds)[number];

/** The mode of a locking read. */
export type TraceLock = 'update' | 'share';

/** One value of a column; arrays and nested records as canonical text behind `jsonMark`. */
export type Scalar = string | number | boolean | null;

/** What a row holds: a scalar, some of its columns, or null where there is no row. */
export type RowImage = Scalar | ReadonlyMap<string, Scalar>;

/** A row by its key, with the columns that were read or written. */
export interface RowValue {
  readonly key: string;
  readonly image: RowImage;
}

/** How a condition of a statement compares a column. */
export const comparisons = ['=', '!=', '<', '<=', '>', '>='] as const;

/** One of `comparisons`. */
export type Comparison = (typeof comparisons)[number];

/** A condition on a column, for predicate reads: all of them hold for a row that the read should return. */
export interface Condition {
  readonly column: string;
  readonly comparison: Comparison;
  readonly value: Scalar;
}

/** All rows whose key begins with `table` and a slash, and for which every condition holds. */
export interface PredicateRead {
  readonly table: string;
  readonly where: readonly Condition[];
}

/** One operation of a client: what it read and wrote, and between which times it ran. */
export interface TraceOperation {
  readonly session: string;
  readonly transaction: string;
  readonly kind: TraceOperationKind;
  readonly reads: readonly RowValue[];
  readonly writes: readonly RowValue[];
  readonly predicates: readonly PredicateRead[];
  /** Tables of which it may have written any row, `*` for all: `"opaque":"writes","tables":["orders"]`. */
  readonly mayWrite?: readonly string[];
  /** It may have read more than it names, or other than by its key: `"opaque":"reads"`. */
  readonly mayReadMore?: true;
  /** Of a read: FOR UPDATE or FOR SHARE. */
  readonly lock: TraceLock | null;
  /** Of `savepoint`, `rollback-to` and `release`: the name; of several with one name the last that was set. */
  readonly savepoint?: string;
  /** The database answered with an error. */
  readonly failed: boolean;
  /** Integers of one clock, less the trace's base; `end` is Infinity where no answer came. */
  readonly start: number;
  readonly end: number;
}

export interface TraceHeader {
  /** What is added to the times of operations to have those of the file. */
  readonly base: bigint;
  readonly initial: ReadonlyMap<string, RowImage>;
  /** `null`: not declared, a session is known when its first line comes. */
  readonly sessions: readonly string[] | null;
  /** Marks follow: up to which time everything is there. A trace without its last mark was cut off. */
  readonly hasMarks: boolean;
  /** How far the clock of these times may be off from that of other traces, in their unit. */
  readonly clockError: number;
}

/** A line that is no operation: nothing that starts before `time` comes after it. Infinity: nothing comes any more. */
export interface TraceMark {
  readonly time: number;
  /** From here on the clock may be off by so much; `null`: as the header says. */
  readonly clockError: number | null;
}

export const emptyHeader: TraceHeader = {
  base: 0n,
  initial: new Map(),
  sessions: null,
  hasMarks: false,
  clockError: 0,
};

/** Before canonical text: no scalar of a client begins with it. */
const jsonMark = '\u0001';
/** In the place of a value: the column was written, with a value that is not known (`UPDATE t SET n = n + 1`). */
export const unknownMark = '\u0003';
/** Before the digits of an integer that a double cannot hold. */
export const integerMark = '\u0002';

/** @throws InputError `history/value` where it is nested deeper than 500 levels */
export function scalarOf(value: Value): Scalar {
  return typeof value === 'object' && value !== null ? jsonMark + canonicalText(copyValue(value)) : value;
}

export function imageOf(value: Value): RowImage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return scalarOf(value);
  return new Map(Object.entries(value).map(([column, part]: [string, Value]) => [column, scalarOf(part)]));
}

/** JSON text of an image. */
export function formatImage(image: RowImage): string {
  if (typeof image === 'object' && image !== null) {
    const known = [...image].filter(([, part]) => part !== unknownMark);
    return `{${known.map(([column, part]) => `${JSON.stringify(column)}:${formatScalar(part)}`).join(',')}}`;
  }
  return formatScalar(image);
}

/** JSON text of a scalar. */
export function formatScalar(scalar: Scalar): string {
  if (typeof scalar !== 'string') return JSON.stringify(scalar);
  if (scalar.startsWith(integerMark)) return scalar.slice(1);
  if (scalar.startsWith(jsonMark)) return scalar.slice(1).replaceAll(/"\\u0002(-?\d+)"/g, '$1');
  return JSON.stringify(scalar);
}

/** A time as it stood in the file. */
export function formatTime(time: number, base: bigint): string {
  if (time === Infinity) return 'null';
  assert(Number.isSafeInteger(time), `${time} is no time`);
  return base === 0n ? String(time) : String(base + BigInt(time));
}
