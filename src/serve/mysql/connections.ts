/** Connections that know each other: KILL ends one from another. */
import type { SqlServer, SqlSession } from '../../sql/index.ts';
import { SqlError } from '../../sql/model/index.ts';
import { protocolError } from './error.ts';

export interface Connection {
  /** `null`: the client has not logged in. */
  readonly session: SqlSession | null;
  hangUp(): void;
}

export class Connections {
  readonly #server: SqlServer;
  readonly #open = new Map<number, Connection>();
  #last = 0;

  constructor(server: SqlServer) {
    this.#server = server;
  }

  get count(): number {
    return this.#open.size;
  }

  /** A number for a connection to come. */
  newId(): number {
    this.#last += 1;
    return this.#server.reserveId?.() ?? this.#last;
  }

  add(id: number, connection: Connection): void {
    this.#open.set(id, connection);
  }

  delete(id: number): void {
    this.#open.delete(id);
  }

  /** @param by the connection that sends it @throws SqlError 1094; 1317 where it interrupts itself: its answer, and the end of a connection that kills itself */
  kill(what: 'connection' | 'query', id: number, by: number): void {
    if (id === by) throw killed(what);
    const victim = this.#open.get(id);
    // Not every session has a connection here: a program in this process may have one.
    const session = victim === undefined ? this.#server.session(id) : victim.session;
    if (victim === undefined && session === undefined) throw protocolError(1094, `Unknown thread id: ${id}`);
    if (what === 'query') session?.cancel();
    else if (victim === undefined) session?.close();
    else victim.hangUp();
  }
}

/** The SQLSTATE class of a shutdown ends the connection. */
function killed(what: 'connection' | 'query'): SqlError {
  const message = 'Query execution was interrupted';
  return new SqlError(what === 'connection' ? '57P01' : '57014', message, { mysqlNumber: 1317 });
}
