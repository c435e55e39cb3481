/**
 * MariaDB's connector (`mariadb` 3): every command of its promise, callback and pool interfaces, of prepared statements, batches and streams goes
 * into a connection's queue through one of two methods. What `execute` of a connection asks for comes through `prepareExecute` before.
 */
import { type Completion, completedText, rowsWithoutAdded, rowWithoutAdded, withoutAdded } from './complete.ts';
import { messageOf } from './driver-failure.ts';
import { mysqlResult } from './mysql-result.ts';
import type { Recording, RecordedConnection } from './recording.ts';
import type { DatabaseRecorder } from './database-recorder.ts';
import type { StatementEvent } from './statement-event.ts';
import type { SchemaRow } from './schema.ts';

/** What a command is made of; a Prepare and its Execute share one. */
interface CommandParameters {
  sql: string;
  readonly values?: unknown;
  readonly callback?: unknown;
  readonly opts?: RowOptions;
  /** Of a Prepare: what is sent right behind it. */
  readonly executeCommand?: object;
}

interface MariadbCommand {
  readonly constructor: { readonly name: string };
  readonly cmdParam: CommandParameters;
  sql?: string;
  readonly initialValues?: unknown;
  readonly opts?: RowOptions;
  /** Rows go to it one by one and are not kept. */
  readonly inStream?: unknown;
  resolve: ((result: unknown) => void) | null;
  reject: ((error: unknown) => void) | null;
  start: (...args: unknown[]) => unknown;
  sendCancelled: (...args: unknown[]) => unknown;
  displaySql: () => string;
  emit: (event: string, ...args: unknown[]) => boolean;
}

interface RowOptions {
  readonly rowsAsArray?: boolean;
  readonly nestTables?: unknown;
  readonly metaAsArray?: boolean;
  readonly metaEnumerable?: boolean;
  readonly typeCast?: unknown;
  readonly namedPlaceholders?: boolean;
  readonly logger?: { readonly query?: unknown };
}

interface MariadbConnection {
  readonly threadId?: number | null;
  readonly opts: RowOptions & {
    readonly host?: string;
    readonly port?: number;
    readonly database?: string;
    readonly foundRows?: boolean;
  };
  query: (parameter: object, resolve: (result: unknown) => void, reject: (error: unknown) => void) => void;
  once: (event: 'end', listener: () => void) => unknown;
}

type PrepareExecute = (this: MariadbConnection, parameters: CommandParameters, ...callbacks: unknown[]) => void;
type AddCommand = (this: MariadbConnection, command: MariadbCommand, expectsResponse: boolean) => void;

const methods = ['addCommandEnable', 'addCommandEnablePipeline'] as const;
/** Those that run a statement; Stream and ExecuteStream are a query's and a prepared statement's. */
const running: ReadonlySet<string> = new Set(['Query', 'Execute', 'Stream', 'ExecuteStream', 'BatchBulk']);

/** A statement whose text is not the application's. */
interface Completed {
  readonly sql: string;
  readonly completion: Completion;
}

/** @param connectionClass of `mariadb/lib/connection.js` @returns undoes it */
export function hookMariadb(connectionClass: { readonly prototype: object }, recording: Recording): () => void {
  const prototype = connectionClass.prototype as Record<(typeof methods)[number], AddCommand> & {
    prepareExecute: PrepareExecute;
  };
  const { prepareExecute } = prototype;
  const originals = methods.map((name) => [name, prototype[name]] as const);
  const executed = new WeakMap<CommandParameters, Completed>();
  const failures = new WeakMap<object, (error: unknown) => void>();
  let isOurs = false;
  const connectionOf = recording.connectionsOf((client: MariadbConnection) => ({
    database: databaseOf(client, recording),
    id: String(client.threadId),
    onEnd: (listener) => void client.once('end', listener),
  }));
  const beforeStatement = (client: MariadbConnection, sql: string): void => {
    const connection = connectionOf(client);
    const schemaQuery = connection.schemaQueryBefore(sql);
    if (schemaQuery === null) return;
    isOurs = true;
    try {
      askSchema(client, connection, schemaQuery);
    } finally {
      isOurs = false;
    }
  };
  prototype.prepareExecute = function recordedExecute(parameters, ...callbacks) {
    const { sql, opts = {} } = parameters;
    const completion =
      typeof sql === 'string' && canTakeOut(opts, this.opts)
        ? recording.completionOf(databaseOf(this, recording), sql, valuesOf(parameters.values))
        : null;
    if (completion !== null) {
      executed.set(parameters, { sql, completion });
      // The driver keeps what is prepared under its text: `prepare` of the application's text is another one.
      parameters.sql = completedText(sql, completion);
    }
    prepareExecute.call(this, parameters, ...callbacks);
  };
  for (const [name, original] of originals) {
    prototype[name] = function recorded(command, expectsResponse) {
      const kind = command.constructor.name;
      const known = executed.get(command.cmdParam);
      // While it connects it speaks for itself: character sets, initial statements.
      const isOpen = typeof this.threadId === 'number' && this.threadId >= 0;
      if (kind === 'Prepare' && isOpen) {
        if (known !== undefined) hideText(command, known);
        // The application continues with this error; that of the command behind it, which runs nothing, comes later.
        const { reject, cmdParam } = command;
        command.reject = (error) => {
          failures.get(cmdParam.executeCommand ?? {})?.(error);
          reject?.(error);
        };
      } else if (running.has(kind) && typeof command.sql === 'string' && !isOurs && isOpen) {
        if (known !== undefined) command.sql = known.sql;
        beforeStatement(this, command.sql);
        const completed = known ?? (kind === 'Query' ? completeQuery(command, this, recording) : null);
        const countsMatched = this.opts.foundRows !== false;
        failures.set(command, watch(command, connectionOf(this), recording, countsMatched, completed));
      }
      original.call(this, command, expectsResponse);
    };
  }
  return () => {
    Object.assign(prototype, Object.fromEntries(originals), { prepareExecute });
  };
}

function databaseOf({ opts }: MariadbConnection, recording: Recording): DatabaseRecorder {
  const { host = '', port = '', database = '' } = opts;
  return recording.database('mysql', `${host}:${port}/${database}`);
}

function valuesOf(values: unknown): readonly unknown[] {
  return Array.isArray(values) ? (values as unknown[]) : [];
}

/** Not where the application decides how a row is made, or gets the text. */
function canTakeOut(own: RowOptions, common: RowOptions): boolean {
  const { nestTables = common.nestTables, typeCast = common.typeCast, logger = common.logger } = own;
  const { namedPlaceholders = common.namedPlaceholders } = own;
  const isNested = nestTables !== undefined && nestTables !== false;
  const isTold = [typeCast, logger?.query].some((each) => typeof each === 'function');
  return !isNested && !isTold && namedPlaceholders !== true;
}

function completeQuery(command: MariadbCommand, client: MariadbConnection, recording: Recording): Completed | null {
  const { sql = '', initialValues, cmdParam } = command;
  // The callback interface gives its commands a method of their own; without a callback rows go to listeners.
  const isListened = Object.hasOwn(command, 'handleNewRows') && typeof cmdParam.callback !== 'function';
  if (isListened || !canTakeOut(cmdParam.opts ?? {}, client.opts)) return null;
  const completion = recording.completionOf(databaseOf(client, recording), sql, valuesOf(initialValues));
  if (completion === null) return null;
  sendCompleted(command, completedText(sql, completion));
  tellOwn(command, completion);
  return { sql, completion };
}

/** Only while it is sent has the command another text: errors and logs have its own. */
function sendCompleted(command: MariadbCommand, text: string): void {
  const { start, sendCancelled } = command;
  command.start = (...args) => withText(command, text, () => start.apply(command, args));
  const { sql = '' } = command;
  command.sendCancelled = (...args) => withText(command, sql, () => sendCancelled.apply(command, args));
}

function withText<T>(command: MariadbCommand, text: string, run: () => T): T {
  const { sql = '' } = command;
  command.sql = text;
  try {
    return run();
  } finally {
    command.sql = sql;
  }
}

/** Events of the callback interface. */
function tellOwn(command: MariadbCommand, completion: Completion): void {
  const { emit } = command;
  command.emit = (event, ...args) => {
    const [first] = args;
    if (event === 'fields' && Array.isArray(first)) return emit.call(command, event, withoutAdded(first, completion));
    if (event === 'data') return emit.call(command, event, rowWithoutAdded(first as object, completion));
    return emit.call(command, event, ...args);
  };
}

/** A Prepare has the completed text, and errors that it makes say so. */
function hideText(command: MariadbCommand, { sql, completion }: Completed): void {
  const { displaySql, reject } = command;
  command.displaySql = () => withText(command, sql, () => displaySql.call(command));
  command.reject = (error) => {
    const fields = error as Record<string, unknown>;
    for (const name of ['message', 'sql', 'stack']) {
      const text = fields[name];
      if (typeof text === 'string') fields[name] = text.replace(completedText(sql, completion), () => sql);
    }
    reject?.(error);
  };
}

function askSchema(client: MariadbConnection, connection: RecordedConnection, sql: string): void {
  client.query(
    { sql, opts: { rowsAsArray: false, nestTables: false, metaAsArray: false } },
    (rows) => connection.learn(rows as readonly SchemaRow[]),
    (error) => connection.learn(null, messageOf(error)),
  );
}

/** The command calls the one or the other, once; an answer that comes twice is of the same statement. @returns tells of a failure */
function watch(
  command: MariadbCommand,
  connection: RecordedConnection,
  recording: Recording,
  countsMatched: boolean,
  completed: Completed | null,
): (error: unknown) => void {
  const { sql: text = '', initialValues, resolve, reject } = command;
  const parameters = valuesOf(initialValues);
  const asked = recording.ask();
  recording.noteDefinition(asked, connection.database, text, parameters);
  const sql = completed === null ? text : completedText(text, completed.completion);
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
    const options = command.opts ?? {};
    record(isKept ? doneOf(result, options, countsMatched) : { kind: 'done', results: [] });
    resolve?.(completed === null ? result : takenOut(result, options, completed.completion));
  };
  const fail = (error: unknown): void => record(failureOf(error));
  command.reject = (error) => {
    fail(error);
    reject?.(error);
  };
  return fail;
}

/** Rows with their columns as a property or beside them. */
function takenOut(
  result: unknown,
  { metaAsArray = false, metaEnumerable = false }: RowOptions,
  completion: Completion,
): unknown {
  if (!Array.isArray(result)) return result;
  if (metaAsArray) {
    const [rows, meta] = result as [object[], unknown[]];
    return [rowsWithoutAdded(rows, completion), withoutAdded(meta, completion)];
  }
  const rows = result as object[] & { readonly meta: readonly unknown[] };
  return Object.defineProperty(rowsWithoutAdded(rows, completion), 'meta', {
    value: withoutAdded(rows.meta, completion),
    writable: true,
    enumerable: metaEnumerable,
  });
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
