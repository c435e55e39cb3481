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
 * Errors are `{"error":{"code":"40001","message":"..."}}` with 400, 401 (a password is asked for), 404, 405, 409 (run the transaction again; or
 * the session still answers another request), 413 or 503.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { InputError } from '../../base/index.ts';
import { type Dialect, SqlError } from '../../sql/model/index.ts';
import type { StatementResult } from '../../sql/index.ts';
import { parseAdminCommand, type SqlDatabase, type Session } from '../../database/index.ts';
import { getKey, putKey } from './keys.ts';
import { jsonRows, parametersOf } from './values.ts';

export interface HttpOptions {
  /** Asked for as `Authorization: Bearer`. Default: none. */
  readonly password?: string;
  /** Default 1,000. */
  readonly sessionsMax?: number;
  /** Called with bugs of ours; the client gets an internal error. */
  readonly onBug?: (error: unknown) => void;
}

const bodyBytesMax = 1 << 20;

interface Sessions {
  readonly database: SqlDatabase;
  readonly open: Map<number, Session>;
  /** Those that answer a request: a session does one thing at a time. */
  readonly busy: Set<number>;
  readonly sessionsMax: number;
}

/** A server that does not listen yet. */
export function httpInterface(database: SqlDatabase, options: HttpOptions = {}): Server {
  const sessions: Sessions = {
    database,
    open: new Map(),
    busy: new Set(),
    sessionsMax: options.sessionsMax ?? 1_000,
  };
  const server = createServer((request, response) => {
    void answer(sessions, options, request, response);
  });
  server.on('close', () => {
    for (const session of sessions.open.values()) session.close();
  });
  return server;
}

async function answer(
  sessions: Sessions,
  { password, onBug }: HttpOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    if (password !== undefined && !isAuthorized(request, password))
      throw new HttpError(401, 'http/password', 'the header "Authorization: Bearer PASSWORD" is missing or wrong');
    const path = pathOf(request.url ?? '/');
    const body = await bodyOf(request);
    send(response, 200, await route(sessions, request.method ?? 'GET', path, body));
  } catch (error) {
    const status = statusOf(error);
    if (status === 500 && !request.destroyed) onBug?.(error);
    send(response, status, errorBody(error));
  }
}

/** Digests have one length, so that the comparison tells nothing of the password. */
function isAuthorized({ headers: { authorization = '' } }: IncomingMessage, password: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(authorization), digest(`Bearer ${password}`));
}

function pathOf(url: string): string[] {
  const [path = ''] = url.split('?');
  return path.split('/').slice(1).map(decodeURIComponent);
}

type Reply = { readonly text: string } | { readonly json: unknown };

async function route(sessions: Sessions, method: string, path: readonly string[], body: unknown): Promise<Reply> {
  const [first, second = ''] = path;
  if (first === 'admin') return adminReply(sessions.database, method, path.slice(1));
  if (first !== 'sessions') throw notFound(path);
  if (second === '') {
    if (method !== 'POST') throw new HttpError(405, 'http/method', 'sessions takes POST');
    return { json: { session: openSession(sessions).id } };
  }
  const session = sessions.open.get(Number(second));
  if (session === undefined) throw new HttpError(404, 'http/session', `there is no session ${second}`);
  if (path.length === 2 && method === 'DELETE') {
    sessions.open.delete(session.id);
    session.close();
    return { json: {} };
  }
  if (sessions.busy.has(session.id))
    throw new HttpError(409, 'http/busy', `session ${session.id} still answers another request`);
  sessions.busy.add(session.id);
  try {
    return { json: await converse(sessions.database, session, method, path, body) };
  } catch (error) {
    if (!(error instanceof HttpError || error instanceof URIError)) session.refused(error, sqlOf(body));
    // What could not even be read is an error of the transaction, too.
    session.fail(error);
    throw error;
  } finally {
    sessions.busy.delete(session.id);
  }
}

function openSession({ database, open, sessionsMax }: Sessions): Session {
  if (open.size >= sessionsMax) throw new SqlError('53300', `there are ${sessionsMax} sessions already`);
  const session = database.connect({ user: 'http', database: 'http', parameters: new Map(), onParameter: () => {} });
  open.set(session.id, session);
  return session;
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

class HttpError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

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
  const isUnread = status === 413 || status === 401;
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
