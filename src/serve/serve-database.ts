/** A database behind ports: its dialect's protocol, and HTTP beside it where that is asked for. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InputError } from '../base/index.ts';
import type { SqlDatabase } from '../database/index.ts';
import { startConversation } from './connect.ts';
import { httpInterface } from './http/interface.ts';
import { listen, type ListenOptions } from './listener.ts';

/** Where a database is served, and to whom. */
export interface ServeDatabaseOptions extends ListenOptions {
  /** How long a client may take to log in, in milliseconds; then it is cut off. Default: that of the server: 60,000 for PostgreSQL, 10,000 for MySQL. */
  readonly loginMs?: number;
  /** A port of the HTTP interface; 0 takes a free one. Default: there is none. */
  readonly httpPort?: number;
  /** Every client is asked for it. Default: none is. */
  readonly password?: string;
  /** How long a session of the HTTP interface may be idle, in milliseconds; then it ends, and rolls back what is open. Default 600,000. */
  readonly idleMs?: number;
}

/** A database that is served. */
export interface ServedDatabase {
  readonly host: string;
  readonly port: number;
  /** What a driver connects to: `postgres://postgres@127.0.0.1:5432/postgres`. It has no password in it. */
  readonly url: string;
  /** `http://127.0.0.1:8080`; `null`: HTTP was not asked for. */
  readonly httpUrl: string | null;
  /** Ends every connection and closes the ports. */
  readonly close: () => Promise<void>;
}

/** @throws InputError `serve/address`: a port is taken, or the host is not of this machine */
export async function serveDatabase(
  database: SqlDatabase,
  { httpPort, password, idleMs, ...options }: ServeDatabaseOptions = {},
): Promise<ServedDatabase> {
  const { host: wanted = '127.0.0.1', connectionsMax, onBug } = options;
  const common = { ...(onBug === undefined ? {} : { onBug }), ...(password === undefined ? {} : { password }) };
  const loginMs = options.loginMs ?? loginMsOf[database.dialect];
  const listener = await listen(startConversation(database, common), { ...options, loginMs });
  const { host, port } = listener;
  const url = urlAt[database.dialect](placeAt(host, port));
  if (httpPort === undefined) return { host, port, url, httpUrl: null, close: () => listener.close() };
  try {
    const ofSessions = {
      ...(connectionsMax === undefined ? {} : { sessionsMax: connectionsMax }),
      ...(idleMs === undefined ? {} : { idleMs }),
    };
    const server = httpInterface(database, { ...common, ...ofSessions, loginMs, host: wanted });
    const http = await listenHttp(server, wanted, httpPort);
    const close = async (): Promise<void> => void (await Promise.all([listener.close(), http.close()]));
    return { host, port, url, httpUrl: http.url, close };
  } catch (error) {
    await listener.close();
    throw error;
  }
}

/** `authentication_timeout`, `connect_timeout`. */
const loginMsOf = { postgres: 60_000, mysql: 10_000 } as const;

const urlAt = {
  postgres: (place: string) => `postgres://postgres@${place}/postgres`,
  mysql: (place: string) => `mysql://root@${place}/test`,
} as const;

function placeAt(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function listenHttp(
  server: Server,
  host: string,
  port: number,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new InputError('serve/address', `cannot listen on ${host}:${port}: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });
  const { address, port: actual } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://${placeAt(address, actual)}`, close };
}
