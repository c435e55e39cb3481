/** How fast the mock database is: TPC-C beside a real PostgreSQL, one statement by primary key, loading a table. */
import { Socket } from 'node:net';
import { connectWith } from '../examples/oltp/client.ts';
import { workloads } from '../examples/oltp/program.ts';
import { randomFrom } from '../examples/oltp/random.ts';
import { connectTo } from '#moirai/serve';
import { openSqlDatabase, parseProfile, type SqlDatabase } from '#moirai/database';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { BenchOptions } from './bench-options.ts';
import { tableLines } from './table.ts';

const sessions = 2;
const paperPerSession = 6;

export async function oltpSpeed({ quick, print }: BenchOptions): Promise<void> {
  const seconds = quick ? 2 : 10;
  const real = await realPostgres(seconds);
  const rows = [['', `transactions per session in ${seconds} s`, "times the paper's", 'share of a real PostgreSQL']];
  const add = (name: string, count: number): void => {
    const perTen = (count / seconds) * 10;
    const share = real === null ? 'no server' : `${((count / real) * 100).toFixed(0)} %`;
    rows.push([name, count.toFixed(0), (perTen / paperPerSession).toFixed(0), share]);
  };
  for (const [name, options] of [
    ['axiomatic read-committed, cells', { level: 'read-committed', granularity: 'cell' }],
    ['axiomatic read-committed, rows', { level: 'read-committed', granularity: 'row' }],
    ['axiomatic causal, cells', { level: 'causal', granularity: 'cell' }],
    ['PostgreSQL profile, read committed', { engine: 'postgres' }],
    ['InnoDB profile, repeatable read', { engine: 'mysql' }],
  ] as const) {
    const database = await openSqlDatabase({ profile: parseProfile(options) });
    add(name, await transactionsPerSession(database, seconds));
    database.close();
  }
  if (real !== null) add('PostgreSQL 15 over loopback', real);
  print();
  print(
    `TPC-C mix, 1 warehouse, 2 districts, 3 customers, ${sessions} sessions in process through node-postgres or mysql2`,
  );
  for (const line of tableLines(rows)) print(line);
  await pointStatements(print, quick);
  await load(print);
}

async function transactionsPerSession(database: SqlDatabase, seconds: number): Promise<number> {
  const setup = database.connect({ user: 'bench', database: '', parameters: new Map(), onParameter: () => {} });
  for (const sql of workloads.tpcc.schema(database.dialect)) await setup.execute(setup.prepare(sql), []);
  setup.close();
  database.start();
  return runFor(seconds, (name) =>
    connectWith(database.dialect, { name, connect: () => connectTo(database), sometimes: () => {} }),
  );
}

async function realPostgres(seconds: number): Promise<number | null> {
  const server = await startPostgres();
  if (server === null) return null;
  const client = (name: string) =>
    connectWith('postgres', { name, connect: () => new DriverSocket(server.port), sometimes: () => {} });
  try {
    const setup = await client('setup');
    for (const sql of workloads.tpcc.schema('postgres')) await setup.query(sql);
    await setup.close();
    return await runFor(seconds, client);
  } finally {
    await server.stop();
  }
}

/** A socket that goes to this server whatever address the driver names. */
class DriverSocket extends Socket {
  readonly #port: number;

  constructor(port: number) {
    super();
    this.#port = port;
  }

  override connect(): this {
    return super.connect(this.#port, '127.0.0.1');
  }
}

async function runFor(seconds: number, client: (name: string) => ReturnType<typeof connectWith>): Promise<number> {
  let count = 0;
  const end = performance.now() + seconds * 1_000;
  await Promise.all(
    Array.from({ length: sessions }, async (_, i) => {
      const connected = await client(`session${i}`);
      const random = randomFrom(i + 1);
      while (performance.now() < end) {
        await workloads.tpcc.transaction(connected, random);
        count += 1;
      }
      await connected.close();
    }),
  );
  return count / sessions;
}

async function pointStatements(print: BenchOptions['print'], quick: boolean): Promise<void> {
  const rows = [['one statement by primary key, microseconds', 'SELECT', 'UPDATE']];
  for (const [name, options] of [
    ['PostgreSQL profile', { engine: 'postgres' }],
    ['InnoDB profile', { engine: 'mysql' }],
    ['axiomatic read-committed, rows', { level: 'read-committed' }],
  ] as const) {
    const database = await openSqlDatabase({ profile: parseProfile(options) });
    const session = database.connect({ user: 'bench', database: '', parameters: new Map(), onParameter: () => {} });
    const run = (sql: string, parameters: readonly number[] = []) => session.execute(session.prepare(sql), parameters);
    await run('CREATE TABLE points (id int PRIMARY KEY, v int NOT NULL)');
    for (let i = 0; i < 1_000; i += 1) await run(`INSERT INTO points VALUES (${i}, 0)`);
    const mark = database.dialect === 'postgres' ? '$1' : '?';
    const select = session.prepare(`SELECT v FROM points WHERE id = ${mark}`);
    const update = session.prepare(`UPDATE points SET v = v + 1 WHERE id = ${mark}`);
    const count = quick ? 5_000 : 50_000;
    const selects = await microseconds(count, (i) => session.execute(select, [i % 1_000]));
    const updates = await microseconds(count, (i) => session.execute(update, [i % 1_000]));
    rows.push([name, selects.toFixed(1), updates.toFixed(1)]);
    database.close();
  }
  print();
  for (const line of tableLines(rows)) print(line);
}

async function microseconds(count: number, run: (i: number) => Promise<unknown>): Promise<number> {
  for (let i = 0; i < count / 5; i += 1) await run(i);
  const start = performance.now();
  for (let i = 0; i < count; i += 1) await run(i);
  return ((performance.now() - start) * 1_000) / count;
}

async function load(print: BenchOptions['print']): Promise<void> {
  const rowsMax = 100_000;
  const batch = 1_000;
  const rows = [['loading 100,000 rows, 1,000 an INSERT', 'seconds']];
  for (const [name, options] of [
    ['PostgreSQL profile', { engine: 'postgres' }],
    ['InnoDB profile', { engine: 'mysql' }],
    ['axiomatic read-committed, rows', { level: 'read-committed' }],
    ['axiomatic read-committed, cells', { level: 'read-committed', granularity: 'cell' }],
  ] as const) {
    const database = await openSqlDatabase({ profile: parseProfile(options) });
    const session = database.connect({ user: 'bench', database: '', parameters: new Map(), onParameter: () => {} });
    await session.execute(
      session.prepare('CREATE TABLE items (id int PRIMARY KEY, name varchar(20) NOT NULL, price int)'),
      [],
    );
    const start = performance.now();
    for (let from = 0; from < rowsMax; from += batch) {
      const values = Array.from({ length: batch }, (_, i) => `(${from + i}, 'item ${from + i}', ${i})`);
      await session.execute(session.prepare(`INSERT INTO items VALUES ${values.join(', ')}`), []);
    }
    rows.push([name, ((performance.now() - start) / 1_000).toFixed(2)]);
    database.close();
  }
  print();
  for (const line of tableLines(rows)) print(line);
}
