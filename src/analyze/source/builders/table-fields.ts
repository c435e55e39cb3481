/** The fields of a row whose object the source does not say, by the schema: for builders that know no columns themselves. */
import type { Abstract, Fragment } from '../abstract-value.ts';
import type { Machine } from '../machine.ts';
import { mappedList } from '../mapped-list.ts';
import type { TableColumn } from '../table-columns.ts';
import type { Query } from './query.ts';

/** The columns of the statement's first table; empty where the schema does not have it. */
function columnsOf(machine: Machine, tables: readonly Fragment[]): readonly TableColumn[] {
  const [name = ''] = namesOf(tables);
  return machine.tables.get(name) ?? [];
}

/** The same as parts of the statement, by name. */
export function columnFragments(
  machine: Machine,
  tables: readonly Fragment[],
): readonly (readonly [string, Fragment])[] {
  const table = tableNameIn(tables) ?? '';
  return columnsOf(machine, tables).map(({ name }) => [name, [{ kind: 'column-part', table, name }]]);
}

/** The name that the first table has in the statement: its alias, where it has one. */
export function tableNameIn(tables: readonly Fragment[]): string | null {
  return namesOf(tables).at(-1) ?? null;
}

/** `"public"."items" AS i`: `items`, `i`. */
function namesOf(tables: readonly Fragment[]): readonly string[] {
  const [first] = tables[0] ?? [];
  if (typeof first !== 'string') return [];
  return first.split(/\s+as\s+/i).map((path) => path.split('.').at(-1)?.replaceAll(/["`]/g, '') ?? '');
}

/** What an object may write: all but keys that stay and what the database makes. */
export function writtenColumns(machine: Machine, { verb, tables }: Query): readonly string[] {
  return columnsOf(machine, tables).flatMap(({ name, isKey, isGenerated, hasDefault }) =>
    isGenerated || (isKey && (verb !== 'insert' || hasDefault)) ? [] : [name],
  );
}

/** A list of which the sources say no elements: what a function computes, what a loop fills. */
export function isOpenList(value: Abstract | undefined): value is Abstract {
  if (value?.kind === 'choice') return [value.ifTrue, value.ifFalse].every((side) => isOpenList(side));
  if (value?.kind !== 'value') return false;
  // `rows.filter(...)`
  if (value.value.kind === 'expression') return /^(?:filter|slice)$/.test(value.value.operator);
  if (value.value.kind !== 'unknown') return false;
  return mappedList(value) !== undefined || /\b(?:list|loop)\b/.test(value.value.reason);
}
