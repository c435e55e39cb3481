/** Sessions of HTTP clients. Nothing says that such a client has gone, so a session that is idle for long ends, and with it its transaction and locks. */
// That of the module: the global one is watched while programs are tested.
import { setTimeout } from 'node:timers';
import type { Session, SqlDatabase } from '../../database/index.ts';
import { SqlError } from '../../sql/model/index.ts';
import { HttpError } from './http-error.ts';

export interface OpenSessionsOptions {
  /** Default 1,000. */
  readonly sessionsMax?: number;
  /** How long a session may be idle, in milliseconds. Default 600,000. */
  readonly idleMs?: number;
}

export class OpenSessions {
  readonly #database: SqlDatabase;
  readonly #sessionsMax: number;
  readonly #idleMs: number;
  readonly #open = new Map<number, Session>();
  /** Of those that answer no request: a session does one thing at a time. */
  readonly #idle = new Map<number, NodeJS.Timeout>();

  constructor(database: SqlDatabase, { sessionsMax = 1_000, idleMs = 600_000 }: OpenSessionsOptions = {}) {
    this.#database = database;
    this.#sessionsMax = sessionsMax;
    this.#idleMs = idleMs;
  }

  /** @returns the number of a new one @throws SqlError 53300 */
  open(): number {
    if (this.#open.size >= this.#sessionsMax)
      throw new SqlError('53300', `there are ${this.#sessionsMax} sessions already`);
    const client = { user: 'http', database: 'http', parameters: new Map(), onParameter: () => {} };
    const session = this.#database.connect(client);
    this.#open.set(session.id, session);
    this.#rest(session.id);
    return session.id;
  }

  /** @throws HttpError 404 */
  get(number: string): Session {
    const session = this.#open.get(Number(number));
    if (session === undefined)
      throw new HttpError(
        404,
        'http/session',
        `there is no session ${number}, or it has ended: it was idle for ${this.#idleMs} ms`,
      );
    return session;
  }

  /** Answers one request. @throws HttpError 409: it still answers another */
  async use<T>(session: Session, work: () => Promise<T>): Promise<T> {
    const timer = this.#idle.get(session.id);
    if (timer === undefined)
      throw new HttpError(409, 'http/busy', `session ${session.id} still answers another request`);
    clearTimeout(timer);
    this.#idle.delete(session.id);
    try {
      return await work();
    } finally {
      if (this.#open.has(session.id)) this.#rest(session.id);
    }
  }

  end({ id }: Session): void {
    clearTimeout(this.#idle.get(id));
    this.#idle.delete(id);
    this.#open.get(id)?.close();
    this.#open.delete(id);
  }

  endAll(): void {
    for (const session of this.#open.values()) this.end(session);
  }

  #rest(id: number): void {
    const session = this.#open.get(id);
    if (session !== undefined) this.#idle.set(id, setTimeout(() => this.end(session), this.#idleMs).unref());
  }
}
