/** Rows for a witness: those that its instances name by key, with parents for foreign keys and a value in every other column. */
import { type Column, columnAtCell, exactColumn, quotedName, type Table } from '../sql/index.ts';
import type { RowValue } from './column-values.ts';
import { indexColumns, uniqueIndexes } from './row-keys.ts';
import type { SchemaPart } from './schema-part.ts';
import type { Schema } from './schema.ts';
import type { AskedValue, Sign } from './searches/asked.ts';
import { ColumnDomain } from './searches/column-domain.ts';
import { TableChecks } from './searches/table-checks.ts';

/** One row of a witness. */
export interface WitnessRow {
  readonly table: Table;
  /** What is decided of it. */
  readonly values: Map<string, RowValue | null>;
  /** What its other columns have to satisfy, as far as they can. */
  readonly asked: RowAsked[];
}

export interface RowAsked {
  readonly column: string;
  readonly sign: Sign;
  readonly value:
    | Exclude<AskedValue, { kind: 'parameter' | 'column' }>
    /** A column of another row. */
    | { readonly kind: 'row'; readonly row: WitnessRow; readonly column: string };
}

export class WitnessRows {
  readonly #schema: Schema;
  readonly #checks: TableChecks;
  /** In the order in which they are inserted: parents first. */
  readonly #rows: WitnessRow[] = [];
  readonly #searched = new Map<string, WitnessRow>();
  /** By table: what statements look for in it, so that rows of which nothing else is known are found, too. */
  readonly #preferred = new Map<number, RowAsked[]>();
  #count = 900;

  constructor(schema: Schema) {
    this.#schema = schema;
    this.#checks = new TableChecks();
  }

  /** The row that has these values in a unique key; a new one, or one that was named before, by this key or another. */
  add(table: Table, values: ReadonlyMap<string, RowValue>): void {
    const row = this.find(table, values) ?? this.#addRow(table);
    for (const [name, value] of values) row.values.set(name, value);
  }

  find(table: Table, values: ReadonlyMap<string, RowValue>): WitnessRow | undefined {
    return this.#rows.find((row) => row.table.id === table.id && this.#isSame(table, row.values, values));
  }

  /** A row with a key that no statement says; the same for the same search. */
  addNameless(table: Table, search: string): WitnessRow {
    const known = this.#searched.get(search);
    if (known !== undefined) return known;
    const row = this.#addRow(table);
    this.#searched.set(search, row);
    return row;
  }

  #addRow(table: Table): WitnessRow {
    const row: WitnessRow = { table, values: new Map(), asked: [] };
    this.#rows.push(row);
    return row;
  }

  /** What columns of a row that was added have, where nothing else says it. */
  choose(table: Table, key: ReadonlyMap<string, RowValue>, values: ReadonlyMap<string, RowValue | null>): void {
    const row = this.find(table, key);
    for (const [name, value] of values) if (row?.values.has(name) === false) row.values.set(name, value);
  }

  prefer(table: Table, asked: RowAsked): void {
    this.#preferred.set(table.id, [...(this.#preferred.get(table.id) ?? []), asked]);
  }

  /** @param isInserted rows that the transactions insert are not there at first. @param amount in numbers that nothing else decides */
  statements(
    isInserted: (table: Table, values: ReadonlyMap<string, RowValue | null>) => boolean,
    amount: number,
  ): readonly string[] {
    const wanted = this.#rows.filter(({ table, values }) => !isInserted(table, values));
    for (const row of wanted.slice()) this.#complete(row, wanted, amount);
    const all = new Set(wanted);
    const ordered: typeof wanted = [];
    const visit = (row: WitnessRow): void => {
      if (!all.delete(row)) return;
      for (const { parent } of row.table.foreignKeys)
        for (const other of wanted) if (other.table.id === parent && other !== row) visit(other);
      ordered.push(row);
    };
    for (const row of wanted) visit(row);
    return ordered.map(({ table, values }) => {
      const names = [...values.keys()];
      const literals = names.map((name) => literal(values.get(name) ?? null));
      const quoted = (name: string): string => quotedName(name, this.#schema.dialect);
      return `INSERT INTO ${quoted(table.name)} (${names.map(quoted).join(', ')}) VALUES (${literals.join(', ')})`;
    });
  }

  #complete(row: WitnessRow, wanted: WitnessRow[], amount: number): void {
    const { table, values } = row;
    for (const column of table.columns) if (column.generated === null) this.#decide(row, column, amount, []);
    for (const key of table.foreignKeys) {
      const parent = this.#schema.catalog.tableById(key.parent);
      if (parent === undefined) continue;
      const given = key.cells.map((cell) => values.get(columnAtCell(table, cell)?.name ?? ''));
      const names = key.parentCells.map((cell) => columnAtCell(parent, cell)?.name ?? '');
      if (given.some((value) => value === undefined || value === null)) continue;
      const parentValues = new Map(names.map((name, at) => [name, given[at] as RowValue] as const));
      const isThere = wanted.some(
        (other) =>
          other.table.id === parent.id && names.every((name) => other.values.get(name) === parentValues.get(name)),
      );
      if (isThere) continue;
      const added: WitnessRow = { table: parent, values: parentValues, asked: [] };
      wanted.push(added);
      this.#complete(added, wanted, amount);
    }
  }

  /** @param above columns that wait for this one */
  #decide(row: WitnessRow, column: Column, amount: number, above: readonly string[]): RowValue | null | undefined {
    const { table, values } = row;
    const known = values.get(column.name);
    const place = `${this.#rows.indexOf(row)} ${column.name}`;
    if (known !== undefined || above.includes(place)) return known;
    const domain = new ColumnDomain(column);
    const ask = ({ sign, value }: Omit<RowAsked, 'column'>): void => {
      if (value.kind === 'constant') domain.ask({ sign, value: value.value });
      else if (value.kind === 'list') domain.ask({ sign: sign === '=' ? '=' : '<>', values: value.values });
      else {
        const other = exactColumn(value.row.table, value.column);
        const found = other && this.#decide(value.row, other, amount, [...above, place]);
        if (found !== undefined) domain.ask({ sign, value: found });
      }
    };
    for (const asked of row.asked) if (asked.column === column.name) ask(asked);
    for (const { column: own, sign, value } of this.#checks.of(table)) {
      if (own.name !== column.name || value.kind === 'parameter') continue;
      if (value.kind !== 'column') ask({ sign, value });
      else if (values.has(value.column.name)) ask({ sign, value: { kind: 'row', row, column: value.column.name } });
    }
    for (const asked of this.#preferred.get(table.id) ?? []) if (asked.column === column.name) ask(asked);
    const isKey = uniqueIndexes(table).some((index) => indexColumns(table, index).includes(column.name));
    const refers = table.foreignKeys.some(({ cells }) =>
      cells.some((cell) => columnAtCell(table, cell)?.name === column.name),
    );
    if (refers && !column.isNotNull && !domain.isDecided) return undefined;
    const value = domain.pick(isKey || refers ? this.#count++ : amount);
    if (value !== undefined) values.set(column.name, value);
    return value;
  }

  #isSame(table: Table, a: ReadonlyMap<string, RowValue | null>, b: ReadonlyMap<string, RowValue>): boolean {
    return uniqueIndexes(table).some((index) =>
      indexColumns(table, index).every((column) => a.get(column) !== undefined && a.get(column) === b.get(column)),
    );
  }
}

/** Queries that show all tables of the part. @param ignored columns that are not compared */
export function stateOf(
  { catalog, dialect }: Schema,
  part: Pick<SchemaPart, 'has'>,
  ignored: ReadonlySet<string>,
): {
  readonly state: readonly string[];
  readonly ignored: readonly string[];
} {
  const quoted = (name: string): string => quotedName(name, dialect);
  const tables = catalog.tables().filter(({ schema, name }) => schema === 'public' && part.has(name));
  const state = tables.map(({ name, columns }) => {
    const shown = columns.filter((column) => !ignored.has(column.name)).map((column) => quoted(column.name));
    const list = shown.length === 0 ? 'count(*)' : shown.join(', ');
    const order = shown.length === 0 ? '' : ` ORDER BY ${shown.map((_, at) => at + 1).join(', ')}`;
    return `SELECT ${list} FROM ${quoted(name)}${order}`;
  });
  return { state, ignored: [...ignored] };
}

function literal(value: RowValue | null): string {
  if (value === null) return 'NULL';
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
}
