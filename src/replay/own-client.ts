/** Connections of moirai's own to a real server: they make databases, and ask who waits. */
import { InputError } from '../base/index.ts';
import type { Dialect } from '../sql/model/index.ts';
import type { ProgramClient, QueryResult } from '../sql-program/index.ts';
import { Gate, type Lost } from './gate.ts';
import { mysqlServer } from './mysql-server.ts';
import { postgresServer } from './postgres-server.ts';
import type { RealServer, ServerRules } from './server.ts';

export const rulesOf: Readonly<Record<Dialect, ServerRules>> = { postgres: postgresServer, mysql: mysqlServer };

export interface OwnClient extends ProgramClient {
  /** Rejects with InputError `replay/server` when the connection breaks, as do its statements. */
  readonly lost: Promise<never>;
}

/** @throws InputError `replay/server`, `replay/login` */
export async function connectToServer(server: RealServer, database: string): Promise<OwnClient> {
  const { client: connect, tap } = rulesOf[server.dialect];
  let lose = (_reason: Lost): void => {};
  const lost = new Promise<never>((_, reject) => {
    lose = (reason) => reject(lostError(reason, server, 'the connection'));
  });
  lost.catch(() => {});
  const { user, password } = server;
  const gate = new Gate({
    address: server,
    login: { user, password, database, isolation: null },
    tap,
    onStatement: (_sql, pass) => pass(),
    onAnswer: () => {},
    onLost: lose,
  });
  const client = await Promise.race([connect(gate.stream), lost]).catch((error: unknown) => {
    gate.abandon();
    throw error;
  });
  return {
    query: (sql, parameters) => Promise.race([client.query(sql, parameters), lost]),
    end: () => client.end(),
    lost,
  };
}

/** @param what `the connection of session "alice"` */
export function lostError(reason: Lost, server: RealServer, what: string): InputError {
  const { dialect, hostname, port, user } = server;
  const { title, wrongLogin } = rulesOf[dialect];
  const where = `${hostname}:${port}`;
  switch (reason.kind) {
    case 'unreachable':
      return new InputError('replay/server', `no ${title} at ${where}: ${reason.message}`);
    case 'broken':
      return new InputError('replay/server', `${what} to ${where} broke: ${reason.message}`);
    case 'ended': {
      const { code, message } = reason.error;
      return new InputError('replay/server', `${where} ended ${what}: ${message} (${code})`);
    }
    case 'refused': {
      const { code, message } = reason.error;
      if (wrongLogin.has(code))
        return new InputError('replay/login', `${where} does not let user ${user} in: ${message} (${code})`);
      return new InputError('replay/server', `${where} refuses the connection: ${message} (${code})`);
    }
  }
}

/** @throws InputError `replay/dialect` */
export function requireDialect({ dialect }: { readonly dialect: Dialect }, server: RealServer): void {
  if (dialect === server.dialect) return;
  const { title } = rulesOf[server.dialect];
  throw new InputError('replay/dialect', `the program speaks ${dialect}, and ${title} is another server`);
}

/** The first cell of each row. */
export function firstColumn({ rows }: QueryResult): string[] {
  return rows.map((row) => String(Object.values(row)[0]));
}
