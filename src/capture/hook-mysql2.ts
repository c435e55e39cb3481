/**
 * mysql2: `query` and `execute` of its base connection, where the text still has its placeholders, and `addCommand`, which every command
 * goes through. Its class is not exported; it is the prototype of `Connection` that has `addCommand`.
 */
import type { Recording, RecordedConnection } from './recording.ts';
import type { SchemaRow } from './schema.ts';
import type { StatementResult } from './statement-rows.ts';

type Callback = (error: unknown, rows?: unknown, fields?: unknown, ...rest: unknown[]) => void;

interface MysqlCommand {
  readonly constructor: { readonly name: string };
  readonly sql?: string;
  readonly values?: unknown;
  readonly parameters?: unknown;
  readonly statement?: { readonly query?: string };
  readonly options?: { readonly nestTables?: unknown; readonly rowsAsArray?: boolean };
  onResult?: Callback;
  once: (event: string, listener: (...args: unknown[]) => void) => unknown;
}

interface MysqlConnection {
  readonly threadId?: number | null;
  readonly config: {
    readonly host?: string;
    readonly port?: number;
    readonly database?: string;
    readonly clientFlags: number;
  };
  readonly stream?: { once: (event: 'close', listener: () => void) => unknown };
}

type AddCommand = (this: MysqlConnection, command: MysqlCommand) => MysqlCommand;
type Run = (this: MysqlConnection, ...args: unknown[]) => unknown;

interface BasePrototype {
  addCommand: AddCommand;
  query: Run;
}

interface Text {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** @param mysql2 the module @returns undoes it */
export function hookMysql2(
  mysql2: { readonly Connection: { readonly prototype: object } },
  recording: Recording,
): () => void {
  let found = mysql2.Connection.prototype;
  while (!Object.hasOwn(found, 'addCommand')) found = Object.getPrototypeOf(found) as object;
  const prototype = found as BasePrototype;
  const { addCommand, query } = prototype;
  const connections = new WeakMap<MysqlConnection, RecordedConnection>();
  /** What `query` was called with, until it comes to `addCommand` with the values put into the text. */
  let given: Text | null = null;
  let isOurs = false;
  const connectionOf = (client: MysqlConnection): RecordedConnection => {
    const known = connections.get(client);
    if (known !== undefined) return known;
    const { host = '', port = '', database = '' } = client.config;
    const made = recording.connection(
      recording.database('mysql', `${host}:${port}/${database}`),
      String(client.threadId ?? 'early'),
    );
    connections.set(client, made);
    client.stream?.once('close', () => {
      made.close(recording.now());
    });
    return made;
  };
  prototype.query = function recordedQuery(...args) {
    given = placeholders(args);
    try {
      return query.apply(this, args);
    } finally {
      given = null;
    }
  };
  prototype.addCommand = function recordedCommand(command) {
    const text = isOurs ? null : (given ?? textOf(command));
    given = null;
    if (text === null || !/^(?:Query|Execute)$/.test(command.constructor.name)) return addCommand.call(this, command);
    // The connection has its number when the server has spoken; commands before that wait for it.
    const session = (): RecordedConnection => connectionOf(this);
    if (typeof this.threadId === 'number') {
      const schemaQuery = session().schemaQueryBefore(text.sql);
      if (schemaQuery !== null) {
        isOurs = true;
        try {
          askSchema(this, query, session(), schemaQuery);
        } finally {
          isOurs = false;
        }
      }
    }
    const asked = recording.ask();
    const countsMatched = (this.config.clientFlags & foundRowsFlag) !== 0;
    watch(
      command,
      (outcome) => {
        const end = recording.answered(asked);
        session().recorder.record({ ...text, start: asked.start, end, outcome });
      },
      countsMatched,
    );
    return addCommand.call(this, command);
  };
  return () => {
    prototype.addCommand = addCommand;
    prototype.query = query;
  };
}

const foundRowsFlag = 2;

/** `query(sql, values, callback)` or `query({ sql, values }, callback)`, when the values are plain and stand for `?`. */
function placeholders([first, second]: readonly unknown[]): Text | null {
  const options =
    typeof first === 'object' && first !== null
      ? (first as { sql?: unknown; values?: unknown })
      : { sql: first, values: undefined };
  const values = Array.isArray(second) ? (second as unknown[]) : options.values;
  if (typeof options.sql !== 'string' || !Array.isArray(values)) return null;
  const isPlain = values.every((value) => value === null || /^(?:string|number|bigint|boolean)$/.test(typeof value));
  return isPlain && !options.sql.includes('??') ? { sql: options.sql, parameters: values } : null;
}

function textOf(command: MysqlCommand): Text | null {
  const sql = command.sql ?? command.statement?.query;
  if (typeof sql !== 'string') return null;
  const isExecute = command.constructor.name === 'Execute';
  const parameters = isExecute ? (command.parameters ?? command.values) : [];
  return { sql, parameters: Array.isArray(parameters) ? (parameters as unknown[]) : [] };
}

function askSchema(client: MysqlConnection, query: Run, connection: RecordedConnection, sql: string): void {
  query.call(
    client,
    { sql, rowsAsArray: false, nestTables: false, typeCast: true },
    (error: unknown, rows: unknown) => {
      if (error === null || error === undefined) connection.learn(rows as readonly SchemaRow[]);
      else connection.learn(null, error instanceof Error ? error.message : '');
    },
  );
}

type Outcome =
  | { readonly kind: 'done'; readonly results: readonly StatementResult[] }
  | { readonly kind: 'failed'; readonly code: string }
  | { readonly kind: 'lost' };

function watch(command: MysqlCommand, record: (outcome: Outcome) => void, countsMatched: boolean): void {
  const inner = command.onResult;
  if (typeof inner === 'function') {
    command.onResult = function onResult(this: unknown, error, rows, fields, ...rest) {
      record(error === null || error === undefined ? doneOf(command, rows, fields, countsMatched) : failureOf(error));
      inner.call(this, error, rows, fields, ...rest);
    };
    return;
  }
  // Rows that come as events, one by one: that it has run is known, not what it read.
  let isOver = false;
  const once = (outcome: Outcome): void => {
    if (!isOver) record(outcome);
    isOver = true;
  };
  command.once('error', (error) => once(failureOf(error)));
  command.once('end', () => once({ kind: 'done', results: [] }));
}

function failureOf(error: unknown): Outcome {
  const { errno, sqlState } = error as { errno?: unknown; sqlState?: unknown };
  return typeof errno === 'number' && typeof sqlState === 'string'
    ? { kind: 'failed', code: String(errno) }
    : { kind: 'lost' };
}

function doneOf(command: MysqlCommand, rows: unknown, fields: unknown, countsMatched: boolean): Outcome {
  const { nestTables, rowsAsArray } = command.options ?? {};
  if (nestTables !== undefined && nestTables !== false && nestTables !== null) return { kind: 'done', results: [] };
  // A result of several statements is a list of results with a list of lists of fields.
  const isSeveral =
    Array.isArray(rows) &&
    Array.isArray(fields) &&
    fields.length > 0 &&
    fields.every((each) => each === undefined || Array.isArray(each));
  const lists = isSeveral ? (rows as unknown[]) : [rows];
  const columnLists = isSeveral ? (fields as unknown[]) : [fields];
  return {
    kind: 'done',
    results: lists.map((each, i) => mysqlResult(each, columnLists[i], rowsAsArray === true, countsMatched)),
  };
}

/** Rows with their columns, or the header of a statement that gives none. */
export function mysqlResult(
  rows: unknown,
  fields: unknown,
  rowsAsArray: boolean,
  countsMatched: boolean,
): StatementResult {
  const columns = Array.isArray(fields) ? (fields as { name: string }[]).map(({ name }) => name) : [];
  const list = Array.isArray(rows) ? (rows as (unknown[] & Record<string, unknown>)[]) : [];
  const header = (Array.isArray(rows) ? {} : (rows ?? {})) as {
    affectedRows?: number | bigint;
    insertId?: number | bigint | string;
  };
  return {
    columns,
    rowCount: list.length,
    cell: (row, column) => (rowsAsArray ? list[row]?.[column] : list[row]?.[columns[column] as string]),
    isByName: !rowsAsArray,
    affected: header.affectedRows === undefined ? null : Number(header.affectedRows),
    countsMatched,
    insertId: header.insertId === undefined ? 0n : BigInt(header.insertId),
  };
}
