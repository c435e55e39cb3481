/** What an invariant makes of a state that no run had. */
import { InputError } from '../base/input-error.ts';
import { violationOf } from './invariant.ts';

/** `no-answer`: it came upon a value of another shape than it takes, or returned none. */
export type Judgement = 'holds' | 'fails' | 'no-answer';

export async function judgementOf(judge: () => unknown): Promise<Judgement> {
  try {
    return violationOf(await judge()) === null ? 'holds' : 'fails';
  } catch (error) {
    return error instanceof InputError || isOfShape(error) ? 'no-answer' : 'fails';
  }
}

/** `Cannot read properties of undefined`: what was changed has no place in the program, and nothing is compared. */
function isOfShape(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}
