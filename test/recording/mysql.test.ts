import { spawn } from 'node:child_process';
import * as mariadb from 'mariadb';
import mysql2 from 'mysql2';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hookMariadb, hookMysql2, Recording, startProxy } from '../../src/capture/index.ts';
import { loadParser } from '../../src/sql/index.ts';
import { monotonicNanoseconds } from '../../src/base/index.ts';
import { startInnodbServers, stopServers } from '../support/innodb-servers.ts';
import { expectedOf, type Line, linesOf, runShop, shopLines } from './shop.ts';

/** The connector does not export it; hooks take it by its place. */
const connectionFile: string = new URL('../../node_modules/mariadb/lib/connection.js', import.meta.url).href;
const warnings: string[] = [];

interface Preparing {
  readonly execute: (sql: string) => Promise<unknown>;
  readonly end: () => Promise<void>;
}

function newTrace(): { readonly recording: Recording; readonly lines: () => Line[] } {
  let text = '';
  const write = (line: string): void => {
    text += line;
  };
  const recording = new Recording({ write, now: monotonicNanoseconds, warn: (message) => warnings.push(message) });
  return { recording, lines: () => linesOf(text) };
}

const quoted = (sql: string, values: readonly unknown[]): string => {
  let at = 0;
  return sql.replaceAll('?', () => {
    const value = values[at++];
    return typeof value === 'string' ? `'${value}'` : String(value);
  });
};

/** MySQL prepares no BEGIN. */
const isPrepared = (engine: string, sql: string): boolean =>
  engine === 'mariadb' || !/^(BEGIN|COMMIT|ROLLBACK)/u.test(sql);

type Run = (client: mysql.Connection, engine: string) => (sql: string, ...values: unknown[]) => Promise<unknown>;

const ways: [string, Run][] = [
  [
    'query with values',
    (client) =>
      (sql, ...values) =>
        client.query(sql, values),
  ],
  [
    'plain text',
    (client) =>
      (sql, ...values) =>
        client.query(quoted(sql, values)),
  ],
  [
    'prepared statements',
    (client, engine) =>
      (sql, ...values) =>
        isPrepared(engine, sql) ? client.execute(sql, values as string[]) : client.query(sql),
  ],
  [
    'rows as arrays',
    (client) =>
      (sql, ...values) =>
        client.query({ sql, values, rowsAsArray: true }),
  ],
];

const servers = await startInnodbServers();

afterAll(() => stopServers(servers));

describe.each(servers)('$name', ({ engine, server }) => {
  const port = server?.port ?? 0;
  const connection = {
    host: '127.0.0.1',
    port,
    user: 'root',
    database: 'test',
    supportBigNumbers: true,
    bigNumberStrings: true,
  };

  beforeAll(() => loadParser());
  beforeEach(({ skip }) => skip(server === undefined));

  async function shopWith(on: number, run: Run): Promise<void> {
    const client = await mysql.createConnection({ ...connection, port: on });
    await runShop(run(client, engine));
    await client.end();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }

  test.each(ways)('the hook of mysql2: %s', async (_name, run) => {
    const { recording, lines } = newTrace();
    const unhook = hookMysql2(mysql2, recording);
    await shopWith(port, run).finally(unhook);
    recording.end();
    expect(shopLines(lines())).toEqual(expectedOf('1062'));
    expect(warnings).toEqual([]);
  });

  test('the hook of the mariadb connector', async () => {
    const { recording, lines } = newTrace();
    const { default: connectionClass } = (await import(connectionFile)) as {
      default: { prototype: object };
    };
    const unhook = hookMariadb(connectionClass, recording);
    try {
      const client = await mariadb.createConnection({ host: '127.0.0.1', port, user: 'root', database: 'test' });
      await runShop((sql, ...values) => (values.length > 1 ? client.execute(sql, values) : client.query(sql, values)));
      await client.end();
    } finally {
      unhook();
    }
    recording.end();
    expect(shopLines(lines())).toEqual(expectedOf('1062'));
    expect(warnings).toEqual([]);
  });

  test.each<[string, () => Promise<Preparing>]>([
    ['mysql2', () => mysql.createConnection(connection)],
    [
      'mariadb',
      async () => {
        const client = await mariadb.createConnection({ host: '127.0.0.1', port, user: 'root', database: 'test' });
        await client.query('SELECT 1');
        return client;
      },
    ],
  ])('%s: what cannot be prepared has failed when the application hears of it', async (name, connect) => {
    const { recording, lines } = newTrace();
    const { default: connectionClass } = (await import(connectionFile)) as { default: { prototype: object } };
    const unhook = [hookMysql2(mysql2, recording), hookMariadb(connectionClass, recording)];
    try {
      const client = await connect();
      await expect(client.execute('SELECT nothing FROM items')).rejects.toMatchObject({ errno: 1054 });
      await client.execute('SELECT id FROM items WHERE id = 1');
      await client.end();
    } finally {
      for (const undo of unhook) undo();
    }
    recording.end();
    const all = lines();
    // The connector of MariaDB waits for MySQL to prepare before it executes, and then has nothing to execute.
    const isRecorded = engine === 'mariadb' || name === 'mysql2';
    expect(all.map(({ op, code }) => [op, code])).toEqual([
      ...(isRecorded
        ? [
            ['read', '1054'],
            ['abort', undefined],
          ]
        : []),
      ['read', undefined],
      ['commit', undefined],
      ['end', undefined],
    ]);
    for (const [i, { start }] of all.entries()) expect(start).toBeGreaterThanOrEqual(all[i - 2]?.end ?? 0);
  });

  async function through(use: (port: number) => Promise<unknown>): Promise<Line[]> {
    const { recording, lines } = newTrace();
    const upstream = { dialect: 'mysql', upstreamHost: '127.0.0.1', upstreamPort: port } as const;
    const warn = (message: string): void => void warnings.push(message);
    const proxy = await startProxy({ ...upstream, host: '127.0.0.1', port: 0, recording, warn });
    try {
      await use(proxy.port);
    } finally {
      await proxy.close();
    }
    expect(warnings).toEqual([]);
    return lines();
  }

  test.each(ways)('the proxy: %s', async (_name, run) => {
    const lines = await through((on) => shopWith(on, run));
    expect(shopLines(lines)).toEqual(expectedOf('1062'));
  });

  test.each([false, true])('the proxy: the mariadb connector, pipelining %s', async (pipelining) => {
    const lines = await through(async (on) => {
      const client = await mariadb.createConnection({
        host: '127.0.0.1',
        port: on,
        user: 'root',
        database: 'test',
        pipelining,
      });
      await runShop((sql, ...values) => (isPrepared(engine, sql) ? client.execute(sql, values) : client.query(sql)));
      await client.end();
    });
    expect(shopLines(lines)).toEqual(expectedOf('1062'));
  });

  test('the proxy: the mariadb command line', async () => {
    const script: string[] = [];
    await runShop((sql, ...values) => Promise.resolve(script.push(`${quoted(sql, values)};`)));
    const lines = await through(async (on) => {
      const child = spawn('mariadb', ['--no-defaults', '-h127.0.0.1', `-P${on}`, '-uroot', '--force', 'test']);
      child.stdin.end(script.join('\n'));
      await new Promise((resolve) => child.once('close', resolve));
    });
    expect(shopLines(lines)).toEqual(expectedOf('1062'));
  });
});
