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
 * Errors are `{"error":{"code":"40001","message":"..."}}` with 400, 404, 409 (run the transaction again), 413 or 503.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { InputError } from '../base/input-error.ts';
import { SqlError, type StatementResult } from '../sql/index.ts';
import { parseAdminCommand } from './admin-command.ts';
import type { SqlDatabase } from './database.ts';
import { jsonRows, parametersOf } from './http-values.ts';
import type { Session } from './sql-session.ts';

const bodyBytesMax = 1 << 20;

/** A server that does not listen yet. */
export function httpInterface(database: SqlDatabase): Server {
  const sessions = new Map<number, Session>();
  const server = createServer((request, response) => {
    void answer(database, sessions, request, response);
  });
  server.on('close', () => {
    for (const session of sessions.values()) session.close();
  });
  return server;
}

async function answer(
  database: SqlDatabase,
  sessions: Map<number, Session>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname.split('/').slice(1).map(decodeURIComponent);
    const body = await bodyOf(request);
    const reply = await route(database, sessions, request.method ?? 'GET', path, body);
    send(response, 200, reply);
  } catch (error) {
    send(response, statusOf(error), errorBody(error));
  }
}

type Reply = { readonly text: string } | { readonly json: unknown };

async function route(
  database: SqlDatabase,
  sessions: Map<number, Session>,
  method: string,
  path: readonly string[],
  body: unknown,
): Promise<Reply> {
  const [first, second, third, ...rest] = path;
  if (first === 'admin') return administer(database, method, path.slice(1));
  if (first !== 'sessions') throw notFound(path);
  if (second === undefined || second === '') {
    if (method !== 'POST') throw notFound(path);
    const session = database.connect({ user: 'http', database: 'http', parameters: new Map(), onParameter: () => {} });
    sessions.set(session.id, session);
    return { json: { session: session.id } };
  }
  const session = sessions.get(Number(second));
  if (session === undefined) throw new HttpError(404, 'http/session', `there is no session ${second}`);
  if (third === undefined && method === 'DELETE') {
    session.close();
    sessions.delete(session.id);
    return { json: {} };
  }
  if (third === 'keys' && rest.length > 0) return { json: await keyValue(session, method, rest.join('/'), body) };
  if (method !== 'POST') throw notFound(path);
  if (third === 'sql') return { json: await runSql(session, body) };
  if (third === 'begin' || third === 'commit' || third === 'rollback')
    return { json: jsonResult(await execute(session, transactionSql(third, body))) };
  throw notFound(path);
}

function administer(database: SqlDatabase, method: string, words: readonly string[]): Reply {
  const command = parseAdminCommand(words.join(' '));
  const isRead = command.kind === 'history' || command.kind === 'choices';
  if (isRead !== (method === 'GET'))
    throw new HttpError(405, 'http/method', `${words.join('/')} takes ${isRead ? 'GET' : 'POST'}`);
  if (command.kind === 'strong-reads')
    throw new HttpError(400, 'http/path', 'strong reads are of one session: send the comment as SQL');
  const { rows } = database.administer(command, null);
  return isRead ? { text: rows.map(([line]) => `${String(line)}\n`).join('') } : { json: {} };
}

async function runSql(session: Session, body: unknown): Promise<unknown> {
  const { sql, parameters } = (body ?? {}) as { sql?: unknown; parameters?: unknown };
  if (typeof sql !== 'string') throw new HttpError(400, 'http/body', 'the body needs a text "sql"');
  return jsonResult(await execute(session, sql, parameters ?? []));
}

async function execute(session: Session, sql: string, parameters: unknown = []): Promise<StatementResult> {
  const prepared = session.prepare(sql);
  return session.execute(prepared, parametersOf(parameters, prepared.parameterTypes));
}

function transactionSql(what: 'begin' | 'commit' | 'rollback', body: unknown): string {
  const isolation = (body as { isolation?: unknown } | undefined)?.isolation;
  if (what !== 'begin' || isolation === undefined) return what;
  if (typeof isolation !== 'string' || !/^[a-z ]+$/i.test(isolation))
    throw new HttpError(400, 'http/body', '"isolation" is the name of a level');
  return `begin isolation level ${isolation}`;
}

/** Keys are rows of a table that is made when it is first needed. */
async function keyValue(session: Session, method: string, key: string, body: unknown): Promise<unknown> {
  if (method !== 'GET' && method !== 'PUT') throw new HttpError(405, 'http/method', 'a key takes GET and PUT');
  await execute(session, 'create table if not exists moirai_keys (key text primary key, value jsonb)');
  if (method === 'GET') {
    const { rows, columns } = await execute(session, 'select value from moirai_keys where key = $1', [key]);
    return { key, value: jsonRows(columns ?? [], rows)[0]?.[0] ?? null };
  }
  const value = JSON.stringify(body ?? null);
  const { rowCount } = await execute(session, 'update moirai_keys set value = $2::jsonb where key = $1', [key, value]);
  if (rowCount === 0) await execute(session, 'insert into moirai_keys values ($1, $2::jsonb)', [key, value]);
  return { key, value: body ?? null };
}

function jsonResult({ command, columns, rows, rowCount }: StatementResult): unknown {
  if (columns === null) return { command, rowCount };
  return { command, rowCount, columns: columns.map(({ name }) => name), rows: jsonRows(columns, rows) };
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
  response.writeHead(status, { 'content-type': type, ...(status === 413 ? { connection: 'close' } : {}) });
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
