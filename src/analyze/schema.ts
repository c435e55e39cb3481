/** The tables that statements name: the application's DDL, run by the project's own SQL database. */
import { InputError } from '../base/index.ts';
import type { Catalog, Relation, Table } from '../sql/index.ts';
import { engineRules, SqlError } from '../sql/model/index.ts';
import { openSqlDatabase } from '../database/index.ts';
import type { Application, Dialect } from './application.ts';
import { engineOf } from './engines.ts';
import { DdlRunner, withoutCommands } from './run-ddl.ts';
import { type DdlStatement, SchemaParts } from './schema-part.ts';
import { type UnreadDdl, unreadDdl } from './unread-ddl.ts';

/** The tables, and whose SQL the statements are. */
export interface Schema {
  readonly catalog: Catalog;
  readonly dialect: Dialect;
  readonly parts: SchemaParts;
  /** What of the DDL moirai does not run. */
  readonly unread: UnreadDdl;
}

/** @throws InputError `analyze/schema`, with the line of the DDL that does not run */
export async function readSchema({ dialect, schema }: Pick<Application, 'dialect' | 'schema'>): Promise<Schema> {
  const profile = engineOf[dialect].profileAt('read committed');
  const database = await openSqlDatabase({ profile, settle: null });
  const session = database.connect({
    user: 'analyze',
    database: 'postgres',
    parameters: new Map(),
    onParameter: () => {},
  });
  const ddl: DdlStatement[] = [];
  const runner = new DdlRunner(session);
  let at = 0;
  try {
    for (const statement of session.split(withoutCommands(schema))) {
      at = Math.max(at, schema.indexOf(statement, at));
      const before = new Set(database.catalog.relations());
      const ran = await runner.run(statement);
      const changed = differences(before, new Set(database.catalog.relations()));
      for (const sql of ran) ddl.push({ sql, changed });
      at += statement.length;
    }
  } catch (error) {
    const within = error instanceof SqlError ? error.detail.position : undefined;
    throw new InputError(
      'analyze/schema',
      `the schema does not run: ${error instanceof Error ? error.message : String(error)}`,
      { line: lineAt(schema, at + (within === undefined ? startOf(schema.slice(at)) : within - 1)) },
    );
  } finally {
    session.close();
  }
  return { catalog: database.catalog, dialect, parts: new SchemaParts(ddl), unread: unreadDdl(runner) };
}

/** Characters of space and comments. */
function startOf(text: string): number {
  return /^(?:[\s;]|--[^\n]*|\/\*[^]*?\*\/)*/.exec(text)?.[0].length ?? 0;
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

/** Names of relations that are in one of them: a change of a relation makes another object. */
function differences(before: ReadonlySet<Relation>, after: ReadonlySet<Relation>): ReadonlySet<string> {
  const gone = [...before].filter((relation) => !after.has(relation));
  const made = [...after].filter((relation) => !before.has(relation));
  return new Set([...gone, ...made].map(({ name }) => name));
}

/** The table by its name, with or without its schema; `undefined`: none, or a view. */
export function tableNamed({ catalog, dialect }: Schema, schema: string | undefined, name: string): Table | undefined {
  // A database that the DDL does not create is the one that the application connects to.
  const isOwn = engineRules[dialect].databasesAreSchemas && schema !== undefined && !catalog.hasSchema(schema);
  const found = catalog.relation(isOwn ? 'public' : (schema ?? 'public'), name);
  return found?.kind === 'table' ? found : undefined;
}
