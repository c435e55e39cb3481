/** Rows for a witness: those that its instances name by key, with parents for foreign keys and a value in every other column. */
import type { Node } from '@pgsql/types';
import { columnAtCell, type Table } from '../sql/index.ts';
import { type RowValue, valueFor } from './column-values.ts';
import { quotedName } from './engines.ts';
import { indexColumns, uniqueIndexes } from './row-keys.ts';
import type { SchemaPart } from './schema-part.ts';
import type { Schema } from './schema.ts';

export class WitnessRows {
  readonly #schema: Schema;
  /** In the order in which they are inserted: parents first. */
  readonly #rows: { readonly table: Table; readonly values: Map<string, RowValue> }[] = [];
  #count = 900;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** The row that has these values in a unique key; a new one, or one that was named before, by this key or another. */
  add(table: Table, values: ReadonlyMap<string, RowValue>): void {
    const known = this.#rows.find((row) => row.table.id === table.id && this.#isSame(table, row.values, values));
    const row = known ?? { table, values: new Map<string, RowValue>() };
    for (const [name, value] of values) row.values.set(name, value);
    if (known === undefined) this.#rows.push(row);
  }

  /** What columns of a row that was added have, where nothing else says it. */
  choose(table: Table, key: ReadonlyMap<string, RowValue>, values: ReadonlyMap<string, RowValue>): void {
    const row = this.#rows.find((one) => one.table.id === table.id && this.#isSame(table, one.values, key));
    for (const [name, value] of values) if (row?.values.has(name) === false) row.values.set(name, value);
  }

  /** @param isInserted rows that the transactions insert are not there at first. @param amount in numbers that nothing else decides */
  statements(
    isInserted: (table: Table, values: ReadonlyMap<string, RowValue>) => boolean,
    amount: number,
  ): readonly string[] {
    const wanted = this.#rows.filter(({ table, values }) => !isInserted(table, values));
    for (const row of wanted.slice()) this.#complete(row, wanted, amount);
    const all = new Set(wanted);
    const ordered: typeof wanted = [];
    const visit = (row: (typeof wanted)[number]): void => {
      if (!all.delete(row)) return;
      for (const { parent } of row.table.foreignKeys)
        for (const other of wanted) if (other.table.id === parent && other !== row) visit(other);
      ordered.push(row);
    };
    for (const row of wanted) visit(row);
    return ordered.map(({ table, values }) => {
      const names = [...values.keys()];
      const literals = names.map((name) => literal(values.get(name) ?? 0));
      const quoted = (name: string): string => quotedName(name, this.#schema.dialect);
      return `INSERT INTO ${quoted(table.name)} (${names.map(quoted).join(', ')}) VALUES (${literals.join(', ')})`;
    });
  }

  #complete(
    { table, values }: { table: Table; values: Map<string, RowValue> },
    wanted: { table: Table; values: Map<string, RowValue> }[],
    amount: number,
  ): void {
    const unique = new Set(uniqueIndexes(table).flatMap((index) => indexColumns(table, index)));
    const references = new Set(
      table.foreignKeys.flatMap(({ cells }) => cells.map((cell) => columnAtCell(table, cell)?.name ?? '')),
    );
    for (const column of table.columns) {
      if (values.has(column.name) || column.generated !== null) continue;
      if (references.has(column.name) && !column.isNotNull) continue;
      const value = valueFor(column, unique.has(column.name) || references.has(column.name) ? this.#count++ : amount);
      if (value !== undefined) values.set(column.name, value);
    }
    for (const key of table.foreignKeys) {
      const parent = this.#schema.catalog.tableById(key.parent);
      if (parent === undefined) continue;
      const given = key.cells.map((cell) => values.get(columnAtCell(table, cell)?.name ?? ''));
      const names = key.parentCells.map((cell) => columnAtCell(parent, cell)?.name ?? '');
      if (given.some((value) => value === undefined)) continue;
      const parentValues = new Map(names.map((name, at) => [name, given[at] as RowValue] as const));
      if (
        wanted.some(
          (row) => row.table.id === parent.id && names.every((name) => row.values.get(name) === parentValues.get(name)),
        )
      )
        continue;
      const row = { table: parent, values: parentValues };
      wanted.push(row);
      this.#complete(row, wanted, amount);
    }
  }

  #isSame(table: Table, a: ReadonlyMap<string, RowValue>, b: ReadonlyMap<string, RowValue>): boolean {
    return uniqueIndexes(table).some((index) =>
      indexColumns(table, index).every((column) => a.get(column) !== undefined && a.get(column) === b.get(column)),
    );
  }
}

/**
 * Queries that show all tables of the part, and the columns of which nothing follows: sequences and what refers to them, and what is computed anew each time.
 * @param computedAnew by statements
 */
export function stateOf(
  { catalog, dialect }: Schema,
  part: Pick<SchemaPart, 'has'>,
  computedAnew: readonly string[],
): {
  readonly state: readonly string[];
  readonly ignored: readonly string[];
} {
  const quoted = (name: string): string => quotedName(name, dialect);
  const tables = catalog.tables().filter(({ schema, name }) => schema === 'public' && part.has(name));
  const ignored = new Set(computedAnew);
  for (const { columns } of tables)
    for (const column of columns)
      if (
        column.sequence !== null ||
        column.identity !== null ||
        isComputedAnew(column.default) ||
        column.onUpdate !== null
      )
        ignored.add(column.name);
  for (const table of tables)
    for (const { cells, parent: parentId, parentCells } of table.foreignKeys) {
      const parent = catalog.tableById(parentId);
      for (const [at, cell] of cells.entries()) {
        const name = parent === undefined ? undefined : columnAtCell(parent, parentCells[at] ?? -1)?.name;
        if (name !== undefined && ignored.has(name)) ignored.add(columnAtCell(table, cell)?.name ?? '');
      }
    }
  const state = tables.map(({ name, columns }) => {
    const shown = columns.filter((column) => !ignored.has(column.name)).map((column) => quoted(column.name));
    const list = shown.length === 0 ? 'count(*)' : shown.join(', ');
    const order = shown.length === 0 ? '' : ` ORDER BY ${shown.map((_, at) => at + 1).join(', ')}`;
    return `SELECT ${list} FROM ${quoted(name)}${order}`;
  });
  return { state, ignored: [...ignored] };
}

function isComputedAnew(given: Node | null): boolean {
  return given !== null && /"FuncCall"|"SQLValueFunction"/.test(JSON.stringify(given));
}

function literal(value: RowValue): string {
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
}
