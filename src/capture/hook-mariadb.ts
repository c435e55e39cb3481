/**
 * MariaDB's connector (`mariadb` 3): every command of its promise, callback and pool interfaces, of prepared statements, batches and streams goes
 * into a connection's queue through one of two methods.
 */
import { mysqlResult } from './hook-mysql2.ts';
import { messageOf } from './hook-pg.ts';
import type { Recording, RecordedConnection } from './recording.ts';
import type { StatementEvent } from './recorder.ts';
import type { SchemaRow } from './schema.ts';

interface MariadbCommand {
  readonly constructor: { readonly name: string };
  readonly sql?: string;
  readonly initialValues?: unknown;
  readonly opts?: RowOptions;
  /** Rows go to it one by one and are not kept. */
  readonly inStream?: unknown;
  resolve: ((result: unknown) => void) | null;
  reject: ((error: unknown) => void) | null;
}

interface RowOptions {
  readonly rowsAsArray?: boolean;
  readonly nestTables?: unknown;
  readonly metaAsArray?: boolean;
}

interface MariadbConnection {
  readonly threadId?: number | null;
  readonly opts: {
    readonly host?: string;
    readonly port?: number;
    readonly database?: string;
    readonly foundRows?: boolean;
  };
  query: (parameter: object, resolve: (result: unknown) => void, reject: (error: unknown) => void) => void;
  once: (event: 'end', listener: () => void) => unknown;
}

type AddCommand = (this: MariadbConnection, command: MariadbCommand, expectsResponse: boolean) => void;

const methods = ['addCommandEnable', 'addCommandEnablePipeline'] as const;
/** Those that run a statement; Stream and ExecuteStream are a query's and a prepared statement's. */
const running: ReadonlySet<string> = new Set(['Query', 'Execute', 'Stream', 'ExecuteStream', 'BatchBulk']);

/** @param connectionClass of `mariadb/lib/connection.js` @returns undoes it */
export function hookMariadb(connectionClass: { readonly prototype: object }, recording: Recording): () => void {
  const prototype = connectionClass.prototype as Record<(typeof methods)[number], AddCommand>;
  const originals = methods.map((name) => [name, prototype[name]] as const);
  const connections = new WeakMap<MariadbConnection, RecordedConnection>();
  let isOurs = false;
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
  for (const [name, original] of originals) {
    prototype[name] = function recorded(command, expectsResponse) {
      const isRunning = running.has(command.constructor.name) && typeof command.sql === 'string';
      // While it connects it speaks for itself: character sets, initial statements.
      if (isRunning && !isOurs && typeof this.threadId === 'number' && this.threadId >= 0) {
        const connection = connectionOf(this);
        const schemaQuery = connection.schemaQueryBefore(command.sql ?? '');
        if (schemaQuery !== null) {
          isOurs = true;
          try {
            askSchema(this, connection, schemaQuery);
          } finally {
            isOurs = false;
          }
        }
        watch(command, connection, recording, this.opts.foundRows !== false);
      }
      original.call(this, command, expectsResponse);
    };
  }
  return () => {
    for (const [name, original] of originals) prototype[name] = original;
  };
}

function askSchema(client: MariadbConnection, connection: RecordedConnection, sql: string): void {
  client.query(
    { sql, opts: { rowsAsArray: false, nestTables: false, metaAsArray: false } },
    (rows) => connection.learn(rows as readonly SchemaRow[]),
    (error) => connection.learn(null, messageOf(error)),
  );
}

/** The command calls the one or the other, once; an answer that comes twice is of the same statement. */
function watch(
  command: MariadbCommand,
  connection: RecordedConnection,
  recording: Recording,
  countsMatched: boolean,
): void {
  const { sql = '', initialValues, resolve, reject } = command;
  const parameters = Array.isArray(initialValues) ? (initialValues as unknown[]) : [];
  const asked = recording.ask();
  let isOver = false;
  const record = (outcome: StatementEvent['outcome']): void => {
    if (isOver) return;
    isOver = true;
    const end = recording.answered(asked);
    connection.recorder.record({ sql, parameters, start: asked.start, end, outcome });
  };
  // Of a batch one statement's worth of values is not what was written.
  const isWhole = command.constructor.name !== 'BatchBulk';
  command.resolve = (result) => {
    const isKept = isWhole && (command.inStream === undefined || !Array.isArray(result));
    record(isKept ? doneOf(result, command.opts ?? {}, countsMatched) : { kind: 'done', results: [] });
    resolve?.(result);
  };
  command.reject = (error) => {
    record(failureOf(error));
    reject?.(error);
  };
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
