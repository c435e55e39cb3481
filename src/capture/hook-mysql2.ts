/**
 * mysql2: `query` and `execute` of its base connection, where the text still has its placeholders, and `addCommand`, which every command
 * goes through; `execute` adds two, a Prepare and an Execute. Its class is not exported; it is the prototype of `Connection` that has
 * `addCommand`.
 */
/* oxlint-disable no-underscore-dangle -- names of mysql2 */
import { type Completion, completedText, rowsWithoutAdded, withoutAdded } from './complete.ts';
import { messageOf } from './driver-failure.ts';
import { mysqlResult } from './mysql-result.ts';
import type { Asked, Recording, RecordedConnection } from './recording.ts';
import type { DatabaseRecorder } from './database-recorder.ts';
import type { StatementEvent } from './statement-event.ts';
import type { SchemaRow } from './schema.ts';

type Callback = (error: unknown, rows?: unknown, fields?: unknown, ...rest: unknown[]) => void;

interface MysqlCommand {
  readonly constructor: { readonly name: string };
  sql?: string;
  /** Of a Prepare. */
  query?: string;
  readonly values?: unknown;
  readonly parameters?: unknown;
  readonly statement?: { readonly query?: string };
  options?: RowOptions;
  readonly _queryOptions?: RowOptions;
  onResult?: Callback;
  start: (...args: unknown[]) => unknown;
  emit: (event: string, ...args: unknown[]) => boolean;
  once: (event: string, listener: (...args: unknown[]) => void) => unknown;
}

interface RowOptions {
  readonly nestTables?: unknown;
  readonly rowsAsArray?: boolean;
  readonly typeCast?: unknown;
}

interface MysqlConnection {
  readonly threadId?: number | null;
  readonly config: RowOptions & {
    readonly queryFormat?: unknown;
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
  execute: Run;
}

interface Text {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** A statement that is on its way. */
interface Sent {
  readonly text: Text;
  readonly asked: Asked;
  readonly completion: Completion | null;
}

/** What is known of a call of `execute` while it adds its commands, and until they are done. */
interface Execution {
  readonly hasCallback: boolean;
  sent: Sent | null;
  /** Of its Prepare: the Execute is then not run. */
  error: unknown;
}

/** @param mysql2 the module @returns undoes it */
export function hookMysql2(
  mysql2: { readonly Connection: { readonly prototype: object } },
  recording: Recording,
): () => void {
  let found = mysql2.Connection.prototype;
  while (!Object.hasOwn(found, 'addCommand')) found = Object.getPrototypeOf(found) as object;
  const prototype = found as BasePrototype;
  const { addCommand, query, execute } = prototype;
  const commands = new Commands(recording, query);
  prototype.query = function recordedQuery(...args) {
    return commands.duringQuery(args, () => query.apply(this, args));
  };
  prototype.execute = function recordedExecute(...args) {
    return commands.duringExecute(args, () => execute.apply(this, args));
  };
  prototype.addCommand = function recordedCommand(command) {
    commands.before(this, command);
    return addCommand.call(this, command);
  };
  return () => {
    Object.assign(prototype, { addCommand, query, execute });
  };
}

/** The commands that calls of `query` and `execute` add, and those that come without one. */
class Commands {
  readonly #recording: Recording;
  readonly #query: Run;
  readonly #connectionOf: (client: MysqlConnection) => RecordedConnection;
  /** The arguments of `query`, kept until `addCommand` gets its command, whose text has the values in it. */
  #given: Text | null = null;
  #execution: Execution | null = null;
  #isOurs = false;

  constructor(recording: Recording, query: Run) {
    this.#recording = recording;
    this.#query = query;
    this.#connectionOf = recording.connectionsOf((client: MysqlConnection) => ({
      database: databaseOf(client, recording),
      id: String(client.threadId ?? 'early'),
      onEnd: (listener) => void client.stream?.once('close', listener),
    }));
  }

  duringQuery<T>(args: readonly unknown[], run: () => T): T {
    this.#given = placeholders(args);
    try {
      return run();
    } finally {
      this.#given = null;
    }
  }

  duringExecute<T>(args: readonly unknown[], run: () => T): T {
    const hasCallback = args.some((each) => typeof each === 'function');
    this.#execution = { hasCallback, sent: null, error: null };
    try {
      return run();
    } finally {
      this.#execution = null;
    }
  }

  before(client: MysqlConnection, command: MysqlCommand): void {
    const text = this.#given ?? textOf(command);
    this.#given = null;
    if (text === null || this.#isOurs) return;
    const execution = this.#execution;
    const { name } = command.constructor;
    if (name === 'Prepare' && execution !== null) {
      execution.sent = this.#send(client, text, execution.hasCallback && canTakeOut(command.options, client));
      prepareForExecute(command, execution, execution.sent);
    } else if (name === 'Query') {
      const mayComplete = command.onResult !== undefined && canTakeOut(command._queryOptions, client);
      const sent = this.#send(client, text, mayComplete);
      if (sent.completion !== null) sendCompleted(command, sent.completion);
      this.#watch(client, command, sent, null);
    } else if (name === 'Execute') {
      this.#watch(client, command, execution?.sent ?? this.#send(client, text, false), execution);
    }
  }

  #send(client: MysqlConnection, text: Text, mayComplete: boolean): Sent {
    // The connection has its number when the server has spoken; commands before that wait for it.
    if (typeof client.threadId === 'number') this.#askSchema(client, text.sql);
    const asked = this.#recording.ask();
    const database = databaseOf(client, this.#recording);
    this.#recording.noteDefinition(asked, database, text.sql, text.parameters);
    const completion = mayComplete ? this.#recording.completionOf(database, text.sql, text.parameters) : null;
    return { text, asked, completion };
  }

  #askSchema(client: MysqlConnection, sql: string): void {
    const connection = this.#connectionOf(client);
    const schemaQuery = connection.schemaQueryBefore(sql);
    if (schemaQuery === null) return;
    this.#isOurs = true;
    try {
      askSchema(client, this.#query, connection, schemaQuery);
    } finally {
      this.#isOurs = false;
    }
  }

  #watch(client: MysqlConnection, command: MysqlCommand, sent: Sent, execution: Execution | null): void {
    const countsMatched = (client.config.clientFlags & foundRowsFlag) !== 0;
    watch(command, sent, execution, countsMatched, (outcome) => {
      const { text, asked, completion } = sent;
      const end = this.#recording.answered(asked);
      const sql = completion === null ? text.sql : completedText(text.sql, completion);
      const { parameters } = text;
      this.#connectionOf(client).recorder.record({ sql, parameters, start: asked.start, end, outcome });
    });
  }
}

function databaseOf({ config }: MysqlConnection, recording: Recording): DatabaseRecorder {
  const { host = '', port = '', database = '' } = config;
  return recording.database('mysql', `${host}:${port}/${database}`);
}

/** Not where the application has a word in how a row is made, or a text. */
function canTakeOut(options: RowOptions = {}, { config }: MysqlConnection): boolean {
  const { nestTables = config.nestTables } = options;
  const isNested = nestTables !== undefined && nestTables !== false && nestTables !== null;
  return (
    ![options.typeCast, config.typeCast, config.queryFormat].some((each) => typeof each === 'function') && !isNested
  );
}

/** The command has another text only while it is sent: errors and the application see the original. */
function sendCompleted(command: MysqlCommand, completion: Completion): void {
  const { start, emit } = command;
  command.start = function startCompleted(...args) {
    const { sql = '' } = command;
    command.sql = completedText(sql, completion);
    try {
      return start.apply(command, args);
    } finally {
      command.sql = sql;
    }
  };
  command.emit = function emitOwn(event, ...args) {
    const [first] = args;
    const isFields = event === 'fields' && Array.isArray(first);
    return isFields
      ? emit.call(command, event, withoutAdded(first, completion), ...args.slice(1))
      : emit.call(command, event, ...args);
  };
}

/** The statement is prepared, and kept by the driver, under the text that is sent: `prepare` of the application's text is another one. */
function prepareForExecute(command: MysqlCommand, execution: Execution, { text, completion }: Sent): void {
  if (completion !== null) {
    const sql = completedText(text.sql, completion);
    command.query = sql;
    command.options = { ...command.options, sql } as RowOptions;
  }
  const inner = command.onResult;
  command.onResult = function onPrepared(this: unknown, error, ...rest) {
    if (error !== null && error !== undefined) {
      execution.error = error;
      if (completion !== null) Object.assign(error, { sql: text.sql });
    }
    inner?.call(this, error, ...rest);
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
  const sql = command.sql ?? command.statement?.query ?? command.query;
  if (typeof sql !== 'string') return null;
  const { name } = command.constructor;
  const prepared = (command.options as { readonly values?: unknown } | undefined)?.values;
  const parameters = name === 'Execute' ? (command.parameters ?? command.values) : name === 'Prepare' ? prepared : [];
  return { sql, parameters: Array.isArray(parameters) ? (parameters as unknown[]) : [] };
}

function askSchema(client: MysqlConnection, query: Run, connection: RecordedConnection, sql: string): void {
  query.call(
    client,
    { sql, rowsAsArray: false, nestTables: false, typeCast: true },
    (error: unknown, rows: unknown) => {
      if (error === null || error === undefined) connection.learn(rows as readonly SchemaRow[]);
      else connection.learn(null, messageOf(error));
    },
  );
}

type Outcome = StatementEvent['outcome'];

function watch(
  command: MysqlCommand,
  { completion }: Sent,
  execution: Execution | null,
  countsMatched: boolean,
  record: (outcome: Outcome) => void,
): void {
  let isOver = false;
  const once = (outcome: Outcome): void => {
    if (!isOver) record(outcome);
    isOver = true;
  };
  const inner = command.onResult;
  if (typeof inner === 'function') {
    command.onResult = function onResult(this: unknown, ...args) {
      const [error, rows, fields, ...rest] = args;
      const isDone = error === null || error === undefined;
      once(isDone ? doneOf(command, rows, fields, countsMatched) : failureOf(error));
      if (completion === null || !Array.isArray(rows)) inner.apply(this, args);
      else inner.call(this, error, rowsWithoutAdded(rows, completion), withoutAdded(fields as [], completion), ...rest);
    };
    // The application learns of what cannot be prepared past the command.
    command.once('end', () => {
      if (execution !== null && execution.error !== null) once(failureOf(execution.error));
    });
    return;
  }
  // Rows that come as events, one by one: that it has run is known, not what it read.
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
