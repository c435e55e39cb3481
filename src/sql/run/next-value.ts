/** Numbers of identity and AUTO_INCREMENT columns: a statement that waits and runs again keeps those that it has drawn. */
import type { Execution } from '../execution.ts';

/** @param of what draws: the column's rules */
export function nextValue({ calls, surroundings }: Execution, sequence: string, of: object): bigint {
  const draw = (): bigint => surroundings.nextValue(sequence);
  return calls === undefined ? draw() : (calls.once(of, [], draw) as bigint);
}
