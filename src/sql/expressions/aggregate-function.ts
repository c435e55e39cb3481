import type { SqlType, SqlValue } from '../model/index.ts';

/** An aggregate with its argument types settled. */
export interface AggregateFunction {
  readonly type: SqlType;
  /** What the arguments have to be coerced to. */
  readonly argumentTypes: readonly SqlType[];
  readonly start: () => Accumulator;
  /** Does it count the rows in which no argument is NULL? */
  readonly isCount?: boolean;
}

/** One group's. `add` is called with every row, NULLs too. */
export interface Accumulator {
  add(values: readonly SqlValue[]): void;
  finish(): SqlValue;
  /** Of aggregates that collect: what they will make weighs at least so much. */
  heldBytes?(): number;
}

export function aggregate(
  type: SqlType,
  argumentTypes: readonly SqlType[],
  start: () => Accumulator,
): AggregateFunction {
  return { type, argumentTypes, start };
}
