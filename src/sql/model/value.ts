/** Values of cells and expressions while statements run. */
import type { Numeric } from './numeric.ts';

/**
 * By type: boolean `boolean`; smallint, integer, real, double precision, year `number`; bigint (and MySQL's unsigned integers) `bigint`;
 * numeric `Numeric`; text, varchar, char, name, enums, uuid (lower case), json (its text) `string`; bytea and blobs `Uint8Array`;
 * date `number` of days since 1970-01-01; time, timestamp, timestamptz (UTC) `bigint` of microseconds since midnight or 1970-01-01;
 * interval `Interval`; jsonb `JsonDocument`; arrays `SqlArray`. The type is known statically and never stored with the value.
 */
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
