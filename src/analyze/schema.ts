/** The tables that statements name: the application's DDL, run by the project's own SQL database. */
import { InputError } from '../base/index.ts';
import type { Catalog, Table } from '../sql/index.ts';
import { openSqlDatabase } from '../sql-campaign/index.ts';
import type { Application } from './application.ts';

/** @throws InputError `analyze/schema`, `analyze/dialect` */
export async function readSchema({ dialect, schema }: Application): Promise<Catalog> {
  if (dialect !== 'postgres')
    throw new InputError(
      'analyze/dialect',
      `analyze knows PostgreSQL's levels only; the application's dialect is ${dialect}`,
    );
  const profile = { family: 'engine', engine: dialect, dialect, isolation: 'read committed' } as const;
  const database = await openSqlDatabase({ profile, settle: null });
  const session = database.connect({
    user: 'analyze',
    database: 'postgres',
    parameters: new Map(),
    onParameter: () => {},
  });
  try {
    for (const sql of session.split(schema)) await session.execute(session.prepare(sql), []);
  } catch (error) {
    throw new InputError(
      'analyze/schema',
      `the schema does not run: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    session.close();
  }
  return database.catalog;
}

/** The table by its name, with or without its schema; `undefined`: none, or a view. */
export function tableNamed(catalog: Catalog, schema: string | undefined, name: string): Table | undefined {
  const found = catalog.relation(schema ?? 'public', name);
  return found?.kind === 'table' ? found : undefined;
}
