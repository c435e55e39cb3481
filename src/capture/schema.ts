/**
 * The tables of the server whose clients are recorded: names, columns, primary keys. Read once with the query given here, on a connection
 * that the client has anyway, so that no credentials are needed; read again after DDL (CREATE, ALTER, DROP).
 */
import { type Dialect, isSameName } from '../sql/model/index.ts';

/** How values of a column are compared and written down; `other`: only as the server gives them back. */
export type ColumnKind =
  | 'integer'
  | 'boolean'
  | 'text'
  | 'padded-text'
  /** Trailing spaces do not count where texts are compared: MySQL's `_bin`. */
  | 'spaced-text'
  /** And what beyond ASCII looks the same may be the same: `_cs`. */
  | 'cased-text'
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
  /** Generated, or set anew by every update (ON UPDATE CURRENT_TIMESTAMP): a statement that does not name it may change it. */
  readonly isComputed: boolean;
}

export interface RecordedTable {
  /** `accounts`, or `schema.accounts` outside the schema that names mean. */
  readonly name: string;
  readonly columns: readonly RecordedColumn[];
  /** The columns of the primary key, in its order; empty: there is none, and no row of it has a name. */
  readonly key: readonly RecordedColumn[];
  /** Are there unique keys beside the primary one? */
  readonly hasOtherUnique: boolean;
  /** What else a statement that writes to it may write: tables with foreign keys that have actions; all of them where it has triggers. */
  readonly effects: TableEffects;
}

/** Names of tables; `*` stands for all. */
export interface TableEffects {
  readonly always: readonly string[];
  readonly onDelete: readonly string[];
  readonly onKeyChange: readonly string[];
}

/** Tables whose foreign keys do something by themselves when a row that they refer to goes, or gets another key. */
function postgresEffects(action: 'confdeltype' | 'confupdtype'): string {
  return `(SELECT string_agg(n.nspname || '.' || l.relname, '|') FROM pg_catalog.pg_constraint k
  JOIN pg_catalog.pg_class l ON l.oid = k.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = l.relnamespace
  WHERE k.contype = 'f' AND k.confrelid = r.oid AND k.${action} NOT IN ('a', 'r'))`;
}

function mysqlEffects(action: 'delete_rule' | 'update_rule'): string {
  return `(SELECT unique_constraint_schema AS place, referenced_table_name AS name,
  group_concat(DISTINCT concat(constraint_schema, '.', table_name) SEPARATOR '|') AS tables
  FROM information_schema.referential_constraints WHERE ${action} NOT IN ('NO ACTION', 'RESTRICT')
  GROUP BY unique_constraint_schema, referenced_table_name)`;
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
 (SELECT count(*) FROM pg_catalog.pg_index i WHERE i.indrelid = r.oid AND i.indisunique AND NOT i.indisprimary) AS uniques,
 CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_inherits h WHERE h.inhrelid = r.oid OR (h.inhparent = r.oid AND r.relkind = 'r'))
  THEN 1 ELSE 0 END AS is_shared,
 CASE WHEN c.is_generated = 'ALWAYS' THEN 1 ELSE 0 END AS is_computed,
 CASE WHEN r.relkind NOT IN ('r', 'p') OR EXISTS (SELECT 1 FROM pg_catalog.pg_trigger g WHERE g.tgrelid = r.oid AND NOT g.tgisinternal)
  OR EXISTS (SELECT 1 FROM pg_catalog.pg_rewrite w WHERE w.ev_class = r.oid) THEN 1 ELSE 0 END AS has_effects,
 ${postgresEffects('confdeltype')} AS delete_effects, ${postgresEffects('confupdtype')} AS update_effects,
 CASE WHEN c.ordinal_position = 1 THEN (SELECT string_agg(DISTINCT f.proname::text, '|') FROM pg_catalog.pg_proc f
  WHERE f.provolatile = 'v' AND f.prolang NOT IN (12, 13) AND f.pronamespace NOT IN
  (SELECT x.oid FROM pg_catalog.pg_namespace x WHERE x.nspname IN ('pg_catalog', 'information_schema'))) END AS functions
 FROM information_schema.columns c JOIN pg_catalog.pg_namespace s ON s.nspname = c.table_schema
 JOIN pg_catalog.pg_class r ON r.relnamespace = s.oid AND r.relname = c.table_name
 WHERE c.table_schema NOT IN ('pg_catalog', 'information_schema')
 ORDER BY c.table_schema, c.table_name, c.ordinal_position`,
  mysql: `SELECT c.table_schema AS table_schema, c.table_name AS table_name, c.column_name AS column_name, c.data_type AS data_type,
 c.numeric_scale AS numeric_scale, c.collation_name AS collation_name,
 CASE WHEN (c.column_default IS NOT NULL AND c.column_default <> 'NULL') OR c.extra <> '' THEN 1 ELSE 0 END AS has_default,
 CASE WHEN c.extra LIKE '%auto_increment%' THEN 1 ELSE 0 END AS is_auto,
 CASE WHEN c.table_schema = database() THEN 1 ELSE 0 END AS is_current,
 (SELECT min(k.seq_in_index) FROM information_schema.statistics k WHERE k.index_name = 'PRIMARY'
  AND k.table_schema = c.table_schema AND k.table_name = c.table_name AND k.column_name = c.column_name) AS key_position,
 (SELECT count(*) FROM information_schema.statistics k WHERE k.non_unique = 0 AND k.index_name <> 'PRIMARY'
  AND k.table_schema = c.table_schema AND k.table_name = c.table_name) AS uniques,
 CASE WHEN c.extra LIKE '% GENERATED%' OR c.extra LIKE '%on update%' THEN 1 ELSE 0 END AS is_computed,
 CASE WHEN g.name IS NULL AND w.table_name IS NULL THEN 0 ELSE 1 END AS has_effects,
 d.tables AS delete_effects, u.tables AS update_effects,
 CASE WHEN c.ordinal_position = 1 THEN (SELECT group_concat(DISTINCT f.routine_name SEPARATOR '|') FROM information_schema.routines f
  WHERE f.routine_type = 'FUNCTION' AND f.routine_schema NOT IN ('mysql', 'sys')) END AS functions
 FROM information_schema.columns c
 LEFT JOIN information_schema.views w ON w.table_schema = c.table_schema AND w.table_name = c.table_name
 LEFT JOIN (SELECT DISTINCT event_object_schema AS place, event_object_table AS name FROM information_schema.triggers) g
  ON g.place = c.table_schema AND g.name = c.table_name
 LEFT JOIN ${mysqlEffects('delete_rule')} d ON d.place = c.table_schema AND d.name = c.table_name
 LEFT JOIN ${mysqlEffects('update_rule')} u ON u.place = c.table_schema AND u.name = c.table_name
 WHERE c.table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')
 ORDER BY c.table_schema, c.table_name, c.ordinal_position`,
};

/** A row of the query above: cells by the names of its columns, as any driver or protocol gives them. */
export type SchemaRow = Readonly<Record<string, unknown>>;

export class RecordedSchema {
  readonly dialect: Dialect;
  /** Functions that users have made, which may write anything; in lower case. */
  readonly functions: ReadonlySet<string>;
  readonly #tables: ReadonlyMap<string, RecordedTable>;

  constructor(
    dialect: Dialect,
    tables: ReadonlyMap<string, RecordedTable>,
    functions: ReadonlySet<string> = new Set(),
  ) {
    this.dialect = dialect;
    this.functions = functions;
    this.#tables = tables;
  }

  /** @param schema as the statement says it, `undefined` when it says none */
  table(schema: string | undefined, name: string): RecordedTable | undefined {
    if (schema === undefined) return this.#tables.get(name);
    return this.#tables.get(qualified(schema, name));
  }

  column(table: RecordedTable, name: string): RecordedColumn | undefined {
    return table.columns.find((column) => isSameName(column.name, name, this.dialect));
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
  const names = new Map([...groups].map(([name, [first]]) => [name, nameOf(name, first)]));
  const direct = new Map([...groups].map(([name, [first]]) => [names.get(name) ?? name, effectsOf(first, names)]));
  for (const [name, group] of groups) {
    const [first] = group;
    const isCurrent = Number(first?.['is_current']) === 1;
    const table = tableOf(dialect, nameOf(name, first), group, direct);
    tables.set(name, table);
    if (isCurrent) tables.set(table.name, table);
  }
  const functions = rows.flatMap((row) => textOf(row['functions']).toLowerCase().split('|'));
  return new RecordedSchema(dialect, tables, new Set(functions.filter((name) => name !== '')));
}

/** As traces call it: without its schema where names mean that. */
function nameOf(name: string, first: SchemaRow | undefined): string {
  return Number(first?.['is_current']) === 1 ? textOf(first?.['table_name']) : name;
}

/** What the table's own triggers and the foreign keys to it do. A table that is not known may be any. */
function effectsOf(row: SchemaRow | undefined, names: ReadonlyMap<string, string>): TableEffects {
  const tablesIn = (list: unknown): readonly string[] =>
    textOf(list)
      .split('|')
      .filter((name) => name !== '')
      .map((name) => names.get(name) ?? '*');
  return {
    always: Number(row?.['has_effects']) === 1 || Number(row?.['is_shared']) === 1 ? ['*'] : [],
    onDelete: tablesIn(row?.['delete_effects']),
    onKeyChange: tablesIn(row?.['update_effects']),
  };
}

/** With what these do in turn. O(tables x foreign keys) */
function reached(first: readonly string[], direct: ReadonlyMap<string, TableEffects>): readonly string[] {
  const found = new Set(first);
  for (const name of found) {
    const { always = [], onDelete = [], onKeyChange = [] } = direct.get(name) ?? {};
    for (const next of [...always, ...onDelete, ...onKeyChange]) found.add(next);
  }
  return [...found];
}

function qualified(schema: string, name: string): string {
  return `${schema}.${name}`;
}

function tableOf(
  dialect: Dialect,
  name: string,
  rows: readonly SchemaRow[],
  direct: ReadonlyMap<string, TableEffects>,
): RecordedTable {
  const columns = rows.map((row) => columnOf(dialect, row));
  const positions = rows.map((row) => (row['key_position'] === null ? 0 : Number(row['key_position'])));
  const key = columns
    .map((column, i) => ({ column, position: positions[i] ?? 0 }))
    .filter(({ position }) => position > 0)
    .toSorted((a, b) => a.position - b.position)
    .map(({ column }) => column);
  const { always = [], onDelete = [], onKeyChange = [] } = direct.get(name) ?? {};
  // Its rows are those of another table too, under that one's name: partitions, tables that inherit.
  const isShared = Number(rows[0]?.['is_shared']) === 1;
  const effects = { always, onDelete: reached(onDelete, direct), onKeyChange: reached(onKeyChange, direct) };
  return { name, columns, key: isShared ? [] : key, hasOtherUnique: Number(rows[0]?.['uniques']) > 0, effects };
}

function columnOf(dialect: Dialect, row: SchemaRow): RecordedColumn {
  const scale = row['numeric_scale'];
  return {
    name: textOf(row['column_name']),
    kind: kindOf(dialect, textOf(row['data_type']).toLowerCase(), textOf(row['collation_name'])),
    scale: scale === null || scale === undefined ? null : Number(scale),
    hasDefault: Number(row['has_default']) === 1,
    isAutoIncrement: Number(row['is_auto']) === 1,
    isComputed: Number(row['is_computed']) === 1,
  };
}

const integers = new Set(['smallint', 'integer', 'bigint', 'int', 'tinyint', 'mediumint']);
const texts = new Set(['text', 'character varying', 'varchar', 'tinytext', 'mediumtext', 'longtext']);

function kindOf(dialect: Dialect, type: string, collation: string): ColumnKind {
  if (integers.has(type)) return 'integer';
  if (texts.has(type)) return textKinds[dialect].text(collation);
  if (type === 'char' || type === 'character') return textKinds[dialect].padded(collation);
  if (type === 'boolean') return 'boolean';
  if (type === 'uuid') return 'uuid';
  if (type === 'numeric' || type === 'decimal') return 'decimal';
  return type === 'double precision' || type === 'double' ? 'float' : 'other';
}

/** By the collation. PostgreSQL's say that texts are equal only where they are the same. */
const textKinds: Readonly<Record<Dialect, Readonly<Record<'text' | 'padded', (collation: string) => ColumnKind>>>> = {
  postgres: { text: () => 'text', padded: () => 'padded-text' },
  mysql: {
    text: textKindOf,
    padded: (collation) => (/_(?:bin|cs)$/.test(collation) ? 'padded-text' : 'folded-padded-text'),
  },
};

function textKindOf(collation: string): ColumnKind {
  if (collation.endsWith('_bin')) return /nopad|_0900_/.test(collation) ? 'text' : 'spaced-text';
  return collation.endsWith('_cs') ? 'cased-text' : 'folded-text';
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  return typeof value === 'string' ? value : '';
}
