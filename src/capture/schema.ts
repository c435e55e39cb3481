/**
 * The tables of the server whose clients are recorded: names, columns, primary keys. Read once with the query given here, on a connection
 * that the client has anyway, so that no credentials are needed; read again after a definition (CREATE, ALTER, DROP).
 */
import type { Dialect } from '../sql/index.ts';

/** How values of a column are compared and written down; `other`: only as the server gives them back. */
export type ColumnKind =
  | 'integer'
  | 'boolean'
  | 'text'
  | 'padded-text'
  | 'folded-text'
  | 'folded-padded-text'
  | 'uuid'
  | 'decimal'
  | 'float'
  | 'other';

export interface RecordedColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Decimals: digits after the point; `null`: as many as there are. */
  readonly scale: number | null;
  /** Has a default, an identity or an expression: what an INSERT that leaves it out writes is not known. */
  readonly hasDefault: boolean;
  readonly isAutoIncrement: boolean;
}

export interface RecordedTable {
  /** `accounts`, or `schema.accounts` outside the schema that names mean. */
  readonly name: string;
  readonly columns: readonly RecordedColumn[];
  /** The columns of the primary key, in its order; empty: there is none, and no row of it has a name. */
  readonly key: readonly RecordedColumn[];
  /** Are there unique keys beside the primary one? */
  readonly hasOtherUnique: boolean;
}

/** Gives one row for each column, as `schemaOf` wants them. */
export const schemaQueries: Readonly<Record<Dialect, string>> = {
  postgres: `SELECT c.table_schema, c.table_name, c.column_name, c.data_type, c.numeric_scale, c.collation_name,
 CASE WHEN c.column_default IS NOT NULL OR c.is_identity = 'YES' OR c.is_generated = 'ALWAYS' THEN 1 ELSE 0 END AS has_default,
 0 AS is_auto, CASE WHEN c.table_schema = current_schema() THEN 1 ELSE 0 END AS is_current,
 (SELECT min(k.ordinal_position) FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage k
  ON k.constraint_schema = tc.constraint_schema AND k.constraint_name = tc.constraint_name AND k.table_name = tc.table_name
  WHERE tc.constraint_type = 'PRIMARY KEY' AND tc.table_schema = c.table_schema AND tc.table_name = c.table_name
  AND k.column_name = c.column_name) AS key_position,
 (SELECT count(*) FROM information_schema.table_constraints tc WHERE tc.constraint_type = 'UNIQUE'
  AND tc.table_schema = c.table_schema AND tc.table_name = c.table_name) AS uniques
 FROM information_schema.columns c WHERE c.table_schema NOT IN ('pg_catalog', 'information_schema')
 ORDER BY c.table_schema, c.table_name, c.ordinal_position`,
  mysql: `SELECT c.table_schema AS table_schema, c.table_name AS table_name, c.column_name AS column_name, c.data_type AS data_type,
 c.numeric_scale AS numeric_scale, c.collation_name AS collation_name,
 CASE WHEN (c.column_default IS NOT NULL AND c.column_default <> 'NULL') OR c.extra <> '' THEN 1 ELSE 0 END AS has_default,
 CASE WHEN c.extra LIKE '%auto_increment%' THEN 1 ELSE 0 END AS is_auto,
 CASE WHEN c.table_schema = database() THEN 1 ELSE 0 END AS is_current,
 (SELECT min(k.seq_in_index) FROM information_schema.statistics k WHERE k.index_name = 'PRIMARY'
  AND k.table_schema = c.table_schema AND k.table_name = c.table_name AND k.column_name = c.column_name) AS key_position,
 (SELECT count(*) FROM information_schema.statistics k WHERE k.non_unique = 0 AND k.index_name <> 'PRIMARY'
  AND k.table_schema = c.table_schema AND k.table_name = c.table_name) AS uniques
 FROM information_schema.columns c
 WHERE c.table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')
 ORDER BY c.table_schema, c.table_name, c.ordinal_position`,
};

/** A row of the query above: cells by the names of its columns, as any driver or protocol gives them. */
export type SchemaRow = Readonly<Record<string, unknown>>;

export class RecordedSchema {
  readonly dialect: Dialect;
  readonly #tables: ReadonlyMap<string, RecordedTable>;

  constructor(dialect: Dialect, tables: ReadonlyMap<string, RecordedTable>) {
    this.dialect = dialect;
    this.#tables = tables;
  }

  /** @param schema as the statement says it, `undefined` when it says none */
  table(schema: string | undefined, name: string): RecordedTable | undefined {
    if (schema === undefined) return this.#tables.get(name);
    return this.#tables.get(qualified(schema, name));
  }

  /** MySQL's columns have names without regard to case. */
  column(table: RecordedTable, name: string): RecordedColumn | undefined {
    if (this.dialect === 'postgres') return table.columns.find((column) => column.name === name);
    const lower = name.toLowerCase();
    return table.columns.find((column) => column.name.toLowerCase() === lower);
  }
}

/** Knows no table: every statement that names one is opaque. */
export function emptySchema(dialect: Dialect): RecordedSchema {
  return new RecordedSchema(dialect, new Map());
}

export function schemaOf(dialect: Dialect, rows: readonly SchemaRow[]): RecordedSchema {
  const groups = new Map<string, SchemaRow[]>();
  for (const row of rows) {
    const name = qualified(textOf(row['table_schema']), textOf(row['table_name']));
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  const tables = new Map<string, RecordedTable>();
  for (const [name, group] of groups) {
    const [first] = group;
    const isCurrent = Number(first?.['is_current']) === 1;
    const table = tableOf(dialect, isCurrent ? textOf(first?.['table_name']) : name, group);
    tables.set(name, table);
    if (isCurrent) tables.set(table.name, table);
  }
  return new RecordedSchema(dialect, tables);
}

function qualified(schema: string, name: string): string {
  return `${schema}.${name}`;
}

function tableOf(dialect: Dialect, name: string, rows: readonly SchemaRow[]): RecordedTable {
  const columns = rows.map((row) => columnOf(dialect, row));
  const positions = rows.map((row) => (row['key_position'] === null ? 0 : Number(row['key_position'])));
  const key = columns
    .map((column, i) => ({ column, position: positions[i] ?? 0 }))
    .filter(({ position }) => position > 0)
    .toSorted((a, b) => a.position - b.position)
    .map(({ column }) => column);
  return { name, columns, key, hasOtherUnique: Number(rows[0]?.['uniques']) > 0 };
}

function columnOf(dialect: Dialect, row: SchemaRow): RecordedColumn {
  const scale = row['numeric_scale'];
  return {
    name: textOf(row['column_name']),
    kind: kindOf(dialect, textOf(row['data_type']).toLowerCase(), textOf(row['collation_name'])),
    scale: scale === null || scale === undefined ? null : Number(scale),
    hasDefault: Number(row['has_default']) === 1,
    isAutoIncrement: Number(row['is_auto']) === 1,
  };
}

const integers = new Set(['smallint', 'integer', 'bigint', 'int', 'tinyint', 'mediumint']);
const texts = new Set(['text', 'character varying', 'varchar', 'tinytext', 'mediumtext', 'longtext']);

function kindOf(dialect: Dialect, type: string, collation: string): ColumnKind {
  if (integers.has(type)) return 'integer';
  if (texts.has(type)) return dialect === 'mysql' && !collation.endsWith('_bin') ? 'folded-text' : 'text';
  if (type === 'char' || type === 'character') return dialect === 'mysql' ? 'folded-padded-text' : 'padded-text';
  if (type === 'boolean') return 'boolean';
  if (type === 'uuid') return 'uuid';
  if (type === 'numeric' || type === 'decimal') return 'decimal';
  return type === 'double precision' || type === 'double' ? 'float' : 'other';
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  return typeof value === 'string' ? value : '';
}
