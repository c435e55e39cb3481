/** SQL text with values between its pieces: a tagged template. */
import type { Abstract, Fragment } from '../abstract-value.ts';
import { operand } from './fragment.ts';

export function rawTemplate(texts: readonly string[], holes: readonly Abstract[]): Fragment {
  return texts.flatMap((text, index) => {
    const hole = holes[index];
    return hole === undefined ? [text] : [text, ...operand(hole)];
  });
}
