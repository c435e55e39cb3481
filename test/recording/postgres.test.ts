import pg from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hookPg, hookPostgresJs, Recording, startProxy } from '../../src/capture/index.ts';
import { loadParser } from '../../src/sql/index.ts';
import { monotonicNanoseconds } from '../../src/base/index.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startedOrSkipped } from '../support/server-process.ts';
import { expectedOf, type Line, linesOf, runShop, shopLines } from './shop.ts';

const server = await startedOrSkipped(startPostgres);
const warnings: string[] = [];

interface Trace {
  readonly recording: Recording;
  readonly lines: () => Line[];
}

function newTrace(): Trace {
  let text = '';
  const recording = new Recording({
    write: (line) => {
      text += line;
    },
    now: monotonicNanoseconds,
    warn: (message) => warnings.push(message),
  });
  return { recording, lines: () => linesOf(text) };
}

function expectTimes(lines: readonly Line[]): void {
  for (const { start, end } of lines) expect(end === null || start <= end).toBe(true);
  for (const [i, { start }] of lines.entries()) expect(start).toBeGreaterThanOrEqual(lines[i - 1]?.start ?? 0);
}

const dollars = (sql: string): string => {
  let number = 0;
  return sql.replaceAll('?', () => `$${(number += 1)}`);
};

/** Quoted into the text, for clients without parameters. */
const quoted = (sql: string, values: readonly unknown[]): string => {
  let at = 0;
  return sql.replaceAll('?', () => {
    const value = values[at++];
    return typeof value === 'string' ? `'${value}'` : String(value);
  });
};

describe.skipIf(server === undefined)('PostgreSQL', () => {
  const port = server?.port ?? 0;
  const connection = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' };

  beforeAll(() => loadParser());
  afterAll(() => server?.stop());

  async function shopWith(
    on: number,
    run: (client: pg.Client) => (sql: string, ...values: unknown[]) => Promise<unknown>,
  ): Promise<void> {
    const client = new pg.Client({ ...connection, port: on });
    await client.connect();
    await runShop(run(client));
    await client.end();
  }

  describe('the hook of node-postgres', () => {
    test.each<[string, (client: pg.Client) => (sql: string, ...values: unknown[]) => Promise<unknown>]>([
      [
        'parameters',
        (client) =>
          (sql, ...values) =>
            client.query(dollars(sql), values),
      ],
      [
        'plain text',
        (client) =>
          (sql, ...values) =>
            client.query(quoted(sql, values)),
      ],
      [
        'named statements, rows as arrays',
        (client) =>
          (sql, ...values) =>
            client.query({ name: sql.slice(0, 60), text: dollars(sql), values, rowMode: 'array' }),
      ],
      [
        'callbacks',
        (client) =>
          (sql, ...values) =>
            new Promise((resolve, reject) => {
              client.query(dollars(sql), values, (error, result) => (error ? reject(error) : resolve(result)));
            }),
      ],
      [
        'query objects',
        (client) =>
          (sql, ...values) =>
            new Promise((resolve, reject) => {
              client
                .query(new pg.Query(dollars(sql), values))
                .on('end', resolve)
                .on('error', reject);
            }),
      ],
    ])('%s', async (_name, run) => {
      const { recording, lines } = newTrace();
      const unhook = hookPg(pg as never, recording);
      await shopWith(port, run).finally(unhook);
      recording.end();
      expect(shopLines(lines())).toEqual(expectedOf('23505'));
      expectTimes(lines());
      expect(warnings).toEqual([]);
    });

    test('two clients of a pool are two sessions', async () => {
      const { recording, lines } = newTrace();
      const unhook = hookPg(pg as never, recording);
      const pool = new pg.Pool({ ...connection, max: 2 });
      try {
        await Promise.all([
          pool.query('SELECT pg_sleep(0.05), id FROM items WHERE id = 1'),
          pool.query('SELECT id FROM items WHERE id = 1'),
        ]);
        await pool.end();
      } finally {
        unhook();
      }
      recording.end();
      expect(new Set(lines().map(({ session }) => session)).size).toBe(2);
    });

    test("a rejection that nobody handles stays the application's", async () => {
      const { recording } = newTrace();
      const unhook = hookPg(pg as never, recording);
      const client = new pg.Client(connection);
      await client.connect();
      await expect(client.query('SELECT nothing')).rejects.toMatchObject({ code: '42703' });
      await client.end();
      unhook();
    });
  });

  test.each([false, true])('the hook of postgres.js, fetching types: %s', async (fetchTypes) => {
    const { recording, lines } = newTrace();
    const unhook = hookPostgresJs(postgres as never, recording);
    try {
      const sql = postgres({
        ...connection,
        username: 'postgres',
        max: 1,
        fetch_types: fetchTypes,
        onnotice: () => {},
      });
      await runShop((text, ...values) => sql.unsafe(dollars(text), values as never[]));
      await sql.begin((inner) => inner`SELECT name FROM items WHERE id = ${1}`);
      await sql.end();
    } finally {
      unhook();
    }
    recording.end();
    const inTransaction = [
      { op: 'begin' },
      { op: 'read', reads: [['items/1', { name: 'cup' }]] },
      { op: 'commit' },
      { op: 'end' },
    ];
    expect(shopLines(lines())).toEqual([...expectedOf('23505').slice(0, -1), ...inTransaction]);
    expect(warnings).toEqual([]);
  });

  describe('the proxy', () => {
    async function through(use: (port: number) => Promise<unknown>): Promise<Line[]> {
      const { recording, lines } = newTrace();
      const proxy = await startProxy({
        dialect: 'postgres',
        upstreamHost: '127.0.0.1',
        upstreamPort: port,
        host: '127.0.0.1',
        port: 0,
        recording,
        warn: (message) => warnings.push(message),
      });
      try {
        await use(proxy.port);
      } finally {
        await proxy.close();
      }
      expectTimes(lines());
      expect(warnings).toEqual([]);
      return lines();
    }

    test.each<[string, (client: pg.Client) => (sql: string, ...values: unknown[]) => Promise<unknown>]>([
      [
        'extended protocol',
        (client) =>
          (sql, ...values) =>
            client.query(dollars(sql), values),
      ],
      [
        'binary results',
        (client) =>
          (sql, ...values) =>
            client.query({ text: dollars(sql), values, binary: true } as pg.QueryConfig),
      ],
      [
        'simple protocol',
        (client) =>
          (sql, ...values) =>
            client.query(quoted(sql, values)),
      ],
    ])('%s', async (_name, run) => {
      const lines = await through((on) => shopWith(on, run));
      expect(shopLines(lines)).toEqual(expectedOf('23505'));
    });

    test('postgres.js, which sends several messages at once', async () => {
      const lines = await through(async (on) => {
        const sql = postgres({
          host: '127.0.0.1',
          port: on,
          user: 'postgres',
          database: 'postgres',
          max: 1,
          fetch_types: false,
          onnotice: () => {},
        });
        await runShop((text, ...values) => sql.unsafe(dollars(text), values as never[]));
        await sql.end();
      });
      expect(shopLines(lines)).toEqual(expectedOf('23505'));
    });

    test('psql', async () => {
      const script: string[] = [];
      await runShop((text, ...values) => Promise.resolve(script.push(`${quoted(text, values)};`)));
      const lines = await through(async (on) => {
        const { spawn } = await import('node:child_process');
        const child = spawn('psql', ['-h', '127.0.0.1', '-p', String(on), '-U', 'postgres', '-qAt'], {
          stdio: ['pipe', 'pipe', 'pipe'],
        });
        child.stdin.end(script.join('\n'));
        await new Promise((resolve) => child.once('close', resolve));
      });
      expect(shopLines(lines)).toEqual(expectedOf('23505'));
    });

    test('a client that vanishes in a transaction', async () => {
      const lines = await through(async (on) => {
        const client = new pg.Client({ ...connection, port: on });
        client.on('error', () => {});
        await client.connect();
        await client.query('BEGIN');
        await client.query("UPDATE items SET name = 'x' WHERE id = 1");
        (client as unknown as { connection: { stream: { destroy: () => void } } }).connection.stream.destroy();
        await new Promise((resolve) => setTimeout(resolve, 100));
      });
      expect(lines.map(({ op, end }) => [op, end === null])).toEqual([
        ['begin', false],
        ['write', false],
        ['abort', true],
        ['end', false],
      ]);
    });
  });
});

test('a server that is not there is said at once', async () => {
  const { recording } = newTrace();
  const options = {
    dialect: 'postgres',
    upstreamHost: '127.0.0.1',
    upstreamPort: 1,
    host: '127.0.0.1',
    port: 0,
    recording,
  } as const;
  await expect(startProxy({ ...options, warn: () => {} })).rejects.toMatchObject({ code: 'record/upstream' });
});
