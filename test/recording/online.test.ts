/** `moirai record ... | moirai verify -`: violations of a real server as they happen, and what a pipe may do. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build, type Ended, root } from '../support/cli.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { freePort, startedOrSkipped } from '../support/server-process.ts';

const server = await startedOrSkipped(startPostgres);
const main = join(root, 'dist/cli/main.js');
const folder = mkdtempSync(join(root, 'node_modules/.moirai-online-'));

beforeAll(build, 120_000);
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

class Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  out = '';
  err = '';

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [...args], { cwd: folder, env: { ...process.env, NO_COLOR: '1', ...env } });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => (this.err += text));
    this.child.stdin.on('error', () => {});
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) => resolve({ code, signal, out: this.out, err: this.err }));
    });
  }

  /** What it prints is kept, or is the input of another one. */
  into(reader: Started | null): this {
    if (reader === null) this.child.stdout.setEncoding('utf8').on('data', (text: string) => (this.out += text));
    else this.child.stdout.pipe(reader.child.stdin);
    return this;
  }
}

interface Pipe {
  readonly port: number;
  readonly record: Started;
  readonly verify: Started;
  /** As a terminal does it: both are told. */
  readonly interrupt: () => Promise<[Ended, Ended]>;
}

async function pipeOf(isolation: string, ...options: string[]): Promise<Pipe> {
  const port = await freePort();
  const claim = ['--engine', 'postgres', '--isolation', isolation, ...options];
  const verify = new Started([main, 'verify', '-', ...claim]).into(null);
  const upstream = `postgres://127.0.0.1:${server?.port}`;
  const record = new Started([main, 'record', '--listen', String(port), '--upstream', upstream]).into(verify);
  await expect.poll(() => record.err).toContain('clients connect to');
  const interrupt = (): Promise<[Ended, Ended]> => {
    record.child.kill('SIGINT');
    verify.child.kill('SIGINT');
    return Promise.all([record.ended, verify.ended]);
  };
  return { port, record, verify, interrupt };
}

async function connected(port: number): Promise<pg.Client> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function tableThrough(port: number): Promise<[pg.Client, pg.Client]> {
  const clients: [pg.Client, pg.Client] = [await connected(port), await connected(port)];
  for (const sql of [
    'DROP TABLE IF EXISTS pairs',
    'CREATE TABLE pairs (id int PRIMARY KEY, n int)',
    'INSERT INTO pairs VALUES (1, 0), (2, 0)',
  ])
    await clients[0].query(sql);
  return clients;
}

let value = 0;

/** Each reads both rows and writes the one that the other does not. */
async function writeSkew(clients: readonly pg.Client[]): Promise<void> {
  for (const client of clients) await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  for (const client of clients) await client.query('SELECT id, n FROM pairs WHERE id IN (1, 2)');
  for (const [i, client] of clients.entries()) {
    value += 1;
    await client.query('UPDATE pairs SET n = $1 WHERE id = $2', [value, i + 1]);
  }
  for (const client of clients) await client.query('COMMIT');
}

describe.skipIf(server === undefined)('record and verify in a pipe', () => {
  test('a claim that is wrong is found while it runs, although a client does nothing in its transaction', async () => {
    const { port, verify, interrupt } = await pipeOf('serializable');
    const clients = await tableThrough(port);
    const idle = await connected(port);
    await idle.query('BEGIN');
    await idle.query('SELECT n FROM pairs WHERE id = 1');
    for (const count of [1, 2, 3]) {
      await writeSkew(clients);
      await expect.poll(() => verify.out).toContain(`violation ${count}: serialization-certifier`);
    }
    const [recorded, verified] = await interrupt();
    expect([recorded.code, verified.code]).toEqual([0, 1]);
    expect(verified.out).toContain('violated: 3 violations');
    expect(verified.out).not.toContain('last mark');
    await expect(connected(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('a claim that is right; a client that vanishes, one that waits for a lock for longer than the buffer lasts', async () => {
    const { port, interrupt } = await pipeOf('repeatable read', '--buffer', '50', '--json');
    const clients = await tableThrough(port);
    const [holder, waiter, dead] = [await connected(port), await connected(port), await connected(port)];
    await holder.query('BEGIN');
    await holder.query('UPDATE pairs SET n = -1 WHERE id = 2');
    const waits = waiter.query('UPDATE pairs SET n = -2 WHERE id = 2');
    await dead.query('BEGIN');
    await dead.query('INSERT INTO pairs VALUES (3, 3)');
    (dead as unknown as { connection: { stream: { destroy: () => void } } }).connection.stream.destroy();
    for (let i = 0; i < 200; i += 1) {
      await clients[0].query('UPDATE pairs SET n = $1 WHERE id = 1', [1_000 + i]);
      await clients[1].query('SELECT n FROM pairs WHERE id IN (1, 2)');
    }
    await holder.query('COMMIT');
    await waits;
    for (let i = 0; i < 20; i += 1) await clients[1].query('SELECT n FROM pairs WHERE id = 2');
    await writeSkew(clients);
    const [recorded, verified] = await interrupt();
    expect([recorded.code, verified.code]).toEqual([0, 0]);
    const result = JSON.parse(verified.out) as { verdict: string; late: number; cut: null; violationCount: number };
    expect(result).toMatchObject({ verdict: 'satisfied', cut: null, violationCount: 0 });
    expect(result.late).toBeGreaterThan(0);
  });

  test('a recorder that is killed: what it did not say any more is no violation', async () => {
    const { port, record, verify } = await pipeOf('repeatable read');
    let written = 0;
    record.child.stdout.on('data', (bytes: Buffer) => (written += bytes.length));
    const clients = await tableThrough(port);
    await writeSkew(clients);
    // A recorder that is killed before it has written anything leaves no trace.
    await expect.poll(() => written).toBeGreaterThan(1_000);
    await clients[0].query('BEGIN');
    await clients[0].query('UPDATE pairs SET n = 7 WHERE id = 1');
    await clients[1].query('SELECT n FROM pairs WHERE id = 1');
    record.child.kill('SIGKILL');
    const { code, out } = await verify.ended;
    expect([code, out]).toEqual([
      2,
      expect.stringMatching(/^unknown: the trace ends without its last mark: .+ not checked/),
    ]);
  });

  test('a reader that is gone: clients are unharmed, nothing grows, exit code 3', async () => {
    const { port, record, verify } = await pipeOf('repeatable read');
    const clients = await tableThrough(port);
    verify.child.kill('SIGKILL');
    await verify.ended;
    record.child.stdout.destroy();
    for (let i = 0; i < 20; i += 1) await writeSkew(clients);
    await expect.poll(() => record.err).toContain('its reader is gone');
    await writeSkew(clients);
    record.child.kill('SIGINT');
    expect((await record.ended).code).toBe(3);
  });

  test('an application that is recorded into a pipe', async () => {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules/moirai'), 'dir');
    const app = join(folder, 'app.mjs');
    writeFileSync(
      app,
      `import pg from 'pg';
      const [a, b] = [1, 2].map(() => new pg.Client({ host: '127.0.0.1', port: ${server?.port}, user: 'postgres' }));
      await a.connect(); await b.connect();
      await a.query('DROP TABLE IF EXISTS piped'); await a.query('CREATE TABLE piped (id int PRIMARY KEY, n int)');
      await a.query('INSERT INTO piped VALUES (1, 0), (2, 0)');
      for (const c of [a, b]) await c.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      for (const c of [a, b]) await c.query('SELECT id, n FROM piped WHERE id IN (1, 2)');
      await a.query('UPDATE piped SET n = 1 WHERE id = 1'); await b.query('UPDATE piped SET n = 2 WHERE id = 2');
      await a.query('COMMIT'); await b.query('COMMIT'); await a.end(); await b.end();`,
    );
    const verify = new Started([main, 'verify', '-', '--engine', 'postgres', '--isolation', 'serializable']).into(null);
    const recorded = new Started(['--import', 'moirai/record', app], { MOIRAI_TRACE: '-' }).into(verify);
    expect(await recorded.ended).toMatchObject({ code: 0, err: '' });
    const { code, out } = await verify.ended;
    expect([code, out]).toEqual([1, expect.stringContaining('violation 1: serialization-certifier')]);
  });
});
