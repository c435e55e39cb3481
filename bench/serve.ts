/**
 * Statements over the wire on `moirai serve` and on a real PostgreSQL: processor time of the server process for each statement, one client,
 * one connection, parameters and named statements as node-postgres sends them. The servers take turns in short slices, so that what else the machine does
 * slows down both: the ratio is the median over the slices, shown with its quartiles. Times are means over all slices, with every garbage collection.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { BenchOptions } from './bench-options.ts';
import { tableLines } from './table.ts';

const usersCount = 10_000;

interface Statement {
  readonly name: string;
  readonly sql: string;
  /** Of run `i`. */
  readonly values?: (i: number) => readonly unknown[];
  /** A statement on few rows is run as often as this for one on all of them. */
  readonly times: number;
}

const key = (i: number): number => 1 + ((i * 7919) % usersCount);

const statements: readonly Statement[] = [
  { name: 'select 1', sql: 'select 1', times: 40 },
  { name: 'by primary key', sql: 'select * from users where id = $1', values: (i) => [key(i)], times: 40 },
  { name: 'by unique key', sql: 'select * from users where email = $1', values: (i) => [`u${key(i)}@x.io`], times: 40 },
  {
    name: 'by indexed foreign key',
    sql: 'select * from orders where user_id = $1',
    values: (i) => [key(i)],
    times: 40,
  },
  {
    name: 'one row joined to one',
    sql: 'select o.id, u.name from orders o join users u on u.id = o.user_id where o.id = $1',
    values: (i) => [key(i)],
    times: 40,
  },
  {
    name: 'update by key',
    sql: 'update users set age = age + 1 where id = $1',
    values: (i) => [key(i)],
    times: 40,
  },
  { name: 'insert', sql: 'insert into notes (body) values ($1)', values: (i) => [`note ${i}`], times: 40 },
  {
    name: 'where id > $1 order by id limit 20',
    sql: 'select * from users where id > $1 order by id limit 20',
    values: (i) => [key(i)],
    times: 40,
  },
  {
    name: 'the same, from the end',
    sql: 'select * from users where id < $1 order by id desc limit 20',
    values: (i) => [key(i)],
    times: 40,
  },
  { name: 'group by over 10k', sql: 'select user_id % 100 k, count(*), sum(total) from orders group by 1', times: 1 },
  { name: 'sum with a condition over 10k', sql: `select sum(total) from orders where status = 'paid'`, times: 1 },
  {
    name: 'join 10k x 10k, group by',
    sql: 'select u.city, count(*), sum(o.total) from users u join orders o on o.user_id = u.id group by u.city',
    times: 1,
  },
  {
    name: 'left join, group by',
    sql: 'select u.id, count(o.id) from users u left join orders o on o.user_id = u.id group by u.id',
    times: 1,
  },
  {
    name: 'exists',
    sql: `select count(*) from users u where exists (select 1 from orders o where o.user_id = u.id and o.status = 'paid')`,
    times: 1,
  },
  {
    name: 'order by two columns, limit 20 offset 100',
    sql: 'select * from orders order by total desc, id limit 20 offset 100',
    times: 1,
  },
  {
    name: 'window rank',
    sql: 'select id, rank() over (partition by status order by total desc) from orders',
    times: 1,
  },
  { name: 'select 10k rows', sql: 'select * from orders', times: 1 },
];

interface Server {
  readonly client: pg.Client;
  readonly processId: number;
  readonly stop: () => Promise<unknown>;
}

export async function serve({ quick, print }: BenchOptions): Promise<void> {
  const servers = [await realServer(), await ownServer()] as const;
  try {
    const { loads, slices, runs, warmUpRuns } = quick
      ? { loads: 3, slices: 7, runs: 4, warmUpRuns: 40 }
      : { loads: 9, slices: 31, runs: 4, warmUpRuns: 100 };
    const rows: string[][] = [['ms of processor time a statement', 'PostgreSQL', 'moirai', 'ratio', 'quartiles']];
    rows.push(row('load of 2 x 10k rows by inserts of 1,000', await measured(loads, servers, loaded), 1));
    for (const statement of statements) {
      // Code that has not been compiled yet is no part of it: of small statements that takes some thousand runs.
      for (const { client } of servers) await run(client, statement, warmUpRuns * statement.times);
      const count = runs * statement.times;
      const times = await measured(slices, servers, (client) => run(client, statement, count));
      rows.push(row(statement.name, times, count));
    }
    for (const line of tableLines(rows)) print(line);
  } finally {
    for (const { client, stop } of servers) {
      await client.end();
      await stop();
    }
  }
}

function row(name: string, slices: readonly Slice[], count: number): string[] {
  const mean = (of: keyof Slice): string =>
    (slices.reduce((sum, slice) => sum + slice[of], 0) / slices.length / count).toFixed(3);
  const ratios = slices.map(({ real, own }) => own / real).toSorted((a, b) => a - b);
  const quantile = (share: number): string => (ratios[Math.round(share * (ratios.length - 1))] ?? 0).toFixed(1);
  return [name, mean('real'), mean('own'), quantile(0.5), `${quantile(0.25)}-${quantile(0.75)}`];
}

async function run(client: pg.Client, { name, sql, values }: Statement, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    await client.query(values === undefined ? sql : { name, text: sql, values: [...values(i)] });
  }
}

/** Milliseconds of processor time of both servers for the same work. */
interface Slice {
  readonly real: number;
  readonly own: number;
}

/** A slice ends when both have worked: what garbage collection does beside the other's turn counts. */
async function measured(
  count: number,
  [real, own]: readonly [Server, Server],
  work: (client: pg.Client) => Promise<void>,
): Promise<Slice[]> {
  const slices: Slice[] = [];
  for (let i = 0; i < count; i += 1) {
    const before = [processorMs(real.processId), processorMs(own.processId)] as const;
    for (const { client } of i % 2 === 0 ? [real, own] : [own, real]) await work(client);
    slices.push({ real: processorMs(real.processId) - before[0], own: processorMs(own.processId) - before[1] });
  }
  return slices;
}

/** Of all threads of a process: the first number of schedstat is nanoseconds on a processor. */
function processorMs(processId: number): number {
  const tasks = readdirSync(`/proc/${processId}/task`);
  const times = tasks.map((task) =>
    Number(readFileSync(`/proc/${processId}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return times.reduce((sum, time) => sum + time, 0) / 1e6;
}

/** The tables anew, 10,000 rows in each. */
async function loaded(client: pg.Client): Promise<void> {
  await client.query('drop table if exists orders; drop table if exists users; drop table if exists notes');
  await client.query(
    'create table users (id int primary key, email text unique not null, name text, city text, age int); create table notes (id serial primary key, body text)',
  );
  await client.query(
    'create table orders (id int primary key, user_id int not null references users, status text, total numeric(10,2)); create index on orders (user_id)',
  );
  await filled(client, 'users', (id) => `(${id}, 'u${id}@x.io', 'User ${id}', 'City ${id % 50}', ${id % 80})`);
  await filled(
    client,
    'orders',
    (id) => `(${id}, ${key(id)}, '${id % 3 === 0 ? 'open' : 'paid'}', ${(id % 1000) / 7})`,
  );
  await client.query('analyze');
}

async function filled(client: pg.Client, table: string, rowOf: (id: number) => string): Promise<void> {
  for (let from = 1; from <= usersCount; from += 1000) {
    const rows = Array.from({ length: 1000 }, (_, i) => rowOf(from + i));
    await client.query(`insert into ${table} values ${rows.join()}`);
  }
}

async function realServer(): Promise<Server> {
  const { port, stop } = await startPostgres();
  const client = await connected(port);
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return { client, processId: rows[0]?.pid ?? 0, stop };
}

async function ownServer(): Promise<Server> {
  const child = spawn(
    process.execPath,
    ['dist/cli/main.js', 'serve', '--engine', 'postgres', '--port', '0', '--window-ms', '0'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const client = await connected(await portOf(child));
  return {
    client,
    processId: child.pid ?? 0,
    stop: () => {
      child.kill('SIGTERM');
      return once(child, 'exit');
    },
  };
}

async function portOf(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new Error('standard output is a pipe');
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /DATABASE_URL=.*:(\d+)\//.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error('moirai serve did not start');
}

async function connected(port: number): Promise<pg.Client> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
  await client.connect();
  return client;
}
