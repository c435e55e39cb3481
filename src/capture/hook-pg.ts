/**
 * node-postgres (`pg` 8): `Client.prototype.query`, which pools and every library above go through. Cursors and query streams are objects
 * with `submit`; what the protocol gives them is listened to.
 */
/* oxlint-disable no-underscore-dangle -- names of node-postgres */
import {
  type Completion,
  completedText,
  positionBefore,
  rowsWithoutAdded,
  rowWithoutAdded,
  withoutAdded,
} from './complete.ts';
import { messageOf, postgresFailure } from './driver-failure.ts';
import type { StatementEvent } from './statement-event.ts';
import type { Recording, RecordedConnection } from './recording.ts';
import type { SchemaRow } from './schema.ts';
import type { StatementResult } from './statement-rows.ts';

interface PgResult {
  readonly fields: readonly { readonly name: string }[];
  readonly rows: readonly (readonly unknown[] | Readonly<Record<string, unknown>>)[];
  readonly rowCount: number | null;
  readonly _parsers?: readonly unknown[] | undefined;
  readonly _prebuiltEmptyResultObject?: Readonly<Record<string, unknown>> | null;
}

type PgCallback = (error: unknown, result?: PgResult | PgResult[]) => void;
type PgQuery = (this: PgClient, config: unknown, values?: unknown, callback?: unknown) => unknown;

interface PgClient {
  readonly processID: number | null;
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly readyForQuery?: boolean;
  readonly _queryQueue?: object[];
  readonly _types?: unknown;
  readonly _Promise?: PromiseConstructor;
  once: (event: 'end', listener: () => void) => unknown;
}

export interface PgModule {
  readonly Client: { readonly prototype: object };
  readonly Query: new (config: object, values: undefined, callback: PgCallback) => object;
}

/** @param pg the module @returns undoes it */
export function hookPg(pg: PgModule, recording: Recording): () => void {
  const prototype = pg.Client.prototype as { query: PgQuery };
  const original = prototype.query;
  const connectionOf = recording.connectionsOf((client: PgClient) => ({
    database: recording.database('postgres', `${client.host ?? ''}:${client.port ?? ''}/${client.database ?? ''}`),
    id: String(client.processID ?? 'early'),
    onEnd: (listener) => void client.once('end', listener),
  }));
  prototype.query = function query(config, values, callback) {
    const text = textOf(config);
    if (text === null || this.processID === null) return original.call(this, config, values, callback);
    const connection = connectionOf(this);
    const schemaQuery = connection.schemaQueryBefore(text);
    const ask = (): void => {
      if (schemaQuery !== null) askSchema(this, pg, original, connection, schemaQuery);
    };
    // A client that cannot send yet warns of a second query: then ours is put in front of the first one, which waits.
    const isReady = this.readyForQuery === true;
    if (isReady) ask();
    try {
      return send(this, original, recording, connection, text, [config, values, callback]);
    } finally {
      if (!isReady) ask();
    }
  };
  return () => {
    prototype.query = original;
  };
}

function send(
  client: PgClient,
  original: PgQuery,
  recording: Recording,
  connection: RecordedConnection,
  text: string,
  [config, values, callback]: readonly [unknown, unknown, unknown],
): unknown {
  const asked = recording.ask();
  const { start } = asked;
  const parameters = Array.isArray(values) ? (values as unknown[]) : valuesOf(config);
  recording.noteDefinition(asked, connection.database, text, parameters);
  if (
    isSubmittable(config) &&
    typeof config.callback !== 'function' &&
    typeof values !== 'function' &&
    typeof callback !== 'function'
  ) {
    listen(config, (event) => {
      const end = recording.answered(asked);
      connection.recorder.record({ sql: text, parameters: valuesOf(config), start, end, ...event });
    });
    return original.call(client, config, values, callback);
  }
  const completion = keepsText(config) ? null : recording.completionOf(connection.database, text, parameters);
  const sql = completion === null ? text : completedText(text, completion);
  const done = (error: unknown, result: PgResult | PgResult[] | undefined): void => {
    const end = recording.answered(asked);
    connection.recorder.record({ sql, parameters, start, end, outcome: outcomeOf(error, result) });
    if (completion === null) return;
    if (result !== undefined && !Array.isArray(result)) takeOut(result, completion);
    movePosition(error, text, completion);
  };
  const sent = completion === null ? config : withText(config, sql);
  return callRecorded(client, original, [sent, values, callback], done);
}

/** A query object has it already, and of a statement with a name the server may. */
function keepsText(config: unknown): boolean {
  return isSubmittable(config) || (typeof config === 'object' && (config as { name?: unknown }).name !== undefined);
}

function withText(config: unknown, text: string): unknown {
  return typeof config === 'string' ? text : { ...(config as object), text };
}

/** What the application did not ask for is not in its result, nor in what pg keeps there to make rows of. */
function takeOut(result: PgResult, completion: Completion): void {
  const { fields, rows, _parsers: parsers, _prebuiltEmptyResultObject: empty } = result;
  const isAlone = completion.place === 'alone';
  const taken: Partial<PgResult> = {
    fields: withoutAdded(fields, completion),
    rows: rowsWithoutAdded(rows, completion),
  };
  Object.assign(result, taken);
  if (parsers) Object.assign(result, { _parsers: isAlone ? undefined : withoutAdded(parsers, completion) });
  if (empty) Object.assign(result, { _prebuiltEmptyResultObject: isAlone ? null : rowWithoutAdded(empty, completion) });
}

/** `length` is that of the server's message, of which the position is a part. */
function movePosition(error: unknown, text: string, completion: Completion): void {
  const { position, length } = (error ?? {}) as { position?: unknown; length?: unknown };
  if (typeof position !== 'string') return;
  const moved = positionBefore(position, text, completion);
  Object.assign(error as object, { position: moved });
  if (typeof length === 'number') Object.assign(error as object, { length: length - position.length + moved.length });
}

/** With a callback of ours around the caller's; where the caller wants a promise it is ours, so that no rejection is swallowed. */
function callRecorded(
  client: PgClient,
  original: PgQuery,
  [config, values, callback]: readonly [unknown, unknown, unknown],
  done: (error: unknown, result: PgResult | PgResult[] | undefined) => void,
): unknown {
  const wrap =
    (inner: PgCallback): PgCallback =>
    (error, result) => {
      done(error, result);
      inner(error, result);
    };
  if (typeof values === 'function') return original.call(client, config, wrap(values as PgCallback));
  if (typeof callback === 'function') return original.call(client, config, values, wrap(callback as PgCallback));
  const own = typeof config === 'object' ? (config as { callback?: unknown }).callback : undefined;
  if (typeof own === 'function') {
    if (!isSubmittable(config))
      return original.call(client, { ...(config as object), callback: wrap(own as PgCallback) }, values);
    (config as { callback: PgCallback }).callback = wrap(own as PgCallback);
    return original.call(client, config, values);
  }
  const PromiseOfClient = client._Promise ?? Promise;
  return new PromiseOfClient((resolve, reject) => {
    original.call(
      client,
      config,
      values,
      wrap((error, result) => {
        if (error === null || error === undefined) return resolve(result);
        // As pg does: the stack leads to the caller, not to the socket.
        if (error instanceof Error) Error.captureStackTrace(error);
        return reject(error);
      }),
    );
  });
}

function askSchema(
  client: PgClient,
  pg: PgModule,
  original: PgQuery,
  connection: RecordedConnection,
  sql: string,
): void {
  const answer: PgCallback = (error, result) => {
    if (error === null || error === undefined) connection.learn((result as PgResult).rows as readonly SchemaRow[]);
    else connection.learn(null, messageOf(error));
  };
  if (client.readyForQuery === true || client._queryQueue === undefined) {
    original.call(client, sql, answer);
    return;
  }
  const query = new pg.Query({ text: sql }, undefined, answer) as { _result?: { _types?: unknown } };
  if (query._result !== undefined) query._result._types ??= client._types;
  client._queryQueue.unshift(query);
}

interface Submittable {
  readonly submit: unknown;
  readonly text?: string;
  readonly values?: readonly unknown[];
  callback?: unknown;
  readonly cursor?: Submittable;
}

function isSubmittable(config: unknown): config is Submittable {
  return typeof (config as { submit?: unknown } | null)?.submit === 'function';
}

/** `null`: nothing that a server runs. */
function textOf(config: unknown): string | null {
  if (typeof config === 'string') return config;
  const { text, cursor } = (config ?? {}) as { text?: unknown; cursor?: { text?: unknown } };
  const found = text ?? cursor?.text;
  return typeof found === 'string' ? found : null;
}

function valuesOf(config: unknown): readonly unknown[] {
  const { values, cursor } = (config ?? {}) as { values?: unknown; cursor?: { values?: unknown } };
  const found = values ?? cursor?.values;
  return Array.isArray(found) ? (found as unknown[]) : [];
}

type Outcome = StatementEvent['outcome'];

function outcomeOf(error: unknown, result: PgResult | PgResult[] | undefined): Outcome {
  if (error !== null && error !== undefined) return postgresFailure(error);
  const results = Array.isArray(result) ? result : result === undefined ? [] : [result];
  return { kind: 'done', results: results.map(resultOf) };
}

function resultOf({ fields, rows, rowCount }: PgResult): StatementResult {
  const columns = fields.map(({ name }) => name);
  const isByName = !Array.isArray(rows[0]);
  return {
    columns,
    rowCount: rows.length,
    cell: (row, column) =>
      isByName
        ? (rows[row] as Readonly<Record<string, unknown>>)[columns[column] as string]
        : (rows[row] as readonly unknown[])[column],
    isByName,
    affected: rowCount,
    countsMatched: true,
    insertId: 0n,
  };
}

type Handler = (...args: unknown[]) => unknown;

/** What the protocol tells a cursor: columns, rows, the end. Rows that it leaves at the server when it is closed are not known. */
function listen(given: Submittable, record: (event: { readonly outcome: Outcome }) => void): void {
  const query = (given.cursor ?? given) as unknown as Record<string, Handler | undefined>;
  let columns: string[] = [];
  const rows: unknown[][] = [];
  let tag: string | null = null;
  let isOver = false;
  const before = (name: string, tell: (message: never) => void): void => {
    const inner = query[name];
    if (inner === undefined) return;
    query[name] = function handler(this: unknown, ...args: unknown[]): unknown {
      tell(args[0] as never);
      return inner.apply(this, args);
    };
  };
  const finish = (outcome: Outcome): void => {
    if (!isOver) record({ outcome });
    isOver = true;
  };
  before('handleRowDescription', ({ fields }: { fields: readonly { name: string }[] }) => {
    columns = fields.map(({ name }) => name);
  });
  before('handleDataRow', ({ fields }: { fields: unknown[] }) => void rows.push(fields));
  before('handleCommandComplete', ({ text }: { text?: string }) => {
    tag = text ?? '';
  });
  before('handleError', (error: unknown) => finish(postgresFailure(error)));
  before('handleReadyForQuery', () => {
    const result: StatementResult = {
      columns,
      rowCount: rows.length,
      cell: (row, column) => rows[row]?.[column],
      isByName: false,
      isPartial: tag === null,
      affected: tag === null ? null : Number(/\s(\d+)$/.exec(tag)?.[1] ?? 0),
      countsMatched: true,
      insertId: 0n,
    };
    finish({ kind: 'done', results: [result] });
  });
}
