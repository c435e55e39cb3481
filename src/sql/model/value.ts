/** Values of cells and expressions while statements run. */
import type { Numeric } from './numeric.ts';

/** What values of a type are. The type is known statically and never stored with the value. */
export interface TypeValues {
  readonly bool: boolean;
  readonly int2: number;
  readonly int4: number;
  readonly int8: bigint;
  readonly uint8: bigint;
  readonly numeric: Numeric;
  readonly float4: number;
  readonly float8: number;
  readonly text: string;
  readonly varchar: string;
  readonly bpchar: string;
  readonly char: string;
  readonly name: string;
  readonly oid: number;
  readonly xid: number;
  readonly regclass: string;
  readonly regtype: string;
  readonly regnamespace: string;
  readonly regrole: string;
  readonly bytea: Uint8Array;
  /** Days since 1970-01-01. */
  readonly date: number;
  /** Microseconds since midnight. */
  readonly time: bigint;
  /** Microseconds since 1970-01-01, in UTC. */
  readonly timestamp: bigint;
  readonly timestamptz: bigint;
  readonly interval: Interval;
  /** In lower case. */
  readonly uuid: string;
  /** As it was written. */
  readonly json: string;
  readonly jsonb: JsonDocument;
  readonly array: SqlArray;
  readonly enum: string;
  readonly record: SqlArray;
  readonly unknown: string;
  readonly void: null;
}

/** A value of any type. */
export type SqlValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Numeric
  | Interval
  | JsonDocument
  | SqlArray;

export interface Interval {
  readonly kind: 'interval';
  readonly months: number;
  readonly days: number;
  readonly microseconds: bigint;
}

/** jsonb: a parsed document, so that its `null` and SQL's `null` cannot be mixed up. */
export interface JsonDocument {
  readonly kind: 'json';
  readonly value: unknown;
}

/** One-dimensional; elements in order. */
export interface SqlArray {
  readonly kind: 'array';
  readonly elements: readonly SqlValue[];
}
