import type { Row, Waiting } from '../sql/storage.ts';

/** What the taker of a row says, which may itself have had to wait. */
export function* goesOn(answer: boolean | Waiting<boolean>): Waiting<boolean> {
  return typeof answer === 'boolean' ? answer : yield* answer;
}

/** Those that match, looked at one by one as they are asked for. */
export function* filtered<R extends Row>(rows: readonly R[], matches: (row: R) => boolean): Iterable<R> {
  for (const row of rows) if (matches(row)) yield row;
}
