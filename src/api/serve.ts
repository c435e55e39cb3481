/**
 * `moirai/serve`: the mock SQL database behind a port, in this process: what `moirai serve` starts, for a test suite that starts it itself.
 *
 * @example
 * ```ts
 * import { serve } from 'moirai/serve';
 * import { parseProfile } from 'moirai/sql';
 * import pg from 'pg';
 *
 * const server = await serve({
 *   profile: parseProfile({ engine: 'postgres', isolation: 'repeatable read' }),
 *   schema: 'CREATE TABLE accounts (id int PRIMARY KEY, balance int)',
 * });
 * const client = new pg.Client({ connectionString: server.url });
 * await client.connect();
 * await client.query('INSERT INTO accounts VALUES (1, 100)');
 * console.log((await client.query('SELECT balance FROM accounts')).rows[0].balance);
 * // prints: 100
 * await client.end();
 * console.log(server.database.history().transactions.length);
 * // prints: 2
 * await server.close();
 * ```
 * @module
 */
import { type ServedDatabase, serveDatabase, type ServeDatabaseOptions } from '../serve/index.ts';
import { type OptionKinds, requireOptions } from './given-options.ts';
import { databaseOptions, openForUsers, type SqlDatabase, type SqlDatabaseOptions } from './sql-database.ts';

/** Where the database is served, and what it is opened with. */
export interface ServeOptions extends ServeDatabaseOptions, Omit<SqlDatabaseOptions, 'sessionsMax'> {
  /** How long a statement may be held back for others to overlap with, in milliseconds; 0: never. Default 5. */
  readonly windowMs?: number;
}

const { sessionsMax: _ofConnectionsMax, ...ofDatabase } = databaseOptions;
const serveOptions: OptionKinds<ServeOptions> = {
  ...ofDatabase,
  connectionsMax: 'number',
  connectionsPerAddressMax: 'number',
  host: 'string',
  httpPort: 'number',
  idleMs: 'number',
  loginMs: 'number',
  onBug: 'function',
  password: 'string',
  port: 'number',
  windowMs: 'number',
};

/** A mock database that listens. */
export interface ServedSqlDatabase extends ServedDatabase {
  /** The database behind the port, for its history and for clients in this process. */
  readonly database: SqlDatabase;
}

/**
 * Opens a mock SQL database and serves it on a port, by default a free one of 127.0.0.1. `close` ends all connections and frees the port.
 * @throws InputError `serve/address` where a port is taken or the host is not of this machine, `database/schema` where a statement of `schema` fails
 */
export async function serve(options: ServeOptions): Promise<ServedSqlDatabase> {
  requireOptions('serve', options, serveOptions);
  const { host, port, httpPort, password, connectionsMax, connectionsPerAddressMax, loginMs, onBug, ...more } = options;
  const { idleMs, windowMs = 5, ...opened } = more;
  const sessionsMax = connectionsMax === undefined ? {} : { sessionsMax: connectionsMax };
  const { room, database } = await openForUsers({ ...opened, ...sessionsMax }, windowMs);
  try {
    const served = await serveDatabase(room, {
      ...(host === undefined ? {} : { host }),
      ...(port === undefined ? {} : { port }),
      ...(httpPort === undefined ? {} : { httpPort }),
      ...(password === undefined ? {} : { password }),
      ...(connectionsMax === undefined ? {} : { connectionsMax }),
      ...(connectionsPerAddressMax === undefined ? {} : { connectionsPerAddressMax }),
      ...(loginMs === undefined ? {} : { loginMs }),
      ...(idleMs === undefined ? {} : { idleMs }),
      ...(onBug === undefined ? {} : { onBug }),
    });
    const close = async (): Promise<void> => {
      await served.close();
      database.close();
    };
    return { ...served, database, close };
  } catch (error) {
    database.close();
    throw error;
  }
}
