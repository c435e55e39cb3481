/** Sessions in this process without a protocol between: SQL in, rows out. */
import type { SqlValue } from '../sql/model/index.ts';
import type { StatementResult } from '../sql/index.ts';
import { openSqlDatabase, type SqlDatabase } from './database.ts';
import { parseProfile, type ProfileOptions, type SqlDatabaseOptions } from './instance/index.ts';
import type { Session } from './sql-session.ts';

export interface TestSession {
  readonly session: Session;
  /** Rejects with the SqlError. */
  readonly run: (sql: string) => Promise<StatementResult>;
  readonly rows: (sql: string) => Promise<readonly (readonly SqlValue[])[]>;
  /** The code of the error, or what the command was. */
  readonly outcome: (sql: string) => Promise<string>;
}

export function openDatabase(
  profile: ProfileOptions = {},
  options: Partial<SqlDatabaseOptions> = {},
): Promise<SqlDatabase> {
  return openSqlDatabase({ profile: parseProfile(profile), holdsBack: 'never', ...options });
}

/** @param name in histories */
export function connected(database: SqlDatabase, parameters: Record<string, string> = {}, name?: string): TestSession {
  const options = {
    user: 'test',
    database: 'test',
    parameters: new Map(Object.entries(parameters)),
    onParameter: () => {},
  };
  const session = database.connect(options, name);
  const run = async (sql: string): Promise<StatementResult> => {
    try {
      return await session.execute(session.prepare(sql), []);
    } catch (error) {
      // As the conversations do, for what could not even be read.
      session.fail(error);
      throw error;
    }
  };
  return {
    session,
    run,
    rows: async (sql) => (await run(sql)).rows,
    outcome: async (sql) => {
      try {
        return (await run(sql)).command;
      } catch (error) {
        return (error as { code: string }).code;
      }
    },
  };
}
