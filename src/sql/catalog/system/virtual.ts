/** Relations that are computed from the catalog, written as a list of columns and rows by name. */
import { assert } from '../../../base/index.ts';
import { arrayOf, int2vector, type SqlType, typeByName, types, type SqlValue } from '../../model/index.ts';
import type { Catalog } from '../catalog.ts';
import type { ReadActivity, VirtualTable } from '../relation.ts';
import { isTemporary } from '../name.ts';

/** Columns that a row does not name are NULL. */
export type VirtualRow = Readonly<Record<string, SqlValue>>;

/** @param database MySQL: the name of the session's database; `null` in PostgreSQL @param activity what the sessions do */
export type VirtualRows = (catalog: Catalog, database: string | null, activity: ReadActivity) => Iterable<VirtualRow>;

/** `columns`: `name type, name type`; a type that is left out is that of the column before. */
export interface VirtualDefinition {
  readonly name: string;
  readonly columns: string;
  readonly rows: VirtualRows;
}

export function virtualTable(
  id: number,
  schema: string,
  definition: VirtualDefinition,
  catalog: Catalog,
): VirtualTable {
  const columns = columnsOf(definition.columns);
  return {
    kind: 'virtual',
    id,
    schema,
    name: definition.name,
    columns,
    *rows(session = null, activity = () => []) {
      // In a database that CREATE DATABASE has made, the first one goes by its own name.
      const database = session !== null && catalog.hasSchema(session) ? catalog.database : session;
      for (const row of definition.rows(catalog, database, activity)) {
        if (database !== null && isHidden(row)) continue;
        const own = database === null ? row : mysqlRow(row, database);
        yield columns.map(({ name }) => own[name] ?? null);
      }
    },
  };
}

/** MySQL lists no temporary tables. */
function isHidden(row: VirtualRow): boolean {
  const schema = row['table_schema'] ?? row['schema_name'] ?? row['constraint_schema'];
  return typeof schema === 'string' && isTemporary(schema);
}

interface VirtualColumn {
  readonly name: string;
  readonly type: SqlType;
}

/** By their text: every run of a program has a catalog of its own, and all have the same relations. */
const knownColumns = new Map<string, readonly VirtualColumn[]>();

function columnsOf(text: string): readonly VirtualColumn[] {
  const known = knownColumns.get(text);
  if (known !== undefined) return known;
  const columns = parseColumns(text);
  knownColumns.set(text, columns);
  return columns;
}

function parseColumns(text: string): readonly VirtualColumn[] {
  let type: SqlType = types.text;
  return text.split(',').map((part) => {
    const [name = '', typeName] = part.trim().split(' ');
    if (typeName !== undefined) type = namedType(typeName);
    return { name, type };
  });
}

function namedType(name: string): SqlType {
  if (name.endsWith('[]')) return arrayOf(namedType(name.slice(0, -2)));
  if (name === int2vector.title) return int2vector;
  const type = name === 'char' ? types.char : typeByName(name);
  assert(type !== undefined, `${name} is a type`);
  return type;
}

/** The schema in which the catalog keeps the database that is there from the start. */
const firstSchema = 'public';

/** @param database the name by which the session calls the database that is there from the start */
function mysqlRow(row: VirtualRow, database: string): VirtualRow {
  const changed = Object.entries(row).map(([name, value]) => {
    if (value !== null && name.endsWith('_catalog')) return [name, 'def'];
    const isPlace = name.endsWith('_schema') || name === 'schema_name';
    return [name, isPlace && value === firstSchema ? database : value];
  });
  return Object.fromEntries(changed) as VirtualRow;
}
