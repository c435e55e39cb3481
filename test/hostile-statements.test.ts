/**
 * Statements that would take all time or all memory, one after the other against a served database with a small heap: it lives, it goes on answering
 * another client, and each ends with the code that the real server gives, or with a limit. `test/hostile-statements/*.txt` has them: before each, what
 * PostgreSQL 15 and MariaDB 10.11 answered with a second for each. With MOIRAI_HEAVY=1 they have a second here, too.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import mysql from 'mysql2';
import pg from 'pg';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { build, plainEnvironment, root } from './support/cli.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const computeMs = isHeavy ? 1_000 : 50;
const heapMb = 400;
/** The heap, what lies beside it, and the bytes of one answer. */
const residentMbMax = 800;

interface Client {
  /** @returns the code of the error, or `ok` */
  readonly ask: (sql: string) => Promise<string>;
  readonly end: () => void;
}

interface Engine {
  readonly connect: (url: string) => Promise<Client>;
  /** Out of time, out of memory, more than a value may have, nested too deeply. */
  readonly limits: ReadonlySet<string>;
  /** What the real server also answers where it only has other limits: here it may answer the statement. */
  readonly realLimits: ReadonlySet<string>;
}

const engines: Readonly<Record<'postgres' | 'mysql', Engine>> = {
  postgres: {
    connect: viaPg,
    limits: new Set(['57014', '53200', '54000', '54001']),
    realLimits: new Set(['57014', '53200', '54000', '54001', 'XX000']),
  },
  mysql: {
    connect: viaMysql,
    limits: new Set(['1317', '1041', '1436']),
    realLimits: new Set(['1969', '1436', '1301', '1406', '1139']),
  },
};

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});
beforeAll(build, 300_000);

test.each(['postgres', 'mysql'] as const)(
  'no statement takes a served database of %s down',
  async (name) => {
    const { connect, limits, realLimits } = engines[name];
    const server = await serve(name);
    const [hostile, other] = [await connect(server.url), await connect(server.url)];
    const { setup, statements } = listed(name);
    for (const sql of setup) expect([sql, await hostile.ask(sql)]).toEqual([sql, 'ok']);
    const wrong: string[] = [];
    for (const { real, sql } of statements) {
      const [code, seen] = await Promise.all([hostile.ask(sql), other.ask('select 1')]);
      expect([sql, seen]).toEqual([sql, 'ok']);
      const isExpected = code === real || limits.has(code) || (code === 'ok' && realLimits.has(real));
      if (!isExpected) wrong.push(`${code} instead of ${real}: ${sql}`);
    }
    expect(wrong).toEqual([]);
    expect(server.printed()).not.toContain('a bug in it');
    expect(server.residentMb()).toBeLessThan(residentMbMax);
    hostile.end();
    other.end();
  },
  isHeavy ? 900_000 : 300_000,
);

test('the lists are as long as they should be', () => {
  expect(listed('postgres').statements.length).toBeGreaterThanOrEqual(150);
  expect(listed('mysql').statements.length).toBeGreaterThanOrEqual(80);
});

interface Listed {
  readonly setup: readonly string[];
  readonly statements: readonly { readonly real: string; readonly sql: string }[];
}

/** Lines `code<tab>statement`, below headings `# kind`. */
function listed(engine: string): Listed {
  const text = readFileSync(join(root, `test/hostile-statements/${engine}.txt`), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const statements = lines.map((line) => {
    const [real = '', sql = ''] = line.split('\t');
    return { real, sql };
  });
  return {
    setup: statements.filter(({ real }) => real === 'setup').map(({ sql }) => sql),
    statements: statements.filter(({ real }) => real !== 'setup'),
  };
}

interface Served {
  readonly url: string;
  /** What it has printed to standard error. */
  readonly printed: () => string;
  readonly residentMb: () => number;
}

async function serve(engine: string): Promise<Served> {
  const args = ['serve', '--json', '--port', '0', '--engine', engine, '--compute-ms', String(computeMs)];
  const child = spawn(process.execPath, [`--max-old-space-size=${heapMb}`, join(root, 'dist/cli/main.js'), ...args], {
    env: plainEnvironment(),
  });
  children.add(child);
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (printed += text));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', resolve);
    child.once('exit', (code, signal) => reject(new Error(`it ended: ${code ?? signal}: ${printed}`)));
  });
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    printed: () => printed,
    // Linux: the most it ever had.
    residentMb: () =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024,
  };
}

async function viaPg(url: string): Promise<Client> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  return {
    ask: (sql) =>
      new Promise((resolve) => {
        const query = new pg.Query(sql);
        query.on('row', (_row, result) => {
          if (result !== undefined) result.rows.length = 0;
        });
        query.on('end', () => resolve('ok'));
        query.on('error', (error) => resolve('code' in error ? String(error.code) : error.message));
        client.query(query);
      }),
    end: () => void client.end(),
  };
}

async function viaMysql(url: string): Promise<Client> {
  const client = mysql.createConnection(url);
  client.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => client.connect((error) => (error === null ? resolve() : reject(error))));
  return {
    ask: (sql) =>
      new Promise((resolve) => {
        const query = client.query(sql);
        query.on('result', () => undefined);
        query.on('error', (error: mysql.QueryError) => resolve(String(error.errno ?? error.message)));
        query.on('end', () => resolve('ok'));
      }),
    end: () => client.destroy(),
  };
}
