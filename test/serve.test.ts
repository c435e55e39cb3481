/** `moirai serve` as its users have it: the built program, its ports, real clients, its files, its end. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { build, type Ended, root, runBuilt, UserFolder } from './support/cli.ts';
import { answerMsMax } from './support/interrupted.ts';

const main = join(root, 'dist/cli/main.js');
const folder = new UserFolder();
const children = new Set<ChildProcess>();
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

beforeAll(build, 120_000);
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});
afterAll(() => folder.remove());

interface Running {
  readonly url: string;
  readonly port: number;
  readonly http: string | null;
  readonly seed: number;
  readonly pid: number;
  /** Sends a signal. @returns how it ended, and how long that took */
  readonly end: (signal: NodeJS.Signals) => Promise<Ended & { readonly ms: number }>;
}

/** Starts the program on a free port; it has printed its addresses. */
function serve(...args: readonly string[]): Promise<Running> {
  return serveIn({}, ...args);
}

async function serveIn(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Running> {
  const child = spawn(process.execPath, [main, 'serve', '--json', '--port', '0', ...args], {
    cwd: folder.path,
    env: { ...process.env, ...env },
  });
  children.add(child);
  let [out, err] = ['', ''];
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, out, err }));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (err += text));
  const first = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (out.includes('\n')) resolve();
    });
  });
  await Promise.race([
    first,
    ended.then((how) => {
      throw new Error(`it ended: ${JSON.stringify(how)}`);
    }),
  ]);
  const end = async (signal: NodeJS.Signals): Promise<Ended & { readonly ms: number }> => {
    const began = performance.now();
    child.kill(signal);
    const how = await ended;
    return { ...how, ms: performance.now() - began };
  };
  return { ...(JSON.parse(out) as Omit<Running, 'end' | 'pid'>), pid: child.pid ?? 0, end };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  // The server's end is not a failure of the test.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

const schema =
  'create table accounts (id int primary key, balance int not null); insert into accounts values (1, 0); create table seen (n int);';

test.each<[string, string[], Record<string, string>]>([
  ['a file', ['--password-file', 'password'], { MOIRAI_PASSWORD: 'another' }],
  ['the environment', [], { MOIRAI_PASSWORD: 'secret' }],
])('the password comes from %s, and the list of processes does not show it', async (_name, args, env) => {
  folder.write({ password: 'secret\n' });
  const { url, pid } = await serveIn(env, '--host', '0.0.0.0', ...args);
  const local = url.replace('0.0.0.0', '127.0.0.1');
  await expect(connect(local)).rejects.toMatchObject({ message: expect.stringContaining('password') });
  await (await connect(local.replace('postgres@', 'postgres:secret@'))).end();
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('secret');
});

test('clients that stall or vanish give their places to others', async () => {
  const limits = ['--max-connections', '2', '--max-per-address', '1', '--login-ms', '3000', '--idle-ms', '500'];
  const { url, port, http } = await serve(...limits, '--http-port', '0');
  const silent = createConnection(port, '127.0.0.1').resume();
  await once(silent, 'close');
  const client = await connect(url);
  await expect(connect(url)).rejects.toMatchObject({ code: '53300' });
  const newSession = async (): Promise<number> => (await fetch(`${http}/sessions`, { method: 'POST' })).status;
  expect(await newSession()).toBe(200);
  expect(await newSession()).toBe(503);
  await expect.poll(newSession, { timeout: 20_000 }).toBe(200);
  await client.end();
});

describe('clients', () => {
  test('psql and node-postgres talk to it, after --init', async () => {
    folder.write({ 'schema.sql': schema });
    const { url, end } = await serve('--init', 'schema.sql');
    const client = await connect(url);
    expect((await client.query('select * from accounts')).rows).toEqual([{ id: 1, balance: 0 }]);
    await client.end();
    const asked = spawnSync('psql', [url, '-XAtc', 'select version(), balance from accounts'], { encoding: 'utf8' });
    if (asked.error === undefined) expect(asked.stdout).toMatch(/^PostgreSQL 15.* \(moirai\).*\|0\n$/);
    expect(await end('SIGTERM')).toMatchObject({ code: 0, err: '' });
  });

  test('mysql2 talks to it', async () => {
    folder.write({ 'schema.sql': schema });
    const { url, end } = await serve('--engine', 'mysql', '--init', 'schema.sql');
    const client = await mysql.createConnection(url);
    expect((await client.query('select * from accounts'))[0]).toEqual([{ id: 1, balance: 0 }]);
    await client.end();
    expect(await end('SIGINT')).toMatchObject({ code: 0, err: '' });
  });

  test('HTTP, on a port of its own', async () => {
    const { http, end } = await serve('--http-port', '0', '--level', 'causal');
    const post = async (path: string, body: unknown): Promise<unknown> =>
      (
        await fetch(`${http}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      ).json();
    expect(await post('/sessions', {})).toEqual({ session: 1 });
    expect(await post('/sessions/1/sql', { sql: 'select 1 as one' })).toMatchObject({ rows: [[1]] });
    expect(await end('SIGINT')).toMatchObject({ code: 0, err: '' });
  });

  test('a password is asked for by both protocols and HTTP', async () => {
    const postgres = await serve('--password', 'secret', '--http-port', '0');
    await expect(connect(postgres.url)).rejects.toThrow('password');
    await expect(connect(postgres.url.replace('postgres@', 'postgres:wrong@'))).rejects.toMatchObject({
      code: '28P01',
    });
    await (await connect(postgres.url.replace('postgres@', 'postgres:secret@'))).end();
    expect((await fetch(`${postgres.http}/sessions`, { method: 'POST' })).status).toBe(401);
    const headers = { authorization: 'Bearer secret' };
    expect((await fetch(`${postgres.http}/sessions`, { method: 'POST', headers })).status).toBe(200);
    const { url } = await serve('--engine', 'mysql', '--password', 'secret');
    for (const wrong of [url, url.replace('root@', 'root:wrong@')])
      await expect(mysql.createConnection(wrong)).rejects.toMatchObject({ errno: 1045 });
    await (await mysql.createConnection(url.replace('root@', 'root:secret@'))).end();
  });
});

describe('its end', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s with open transactions and waiting statements',
    async (signal) => {
      folder.write({ 'schema.sql': schema });
      const names = { record: `${signal}.jsonl`, choices: `${signal}.choices` };
      const files = ['--record', names.record, '--choices', names.choices];
      const { url, end } = await serve('--init', 'schema.sql', ...files);
      const [a, b, c] = [await connect(url), await connect(url), await connect(url)];
      await c.query('update accounts set balance = 1 where id = 1');
      await a.query('begin');
      await a.query('update accounts set balance = 2 where id = 1');
      const waiting = b.query('update accounts set balance = 3 where id = 1').catch((error: unknown) => error);
      await c.query('select 1');
      const how = await end(signal);
      expect(how).toMatchObject({ code: 0, err: '' });
      expect(how.ms).toBeLessThan(answerMsMax);
      expect(await waiting).toBeInstanceOf(Error);
      const history = readFileSync(join(folder.path, names.record), 'utf8');
      expect(history).toContain('accounts/1');
      expect(readFileSync(join(folder.path, names.choices), 'utf8')).toContain('"schedule":[');
      const { code, out } = await runBuilt(['check', join(folder.path, names.record), '--json']);
      expect({ code, out }).toEqual({ code: 0, out: expect.any(String) });
    },
  );
});

/** Two clients look and then write; who is first decides what is left. The sum of both is what serializable gives. */
async function race(url: string): Promise<unknown> {
  const clients = [await connect(url), await connect(url), await connect(url)];
  const withdraw = async (client: pg.Client, amount: number): Promise<string> => {
    try {
      // Two of these may both be under way, where autocommit commits them.
      const { rowCount } = await client.query('insert into seen select 1 where not exists (select 1 from seen)');
      await client.query('begin');
      const { rows } = await client.query('select balance from accounts where id = 1');
      await client.query('update accounts set balance = $1 where id = 1', [rows[0].balance * 10 + amount]);
      await client.query('commit');
      return `${amount} saw ${rows[0].balance}, ${rowCount}`;
    } catch (error) {
      await client.query('rollback');
      return `${amount}: ${(error as { code: string }).code}`;
    }
  };
  const outcome = await Promise.all(clients.map((client, i) => withdraw(client, i + 1)));
  const [first] = clients;
  const { rows } = await (first as pg.Client).query('select balance from accounts');
  for (const client of clients) await client.end();
  return { outcome, left: rows[0].balance as number };
}

test('a statement that moirai cannot do is printed once, and again with the history', async () => {
  const served = await serve('--record', 'lacks.jsonl');
  const client = new pg.Client(served.url);
  await client.connect();
  for (let i = 0; i < 2; i += 1) await client.query('select pg_notify($1, $2)', ['a', 'b']).catch(() => {});
  await client.end();
  const { code, err } = await served.end('SIGINT');
  expect(code).toBe(0);
  const lines = err.trim().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(
      /sent what moirai cannot do: select pg_notify.*: function pg_notify is not supported by moirai/,
    ),
    'the history lacks 1 statement that moirai cannot do, named above',
  ]);
});

describe('a run over sockets', () => {
  test('is the same run again with its choices', async () => {
    folder.write({ 'schema.sql': schema });
    const seen = new Set<string>();
    for (const seed of isHeavy ? [1, 2, 3, 4] : [1, 2]) {
      const isolation = seed % 2 === 0 ? 'repeatable read' : 'read committed';
      const fixed = ['--isolation', isolation, '--seed', String(seed), '--init', 'schema.sql'];
      const recorded = await serve(...fixed, '--choices', 'run.choices', '--record', 'run.jsonl');
      const outcome = JSON.stringify(await race(recorded.url));
      expect(await recorded.end('SIGINT')).toMatchObject({ code: 0, err: '' });
      seen.add(outcome);
      const { code } = await runBuilt(['check', join(folder.path, 'run.jsonl')]);
      expect([0, 1]).toContain(code);
      // More repetitions show no more: one seed has several, which find what differs from process to process.
      const lines = readFileSync(join(folder.path, 'run.choices'), 'utf8').split('\n');
      // As an older version wrote it.
      folder.write({ 'old.choices': `${[lines[0]?.replace('3', '2'), ...lines.slice(1, 3)].join('\n')}\n` });
      for (let again = 0; again < (isHeavy ? 3 : seed === 1 ? 2 : 1); again += 1) {
        const log = again === 0 ? 'run.choices' : 'old.choices';
        const replayed = await serve(...fixed, '--replay', log);
        expect(JSON.stringify(await race(replayed.url)), `seed ${seed}`).toBe(outcome);
        const err = again === 0 ? '' : 'assumed: old.choices has no checksum: it is whole\n';
        expect(await replayed.end('SIGINT'), 'every turn is that of the log').toMatchObject({ code: 0, err });
      }
    }
    expect(seen.size).toBeGreaterThan(1);
  }, 240_000);
});

describe('what cannot be', () => {
  test('a port that is taken, in one line', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const postgres = await runBuilt(['serve', '--port', String(port)]);
    const http = await runBuilt(['serve', '--port', '0', '--http-port', String(port)]);
    taken.close();
    for (const { code, out, err } of [postgres, http]) {
      expect({ code, out }).toEqual({ code: 3, out: '' });
      expect(err.trim().split('\n')).toHaveLength(1);
      expect(err).toContain(`cannot listen on 127.0.0.1:${port}`);
    }
  });

  test.each([
    [['--engine', 'oracle'], 'none of the engines postgres, mysql and mariadb-11.6'],
    [['--engine', 'postgres', '--level', 'causal'], '--engine'],
    [['--engine', 'postgres', '--dialect', 'mysql'], '--dialect'],
    [['--level', 'chaos'], 'none of the levels'],
    [['--isolation', 'chaos'], 'none of the levels'],
    [['--granularity', 'cell'], '--granularity'],
    [['--port', '70000'], 'at most 65535'],
    [['--port', 'x'], 'whole number'],
    [['--abort-rate', '2'], '--abort-rate'],
    [['--max-connections', '0'], 'at least 1'],
    [['--init', 'missing.sql'], 'missing.sql'],
    [['--replay', 'missing.choices'], 'missing.choices'],
    [['--record', 'missing/run.jsonl'], 'missing/run.jsonl'],
    [['--choices', 'missing/run.choices'], 'missing/run.choices'],
    [['--init', 'wrong.sql'], 'syntax error'],
    [['--replay', 'cut.choices'], 'cut.choices:1: the log was cut: its last line, which has the checksum, is missing'],
    [['--host', '203.0.113.7', '--insecure'], 'cannot listen'],
    [['--host', '203.0.113.7', '--password', 'x'], 'cannot listen'],
    [
      ['--host', '0.0.0.0'],
      'other machines may reach 0.0.0.0: ask for a password (--password-file FILE, MOIRAI_PASSWORD)',
    ],
    [['--host', '::'], 'or say --insecure [option/host]'],
    [['--host', '127.0.0.1.evil.example'], 'or say --insecure [option/host]'],
    [['--password', ''], 'the password is empty'],
    [['--password-file', 'empty'], 'the password is empty'],
    [['--password-file', 'missing.password'], 'missing.password'],
    [['--password-file', 'empty', '--password', 'x'], 'not both'],
  ])('%o', async (args, message) => {
    folder.write({ empty: '\n', 'wrong.sql': 'create tabel t', 'cut.choices': '{"moirai":"choices","version":3}\n' });
    const { code, out, err } = await runBuilt(['serve', '--json', '--port', '0', ...args], { cwd: folder.path });
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain(message);
    expect(existsSync(join(folder.path, 'missing'))).toBe(false);
  });
});

test('without --json it says what it is and where', async () => {
  // A second Ctrl-C would end it at once.
  let isKilled = false;
  const { code, out } = await runBuilt(['serve', '--port', '0', '--level', 'prefix', '--seed', '9'], {
    onOutput: (kill) => {
      if (!isKilled) kill('SIGINT');
      isKilled = true;
    },
  });
  expect(code).toBe(0);
  expect(out).toMatch(
    /^any behaviour of prefix .*\nseed 9\nDATABASE_URL=postgres:\/\/postgres@127\.0\.0\.1:\d+\/postgres\nCtrl-C ends it\n$/,
  );
});
