/** The service of test/fixtures/analyze-styles, as each style sends it to a real server through the recording proxy: the text of the trace. */
import mysql from 'mysql2/promise';
import pg from 'pg';
import { vi } from 'vitest';
import { monotonicNanoseconds } from '../../src/base/index.ts';
import { Recording, startProxy } from '../../src/capture/index.ts';
import { formatTraceHeader } from '../../src/trace/record.ts';
import { emptyHeader } from '../../src/trace/trace.ts';
import type { Dialect } from '../../src/sql/model/index.ts';
import { startMariadb } from './mariadb-server.ts';
import { startPostgres } from './postgres-server.ts';

/** @param id of an account; a payment begins with the balance of `from` */
export interface Service {
  readonly pay: (payment: Payment) => Promise<void>;
  readonly closeAccount: (id: number, force: boolean) => Promise<string>;
}

interface Payment {
  readonly from: number;
  readonly to: number;
  readonly amount: number;
  readonly lines: { item: number; price: number }[];
}

/** Payments of one, two and three lines, some refused, and accounts that are closed, kept or missing. */
async function useService({ pay, closeAccount }: Service): Promise<void> {
  const lines = [
    { item: 5, price: 70 },
    { item: 6, price: 80 },
    { item: 9, price: 85 },
  ];
  for (const [at, amount] of [11, 23, 8, 31, 400].entries()) {
    const payment = { from: 1 + (at % 4), to: 2 + (at % 3), amount, lines: lines.slice(0, 1 + (at % 3)) };
    if (payment.from !== payment.to) await pay(payment).catch(() => undefined);
  }
  await pay({ from: 77, to: 1, amount: 1, lines }).catch(() => undefined);
  await pay({ from: 1, to: 77, amount: 3, lines }).catch(() => undefined);
  for (const [id, force] of [
    [4, false],
    [3, true],
    [9, true],
  ] as const)
    await closeAccount(id, force);
}

const serial: Readonly<Record<Dialect, string>> = { postgres: 'serial', mysql: 'int AUTO_INCREMENT' };

export function serviceSchema(dialect: Dialect): string {
  return `CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);
      CREATE TABLE order_lines (id ${serial[dialect]} PRIMARY KEY, item int, price int);
      CREATE TABLE log (id ${serial[dialect]} PRIMARY KEY, what text, at bigint);`;
}

const serviceRows: readonly string[] = [1, 2, 3, 4].map((id) => `INSERT INTO accounts VALUES (${id}, ${97 * id})`);

/** Handles that the services export, as far as they are opened and closed. */
interface Handles {
  readonly pool: { end: () => Promise<void> };
  readonly sql: { end: () => Promise<void> };
  readonly db: { destroy: () => Promise<void>; $client: { end: () => Promise<void> } };
  readonly knex: { destroy: () => Promise<void> };
  readonly sequelize: { close: () => Promise<void> };
  readonly source: { initialize: () => Promise<unknown>; destroy: () => Promise<void> };
}

interface Style {
  readonly dialect: Dialect;
  /** The file that exports its handle, where that is not the service's. */
  readonly file?: string;
  readonly open?: (handles: Handles) => Promise<unknown>;
  readonly close: (handles: Handles) => Promise<unknown>;
}

export const styles: Readonly<Record<string, Style>> = {
  pg: { dialect: 'postgres', file: 'database.ts', close: ({ pool }) => pool.end() },
  postgres: { dialect: 'postgres', close: ({ sql }) => sql.end() },
  mysql2: { dialect: 'mysql', close: ({ pool }) => pool.end() },
  kysely: { dialect: 'postgres', close: ({ db }) => db.destroy() },
  knex: { dialect: 'postgres', close: ({ knex }) => knex.destroy() },
  drizzle: { dialect: 'postgres', close: ({ db }) => db.$client.end() },
  sequelize: { dialect: 'postgres', close: ({ sequelize }) => sequelize.close() },
  typeorm: { dialect: 'postgres', open: ({ source }) => source.initialize(), close: ({ source }) => source.destroy() },
};

/** On the real server of the style, through the proxy of `moirai record --statements`. @throws MissingServer */
export async function recordedStyle(name: string, style: Style): Promise<string> {
  const { dialect } = style;
  const server = await starts[dialect]();
  try {
    const setUp = await clients[dialect](server.port);
    const tables = serviceSchema(dialect)
      .split(';')
      .filter((one) => one.trim() !== '');
    for (const sql of ['DROP TABLE IF EXISTS accounts, order_lines, log', ...tables, ...serviceRows])
      await setUp.query(sql);
    await setUp.end();
    return await recordedThroughProxy(dialect, server.port, () => runStyle(name, style));
  } finally {
    await server.stop();
  }
}

async function recordedThroughProxy(dialect: Dialect, upstreamPort: number, run: () => Promise<void>): Promise<string> {
  let text = `${formatTraceHeader({ ...emptyHeader, hasMarks: true })}\n`;
  const write = (line: string): void => void (text += line);
  const warn = (message: string): void => {
    throw new Error(message);
  };
  const recording = new Recording({ write, now: monotonicNanoseconds, warn, keepsStatements: true });
  const host = '127.0.0.1';
  const proxy = await startProxy({ dialect, upstreamHost: host, upstreamPort, host, port: 0, recording, warn });
  vi.stubEnv('DATABASE_URL', urls[dialect](proxy.port));
  vi.stubEnv('PGHOST', host);
  vi.stubEnv('PGPORT', String(proxy.port));
  vi.stubEnv('PGUSER', 'postgres');
  try {
    await run();
  } finally {
    vi.unstubAllEnvs();
    await proxy.close();
  }
  return text;
}

async function runStyle(name: string, { file = 'payments.ts', open, close }: Style): Promise<void> {
  const folder = `../fixtures/analyze-styles/${name}`;
  const handles = (await import(`${folder}/${file}`)) as Handles;
  await open?.(handles);
  await useService((await import(`${folder}/payments.ts`)) as Service);
  await close(handles);
}

const starts = { postgres: startPostgres, mysql: startMariadb };

const urls: Readonly<Record<Dialect, (port: number) => string>> = {
  postgres: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
  mysql: (port) => `mysql://root@127.0.0.1:${port}/test`,
};

interface Client {
  readonly query: (sql: string) => Promise<unknown>;
  readonly end: () => Promise<void>;
}

const clients: Readonly<Record<Dialect, (port: number) => Promise<Client>>> = {
  postgres: async (port) => {
    const client = new pg.Client(urls.postgres(port));
    await client.connect();
    return client;
  },
  mysql: (port) => mysql.createConnection(urls.mysql(port)),
};
