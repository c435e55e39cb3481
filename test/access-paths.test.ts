/** PostgreSQL fails a serializable transaction under exactly those access paths under which exploring finds a failure. */
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { exploreSql } from '../src/explore/sql/index.ts';
import { exploreSqlPlans } from '../src/explore/sql/explore-sql-plans.ts';
import { accessKey } from '../src/database/assumptions/index.ts';
import { parseProfile } from '../src/database/index.ts';
import program, { reading, schema, writing } from './support/apart-by-index.ts';
import { startPostgres } from './support/postgres-server.ts';
import { startedOrSkipped } from './support/server-process.ts';
import { moiraiInLockStep, postgresInLockStep, runInLockStep } from './support/sql-lock-step.ts';

const server = await startedOrSkipped(startPostgres);
afterAll(() => server?.stop());

type Path = 'by index jobs_owner' | 'as a whole';
const paths: readonly Path[] = ['by index jobs_owner', 'as a whole'];

/** Does any schedule fail? By the paths of the two statements. */
async function explored(): Promise<ReadonlyMap<string, boolean>> {
  const fails = new Map<string, boolean>();
  const profile = parseProfile({ engine: 'postgres', isolation: 'serializable' });
  await exploreSqlPlans(program, { profile }, async ({ resume: _resume, ...options }) => {
    const result = await exploreSql(program, options);
    const pathOf = (text: string) => result.accesses.find(({ statement }) => statement === text)?.taken;
    fails.set(`${pathOf(reading)}, ${pathOf(writing)}`, result.violations > 0);
    return result;
  });
  return fails;
}

/** Both read, both write, both commit: does one of them fail? */
async function shown(port: number, readPath: Path, writePath: Path): Promise<boolean> {
  const clients = await Promise.all([10, 30].map(() => connected(port)));
  const [first] = clients as [pg.Client];
  await first.query(schema);
  const codes: string[] = [];
  const all = async (send: (client: pg.Client, owner: number) => Promise<unknown>): Promise<void> => {
    for (const [i, client] of clients.entries())
      await send(client, i === 0 ? 10 : 30).catch(({ code }: { code: string }) => codes.push(code));
  };
  await all((client) => client.query('BEGIN ISOLATION LEVEL SERIALIZABLE'));
  await all(async (client, owner) => {
    await force(client, readPath);
    await client.query(reading, [owner]);
  });
  await all(async (client, owner) => {
    await force(client, writePath);
    await client.query(writing, [owner]);
  });
  await all((client) => client.query('COMMIT'));
  for (const client of clients) await client.end();
  expect(codes.filter((code) => code !== '40001')).toEqual([]);
  return codes.length > 0;
}

async function connected(port: number): Promise<pg.Client> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
  await client.connect();
  return client;
}

async function force(client: pg.Client, path: Path): Promise<void> {
  const byIndex = path === 'as a whole' ? 'off' : 'on';
  const asAWhole = path === 'as a whole' ? 'on' : 'off';
  await client.query(
    `SET enable_bitmapscan = off; SET enable_indexscan = ${byIndex}; SET enable_indexonlyscan = ${byIndex}; SET enable_seqscan = ${asAWhole}`,
  );
}

describe.skipIf(server === undefined)('PostgreSQL, serializable', () => {
  test('fails where exploring does, and nowhere else', { timeout: 120_000 }, async () => {
    if (server === undefined) return;
    const fails = new Map<string, boolean>();
    for (const readPath of paths)
      for (const writePath of paths)
        fails.set(`${readPath}, ${writePath}`, await shown(server.port, readPath, writePath));
    expect(fails.get('by index jobs_owner, by index jobs_owner')).toBe(false);
    expect(fails.get('as a whole, by index jobs_owner')).toBe(true);
    expect(await explored()).toEqual(fails);
  });
});

const stock = `create table p (sid int, k int); create table s (id int primary key, uid int, n int); insert into s values (1, 1, 0)`;
const above = 'update s set n = n + 1 where exists (select 1 from p where p.sid = s.uid and p.k > s.n)';
const steps = `a: begin\na: update s set n = 10 where id = 1\nb: ${above}\na: commit\nb: select n from s`;
/** As a hash table has the rows, and as a nested loop comes to them. */
const partners = {
  'from its last row': 'set enable_nestloop = off',
  'from its first row': 'set enable_hashjoin = off',
};

describe.each(Object.entries(partners))(
  'the row of EXISTS that a changed row is compared with, %s',
  (taken, setting) => {
    test.each(['(1, 5), (1, 20)', '(1, 20), (1, 5)'])('%s', async (rows) => {
      const filled = `${stock}; insert into p values ${rows}`;
      const way = Object.keys(partners).indexOf(taken);
      const ours = moiraiInLockStep({ [accessKey({ table: 'p for EXISTS', statement: above })]: way });
      const answered = await runInLockStep(ours, filled, steps);
      await ours.close();
      expect(answered).toContain(rows.startsWith('(1, 20)') === (way === 1) ? 'b -> UPDATE 1' : 'b -> UPDATE 0');
      if (server === undefined) return;
      const real = await postgresInLockStep(server.port);
      const forced = ['set enable_mergejoin = off', setting].map((sql) => `b: ${sql}`);
      const expected = [...forced.map((step) => `${step} -> SET`), answered].join('\n');
      const shownThere = await runInLockStep(real, filled, [...forced, steps].join('\n'), expected);
      await real.close();
      expect(shownThere).toBe(expected);
    });
  },
);
