/** What INSERT and UPDATE of a builder write: objects and lists of them. */
import { type Abstract, type Fragment, undefinedValue, unknown } from '../abstract-value.ts';
import type { Machine } from '../machine.ts';
import { entriesOf } from './clauses.ts';
import { notRead, operand, whyNotConstant } from './fragment.ts';
import { identifier } from './identifier.ts';
import { writtenEntries } from './open-objects.ts';
import type { Query } from './query.ts';
import { isOpenList, writtenColumns } from './table-fields.ts';

/** How a builder writes the column of a property. */
type ColumnOf = (property: string) => string;

/** `column = value` for each property. */
export function assignmentsOf(
  machine: Machine,
  query: Query,
  value: Abstract | undefined,
  columnOf: ColumnOf,
  valueOf: (value: Abstract) => Fragment = operand,
): readonly Fragment[] {
  // One object, however it was computed.
  const isComputed = value?.kind === 'value' && value.value.kind === 'unknown';
  const given = isComputed ? unknown('an object that is computed') : value;
  const entries = rowEntries(machine, { ...query, verb: 'update' }, given);
  if (entries === null) return [notRead(`the columns of SET are ${whyNotConstant(value)}`)];
  return entries.map(([name, one]) => [`${identifier(columnOf(name), machine.dialect)} = `, ...valueOf(one)]);
}

/** Those of a row's object; all columns of the table where the source does not say them. */
function rowEntries(machine: Machine, query: Query, value: Abstract | undefined): ReturnType<typeof entriesOf> {
  const columns = writtenColumns(machine, query);
  return columns.length === 0 ? entriesOf(value) : writtenEntries(value, columns);
}

/** The columns and rows of INSERT: one object or a list; a column that an object has not is DEFAULT. */
export function withRows(
  machine: Machine,
  query: Query,
  value: Abstract | undefined,
  columnOf: ColumnOf,
  valueOf: (value: Abstract) => Fragment = operand,
): Query {
  const open = value?.kind === 'array' && value.elements.value.length === 1 ? value.elements.value[0] : value;
  if (isOpenList(open)) {
    const rowOf = (row: Abstract): Query => withRows(machine, query, row, columnOf, valueOf);
    return { ...query, each: { list: open, rowOf } };
  }
  const objects = value?.kind === 'array' ? value.elements.value : [value ?? undefinedValue];
  const lists = objects.map((one) => rowEntries(machine, query, one));
  if (lists.includes(null) || objects.length === 0) {
    const other = objects.find((_, index) => lists[index] === null);
    return { ...query, notRead: [...query.notRead, ...notRead(`the rows of INSERT are ${whyNotConstant(other)}`)] };
  }
  const known = lists.flatMap((list) => (list === null ? [] : [list]));
  const names = [...new Set(known.flatMap((list) => list.map(([name]) => name)))];
  const rows = known.map((list) => {
    const values = new Map(list);
    return names.map((name): Fragment => {
      const one = values.get(name);
      return one === undefined ? ['DEFAULT'] : valueOf(one);
    });
  });
  const insertColumns = names.map((name) => identifier(columnOf(name), machine.dialect));
  return { ...query, insertColumns, rows: [...query.rows, ...rows] };
}
