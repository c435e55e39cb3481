/** MariaDB's connector (`mariadb` 3): the methods of its connection class that its promise and pool interfaces go through. */
import { mysqlResult } from './hook-mysql2.ts';
import { messageOf } from './hook-pg.ts';
import type { Recording, RecordedConnection } from './recording.ts';
import type { StatementEvent } from './recorder.ts';
import type { SchemaRow } from './schema.ts';

interface CommandParameter {
  readonly sql: string;
  readonly values?: unknown;
  readonly opts?: RowOptions;
}

interface RowOptions {
  readonly rowsAsArray?: boolean;
  readonly nestTables?: unknown;
  readonly metaAsArray?: boolean;
}

interface MariadbConnection {
  readonly threadId?: number;
  readonly opts: RowOptions & {
    readonly host?: string;
    readonly port?: number;
    readonly database?: string;
    readonly foundRows?: boolean;
  };
  once: (event: 'end', listener: () => void) => unknown;
}

type Method = (
  this: MariadbConnection,
  parameter: CommandParameter,
  resolve: (result: unknown) => void,
  reject: (error: unknown) => void,
) => void;

const methods = ['query', 'prepareExecute', 'changeTransaction'] as const;

/** @param connectionClass of `mariadb/lib/connection.js` @returns undoes it */
export function hookMariadb(connectionClass: { readonly prototype: object }, recording: Recording): () => void {
  const prototype = connectionClass.prototype as Record<(typeof methods)[number], Method>;
  const originals = methods.map((name) => [name, prototype[name]] as const);
  const connections = new WeakMap<MariadbConnection, RecordedConnection>();
  const connectionOf = (client: MariadbConnection): RecordedConnection => {
    const known = connections.get(client);
    if (known !== undefined) return known;
    const { host = '', port = '', database = '' } = client.opts;
    const made = recording.connection(
      recording.database('mysql', `${host}:${port}/${database}`),
      String(client.threadId),
    );
    connections.set(client, made);
    client.once('end', () => {
      made.close(recording.now());
    });
    return made;
  };
  const query = prototype.query;
  for (const [name, original] of originals) {
    prototype[name] = function recorded(parameter, resolve, reject) {
      // While it connects it speaks for itself: character sets, initial statements.
      if (typeof this.threadId !== 'number' || this.threadId < 0 || typeof parameter.sql !== 'string') {
        original.call(this, parameter, resolve, reject);
        return;
      }
      const connection = connectionOf(this);
      const schemaQuery = connection.schemaQueryBefore(parameter.sql);
      if (schemaQuery !== null) askSchema(this, query, connection, schemaQuery);
      const parameters = Array.isArray(parameter.values) ? (parameter.values as unknown[]) : [];
      const start = recording.now();
      const record = (outcome: StatementEvent['outcome']): void => {
        connection.recorder.record({ sql: parameter.sql, parameters, start, end: recording.now(), outcome });
      };
      original.call(
        this,
        parameter,
        (result) => {
          record(doneOf(result, { ...this.opts, ...parameter.opts }, this.opts.foundRows !== false));
          resolve(result);
        },
        (error) => {
          record(failureOf(error));
          reject(error);
        },
      );
    };
  }
  return () => {
    for (const [name, original] of originals) prototype[name] = original;
  };
}

function askSchema(client: MariadbConnection, query: Method, connection: RecordedConnection, sql: string): void {
  query.call(
    client,
    { sql, opts: { rowsAsArray: false, nestTables: false, metaAsArray: false } },
    (rows) => connection.learn(rows as readonly SchemaRow[]),
    (error) => connection.learn(null, messageOf(error)),
  );
}

function failureOf(error: unknown): StatementEvent['outcome'] {
  const { errno, fatal } = error as { errno?: number; fatal?: boolean };
  // Numbers of the connector itself begin at 45000.
  return fatal !== true && errno !== undefined && errno < 45_000
    ? { kind: 'failed', code: String(errno) }
    : { kind: 'lost' };
}

interface Rows {
  readonly meta?: readonly { readonly name: () => string }[];
}

function doneOf(result: unknown, options: RowOptions, countsMatched: boolean): StatementEvent['outcome'] {
  if (options.nestTables !== undefined && options.nestTables !== false) return { kind: 'done', results: [] };
  const rows = options.metaAsArray === true ? (result as unknown[])[0] : result;
  const meta =
    options.metaAsArray === true ? ((result as unknown[])[1] as Rows['meta']) : (rows as Rows | undefined)?.meta;
  const fields = Array.isArray(rows) ? (meta?.map((column) => ({ name: column.name() })) ?? []) : [];
  // Several statements in one text give a list without columns.
  if (Array.isArray(rows) && meta === undefined) return { kind: 'done', results: [] };
  return { kind: 'done', results: [mysqlResult(rows, fields, options.rowsAsArray === true, countsMatched)] };
}
