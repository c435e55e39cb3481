/** What a program adds to an object that the reader knows by itself: `knex.isMySQL = client === 'mysql2'`. */
import type { Cell, Native } from './abstract-value.ts';

const added = new WeakMap<Native, Map<string, Cell>>();

export function propertiesAddedTo(object: Native): Map<string, Cell> {
  const known = added.get(object) ?? new Map<string, Cell>();
  added.set(object, known);
  return known;
}
