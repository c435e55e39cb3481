/**
 * The mock database over HTTP with JSON: sessions, transactions, SQL, a key-value table, and the admin commands. For clients without a
 * driver, and for the test harness around those with one.
 *
 *     POST   /sessions                       {"session":1}
 *     POST   /sessions/1/sql                 {"sql":"select $1::int","parameters":[7]} -> {"columns":["int4"],"rows":[[7]],"rowCount":1,...}
 *     POST   /sessions/1/begin               {"isolation":"serializable"};  also /commit, /rollback
 *     GET    /sessions/1/keys/cart           the value of a key, `null` where there is none;  PUT sets it to the JSON value that is sent
 *     DELETE /sessions/1                     rolls back what is open
 *     POST   /admin/reset, /admin/start, /admin/seed/7, /admin/level/causal
 *     GET    /admin/history, /admin/choices  JSON Lines
 *
 * Errors are `{"error":{"code":"40001","message":"..."}}` with 400, 401 (a password is asked for), 403 (`sender.ts`), 404, 405, 409 (run the transaction
 * again; or the session still answers another request), 413, 415 or 503.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { InputError } from '../../base/index.ts';
import { type Dialect, SqlError } from '../../sql/model/index.ts';
import type { StatementResult } from '../../sql/index.ts';
import { parseAdminCommand, type SqlDatabase, type Session } from '../../database/index.ts';
import { HttpError } from './http-error.ts';
import { getKey, putKey } from './keys.ts';
import { OpenSessions, type OpenSessionsOptions } from './open-sessions.ts';
import { checkSender, type SenderOptions } from './sender.ts';
import { jsonRows, parametersOf } from './values.ts';

export interface HttpOptions extends SenderOptions, OpenSessionsOptions {
  /** How long a connection may take to send a request, in milliseconds; then it is cut off. Default: as long as it likes. */
  readonly loginMs?: number;
  /** Called with bugs of ours; the client gets an internal error. */
  readonly onBug?: (error: unknown) => void;
}

const bodyBytesMax = 1 << 20;

/** A server that does not listen yet. */
export function httpInterface(database: SqlDatabase, options: HttpOptions = {}): Server {
  const sessions = new OpenSessions(database, options);
  const server = createServer((request, response) => {
    request.socket.setTimeout(0);
    void answer(database, sessions, options, request, response);
  });
  server.on('connection', (socket) => socket.setTimeout(options.loginMs ?? 0, () => socket.destroy()));
  server.on('close', () => sessions.endAll());
  return server;
}

async function answer(
  database: SqlDatabase,
  sessions: OpenSessions,
  options: HttpOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    checkSender(request.headers, options);
    const path = pathOf(request.url ?? '/');
    const body = await bodyOf(request);
    send(response, 200, await route(database, sessions, request.method ?? 'GET', path, body));
  } catch (error) {
    const status = statusOf(error);
    if (status === 500 && !request.destroyed) options.onBug?.(error);
    send(response, status, errorBody(error));
  }
}

function pathOf(url: string): string[] {
  const [path = ''] = url.split('?');
  return path.split('/').slice(1).map(decodeURIComponent);
}

type Reply = { readonly text: string } | { readonly json: unknown };

async function route(
  database: SqlDatabase,
  sessions: OpenSessions,
  method: string,
  path: readonly string[],
  body: unknown,
): Promise<Reply> {
  const [first, second = ''] = path;
  if (first === 'admin') return adminReply(database, method, path.slice(1));
  if (first !== 'sessions') throw notFound(path);
  if (second === '') {
    if (method !== 'POST') throw new HttpError(405, 'http/method', 'sessions takes POST');
    return { json: { session: sessions.open() } };
  }
  const session = sessions.get(second);
  if (path.length === 2 && method === 'DELETE') {
    sessions.end(session);
    return { json: {} };
  }
  return sessions.use(session, async () => {
    try {
      return { json: await converse(database, session, method, path, body) };
    } catch (error) {
      if (!(error instanceof HttpError || error instanceof URIError)) session.refused(error, sqlOf(body));
      // What could not even be read is an error of the transaction, too.
      session.fail(error);
      throw error;
    }
  });
}

async function converse(
  database: SqlDatabase,
  session: Session,
  method: string,
  path: readonly string[],
  body: unknown,
): Promise<unknown> {
  const [, , what, ...key] = path;
  if (what === 'keys' && key.join('') !== '') {
    if (method === 'GET') return getKey(database, session, key.join('/'));
    if (method === 'PUT') return putKey(database, session, key.join('/'), body ?? null);
    throw new HttpError(405, 'http/method', 'a key takes GET and PUT');
  }
  if (path.length !== 3 || !['sql', 'begin', 'commit', 'rollback'].includes(what as string)) throw notFound(path);
  if (method !== 'POST') throw new HttpError(405, 'http/method', `${what as string} takes POST`);
  if (what === 'sql') return runSql(session, body, database.dialect);
  if (what !== 'begin') return jsonResult(await execute(session, what as string, []), database.dialect);
  await begin(database, session, body);
  return { command: 'BEGIN', rowCount: 0 };
}

function adminReply(database: SqlDatabase, method: string, words: readonly string[]): Reply {
  const command = parseAdminCommand(words.join(' '));
  const isRead = command.kind === 'history' || command.kind === 'choices';
  if (isRead !== (method === 'GET'))
    throw new HttpError(405, 'http/method', `${words.join('/')} takes ${isRead ? 'GET' : 'POST'}`);
  if (command.kind === 'strong-reads')
    throw new HttpError(400, 'http/path', 'strong reads are of one session: send the comment as SQL');
  const { rows } = database.administer(command);
  return isRead ? { text: rows.map(([line]) => `${line as string}\n`).join('') } : { json: {} };
}

function sqlOf(body: unknown): string {
  const { sql } = (body ?? {}) as { sql?: unknown };
  return typeof sql === 'string' ? sql : '';
}

async function runSql(session: Session, body: unknown, dialect: Dialect): Promise<unknown> {
  const { sql, parameters } = (body ?? {}) as { sql?: unknown; parameters?: unknown };
  if (typeof sql !== 'string') throw new HttpError(400, 'http/body', 'the body needs a text "sql"');
  return jsonResult(await execute(session, sql, parameters ?? []), dialect);
}

async function execute(session: Session, sql: string, parameters: unknown): Promise<StatementResult> {
  const prepared = session.prepare(sql);
  return session.execute(prepared, parametersOf(parameters, prepared.parameterTypes));
}

async function begin({ dialect }: SqlDatabase, session: Session, body: unknown): Promise<void> {
  const isolation = (body as { isolation?: unknown } | undefined)?.isolation;
  if (isolation !== undefined && (typeof isolation !== 'string' || !/^[a-z ]+$/i.test(isolation)))
    throw new HttpError(400, 'http/body', '"isolation" is the name of a level');
  const statements = isolation === undefined ? ['begin'] : beginAt[dialect](isolation);
  for (const sql of statements) await execute(session, sql, []);
}

const beginAt: Readonly<Record<Dialect, (level: string) => readonly string[]>> = {
  postgres: (level) => [`begin isolation level ${level}`],
  mysql: (level) => [`set transaction isolation level ${level}`, 'begin'],
};

function jsonResult({ command, columns, rows, rowCount }: StatementResult, dialect: Dialect): unknown {
  if (columns === null) return { command, rowCount };
  return { command, rowCount, columns: columns.map(({ name }) => name), rows: jsonRows(columns, rows, dialect) };
}

// ---- bytes

function notFound(path: readonly string[]): HttpError {
  return new HttpError(404, 'http/path', `there is nothing at /${path.join('/')}`);
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new HttpError(413, 'http/body', `a body has at most ${bodyBytesMax} bytes`);
    chunks.push(chunk);
  }
  if (bytes === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new HttpError(400, 'http/body', 'the body is not JSON');
  }
}

function send(response: ServerResponse, status: number, reply: Reply): void {
  const [type, text] =
    'text' in reply ? ['application/jsonl', reply.text] : ['application/json', `${JSON.stringify(reply.json)}\n`];
  const isUnread = status === 401 || status === 403 || status === 413 || status === 415;
  response.writeHead(status, {
    'content-type': type,
    ...(isUnread ? { connection: 'close' } : {}),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  });
  response.end(text);
}

function statusOf(error: unknown): number {
  if (error instanceof HttpError) return error.status;
  if (error instanceof InputError || error instanceof URIError) return 400;
  if (!(error instanceof SqlError)) return 500;
  if (error.code === '40001' || error.code === '40P01') return 409;
  return error.code === '53300' || error.code === '55P03' ? 503 : 400;
}

function errorBody(error: unknown): Reply {
  if (error instanceof SqlError)
    return { json: { error: { code: error.code, message: error.message, ...error.detail } } };
  if (error instanceof HttpError || error instanceof InputError)
    return { json: { error: { code: error.code, message: error.message } } };
  if (error instanceof URIError) return { json: { error: { code: 'http/path', message: error.message } } };
  return { json: { error: { code: 'XX000', message: 'internal error' } } };
}
