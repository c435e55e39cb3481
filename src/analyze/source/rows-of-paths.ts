/** Rows of statements that differ by path: a builder's clauses that depend on conditions. */
import type { Value } from '../application.ts';
import { type Abstract, plain, endsOf } from './abstract-value.ts';
import { expression } from './conditions.ts';
import { isNothing, valueOf } from './value-arithmetic.ts';

/** Lists that one call runs its function over, each on its path. */
const pathsMax = 2;

/**
 * Rows of statements that differ by path, as one list that depends on all of them: the function would run once for each, and functions in it
 * once more for each of theirs.
 */
export function rowsOfPaths(list: Abstract & { readonly kind: 'choice' }): Abstract | undefined {
  const lists = rowsIn(list);
  return lists === undefined || lists.size <= pathsMax ? undefined : plain(expression('one of', ...lists.values()));
}

/** By statement; `undefined` where a path gives something else, or rows with methods. */
function rowsIn(list: Abstract): ReadonlyMap<string, Value> | undefined {
  const found = new Map<string, Value>();
  for (const end of endsOf(list)) {
    if (isNothing(end)) continue;
    if (end.kind !== 'rows' || end.elementOf !== undefined) return undefined;
    found.set(end.statement, valueOf(end));
  }
  return found;
}
