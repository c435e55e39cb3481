import type { Waiting } from '../sql/storage.ts';

/** What the taker of a row says, which may itself have had to wait. */
export function* goesOn(answer: boolean | Waiting<boolean>): Waiting<boolean> {
  return typeof answer === 'boolean' ? answer : yield* answer;
}
