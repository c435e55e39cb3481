import type { Waiting } from '../sql/model/index.ts';

/** Does the taker of a row want the next one? It may wait before it answers. */
export function* wantsMore(answer: boolean | Waiting<boolean>): Waiting<boolean> {
  return typeof answer === 'boolean' ? answer : yield* answer;
}
