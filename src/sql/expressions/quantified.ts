/** ANY and ALL in three values. */
import type { SqlValue } from '../model/index.ts';

/** ANY is true at the first true, ALL false at the first false; else NULL if one was NULL. */
export function quantified<T>(items: Iterable<T>, isAny: boolean, test: (item: T) => SqlValue): SqlValue {
  let result: SqlValue = !isAny;
  for (const item of items) {
    const value = test(item);
    if (value === null) result = null;
    else if ((value === true || value === 1) === isAny) return isAny;
  }
  return result;
}
