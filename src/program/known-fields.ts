/** Fields of what a user hands over. One that is misspelt would be left out without a word. */
import { InputError, unknownNameHint } from '../base/index.ts';

/**
 * @param what whose fields they are: `a program`
 * @param silent fields that are passed over: where what was checked before is spread into what is given
 * @throws InputError `program/shape`
 */
export function requireKnownFields(
  given: object,
  known: readonly string[],
  what: string,
  silent: readonly string[] = [],
): void {
  const unknown = Object.keys(given).find((field) => !known.includes(field) && !silent.includes(field));
  if (unknown === undefined) return;
  const hint = unknownNameHint(unknown, known);
  throw new InputError('program/shape', `unknown field "${unknown}" of ${what}: ${hint}`);
}
