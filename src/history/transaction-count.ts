/** A history file whose first line says how many transactions follow: one that was cut between two of them is seen. */
import { InputError, type Place } from '../base/index.ts';

/**
 * @param place of the count
 * @throws InputError `history/truncated`, `history/header`
 */
export function checkCount(found: number, announced: number, place: Place): void {
  if (found === announced) return;
  const [code, what] = found < announced ? ['history/truncated', 'it was cut'] : ['history/header', 'more was added'];
  throw new InputError(code, `${what}: transactions announced here: ${announced}, found: ${found}`, place);
}
