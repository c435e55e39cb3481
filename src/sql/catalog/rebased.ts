/** A change of a table done again to a table that another transaction has changed meanwhile: their locks let both add indexes. */
import type { Table } from './relation.ts';

/** `now` with what makes `after` of `before`. O(columns, indexes and constraints) */
export function rebased(before: Table, after: Table, now: Table): Table {
  if (now === before) return after;
  return {
    ...now,
    name: changed(before.name, after.name, now.name),
    schema: changed(before.schema, after.schema, now.schema),
    onCommit: changed(before.onCommit, after.onCommit, now.onCommit),
    cells: changed(before.cells, after.cells, now.cells),
    columns: rebasedList(before.columns, after.columns, now.columns, ({ cell }) => cell),
    indexes: rebasedList(before.indexes, after.indexes, now.indexes, ({ id }) => id),
    checks: rebasedList(before.checks, after.checks, now.checks, ({ name }) => name),
    foreignKeys: rebasedList(before.foreignKeys, after.foreignKeys, now.foreignKeys, ({ name }) => name),
  };
}

function changed<T>(before: T, after: T, now: T): T {
  return after === before ? now : after;
}

function rebasedList<T>(
  before: readonly T[],
  after: readonly T[],
  now: readonly T[],
  keyOf: (element: T) => number | string,
): readonly T[] {
  if (after === before) return now;
  const [old, own] = [before, after].map((list) => new Map(list.map((element) => [keyOf(element), element])));
  const kept = now.flatMap((element) => {
    const key = keyOf(element);
    if (old?.has(key) !== true) return [element];
    const mine = own?.get(key);
    return mine === undefined ? [] : [changed(old.get(key) ?? element, mine, element)];
  });
  return [...kept, ...after.filter((element) => old?.has(keyOf(element)) !== true)];
}
