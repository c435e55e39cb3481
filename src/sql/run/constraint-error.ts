/** Errors of constraints as the two servers word them: drivers and ORMs look at code, constraint and detail. */
import { columnAtCell, type Index, type Table } from '../catalog/relation.ts';
import type { Dialect } from '../dialect.ts';
import { SqlError } from '../sql-error.ts';
import { formatText } from '../text-format.ts';
import { types } from '../type.ts';
import type { SqlValue } from '../value.ts';

const shownCharactersMax = 64;

export function duplicateKey(table: Table, index: Index, values: readonly SqlValue[], dialect: Dialect): SqlError {
  const { names, texts } = keyOf(table, index, values, dialect);
  const place = { schema: table.schema, table: table.name, constraint: index.name };
  if (dialect === 'mysql') {
    const message = `Duplicate entry '${texts.join('-')}' for key '${table.name}.${index.isPrimary ? 'PRIMARY' : index.name}'`;
    return new SqlError('23505', message, { ...place, mysqlNumber: 1062 });
  }
  const detail = `Key (${names.join(', ')})=(${texts.join(', ')}) already exists.`;
  return new SqlError('23505', `duplicate key value violates unique constraint "${index.name}"`, { ...place, detail });
}

export function notNull(table: Table, column: string, values: readonly SqlValue[], dialect: Dialect): SqlError {
  if (dialect === 'mysql')
    return new SqlError('23502', `Column '${column}' cannot be null`, { mysqlNumber: 1048, column, table: table.name });
  return new SqlError(
    '23502',
    `null value in column "${column}" of relation "${table.name}" violates not-null constraint`,
    {
      detail: failingRow(table, values),
      schema: table.schema,
      table: table.name,
      column,
    },
  );
}

export function checkFailed(table: Table, constraint: string, values: readonly SqlValue[], dialect: Dialect): SqlError {
  if (dialect === 'mysql') {
    return new SqlError('23514', `Check constraint '${constraint}' is violated.`, { mysqlNumber: 3819, constraint });
  }
  return new SqlError('23514', `new row for relation "${table.name}" violates check constraint "${constraint}"`, {
    detail: failingRow(table, values),
    schema: table.schema,
    table: table.name,
    constraint,
  });
}

export interface KeyReference {
  readonly constraint: string;
  readonly child: Table;
  readonly childCells: readonly number[];
  readonly parent: Table;
  readonly parentCells: readonly number[];
}

/** A row that refers to nobody. */
export function missingParent(key: KeyReference, values: readonly SqlValue[], dialect: Dialect): SqlError {
  const { child, parent, constraint } = key;
  const place = { schema: child.schema, table: child.name, constraint };
  if (dialect === 'mysql') {
    const message = `Cannot add or update a child row: a foreign key constraint fails (\`${child.name}\`, CONSTRAINT \`${constraint}\`)`;
    return new SqlError('23503', message, { ...place, mysqlNumber: 1452 });
  }
  const detail = `Key ${described(child, key.childCells, values)} is not present in table "${parent.name}".`;
  const message = `insert or update on table "${child.name}" violates foreign key constraint "${constraint}"`;
  return new SqlError('23503', message, { ...place, detail });
}

/** A row that others refer to. */
export function stillReferenced(key: KeyReference, values: readonly SqlValue[], dialect: Dialect): SqlError {
  const { child, parent, constraint } = key;
  const place = { schema: child.schema, table: child.name, constraint };
  if (dialect === 'mysql') {
    const message = `Cannot delete or update a parent row: a foreign key constraint fails (\`${child.name}\`, CONSTRAINT \`${constraint}\`)`;
    return new SqlError('23503', message, { ...place, mysqlNumber: 1451 });
  }
  const detail = `Key ${described(parent, key.parentCells, values)} is still referenced from table "${child.name}".`;
  const message = `update or delete on table "${parent.name}" violates foreign key constraint "${constraint}" on table "${child.name}"`;
  return new SqlError('23503', message, { ...place, detail });
}

function described(table: Table, cells: readonly number[], values: readonly SqlValue[]): string {
  const names = cells.map((cell) => columnAtCell(table, cell)?.name ?? '');
  const texts = cells.map((cell) => shown(values[cell] ?? null, columnAtCell(table, cell)?.type));
  return `(${names.join(', ')})=(${texts.join(', ')})`;
}

function keyOf(
  table: Table,
  index: Index,
  values: readonly SqlValue[],
  dialect: Dialect,
): { names: string[]; texts: string[] } {
  const names: string[] = [];
  const texts: string[] = [];
  for (const { cell } of index.parts) {
    const column = columnAtCell(table, cell);
    names.push(column?.name ?? 'expression');
    const value = values[cell] ?? null;
    texts.push(value === null ? 'null' : formatText(value, column?.type ?? types.text, dialect));
  }
  return { names, texts };
}

function failingRow(table: Table, values: readonly SqlValue[]): string {
  const texts = table.columns.map(({ cell, type }) => shown(values[cell] ?? null, type));
  return `Failing row contains (${texts.join(', ')}).`;
}

function shown(value: SqlValue, type = types.text): string {
  if (value === null) return 'null';
  const text = formatText(value, type);
  return text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}...` : text;
}
