/** Ranges of rows, `(a, b) > (1, 2)`: what an index finds, against a model and against PostgreSQL. */
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { type Chooser, seeded } from '../src/base/index.ts';
import { startPostgres } from './support/postgres-server.ts';
import { startedOrSkipped } from './support/server-process.ts';
import { connected, openDatabase, type TestSession } from '../src/database/sql-session.test-support.ts';

type Cell = number | null;
type Triple = readonly [Cell, Cell, Cell];

const columns = ['a', 'b', 'c'] as const;
const operators = ['<', '<=', '>', '>='] as const;
type Operator = (typeof operators)[number];

const mirrored = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

const indexes = ['(a, b, c)', '(a, b)', '(a)', '(a desc, b desc, c desc)', '(a, b desc)', '(c, a, b)'];

/** SQL:2016, 8.2: the first elements that differ decide; `null` is unknown. */
function holds(left: readonly Cell[], operator: Operator, right: readonly Cell[]): boolean | null {
  for (const [i, l] of left.entries()) {
    const r = right[i] ?? null;
    if (l === null || r === null) return null;
    if (l !== r) return operator.startsWith('<') ? l < r : l > r;
  }
  return operator.endsWith('=');
}

interface Condition {
  readonly sql: string;
  readonly accepts: (row: Triple) => boolean;
}

function randomCell(chooser: Chooser): Cell {
  const value = chooser.choose(7);
  return value === 6 ? null : value;
}

function pick<T>(chooser: Chooser, list: readonly T[]): T {
  return list[chooser.choose(list.length)] as T;
}

function randomCondition(chooser: Chooser): Condition {
  const sides = pick(chooser, [[0, 1], [0, 1, 2], [1, 0], [0, 2], [0], [2, 0, 1]]);
  const operator = pick(chooser, operators);
  const values = sides.map(() => randomCell(chooser));
  const names = `row(${sides.map((at) => columns[at]).join()})`;
  const literals = `row(${values.map((value) => value ?? 'null::int').join()})`;
  const isMirrored = chooser.choose(3) === 0;
  return {
    sql: isMirrored ? `${literals} ${mirrored[operator]} ${names}` : `${names} ${operator} ${literals}`,
    accepts: (row) => {
      const cells = sides.map((at) => row[at] ?? null);
      return holds(cells, operator, values) === true;
    },
  };
}

async function filled(run: TestSession['run'], index: string, rows: readonly Triple[]): Promise<void> {
  await run('create table t (id int primary key, a int, b int, c int)');
  await run(`create index t_row on t ${index}`);
  const list = rows.map((row, id) => `(${id}, ${row.map((cell) => cell ?? 'null').join()})`);
  await run(`insert into t values ${list.join()}`);
}

describe.each(indexes)('rows compared with rows, by an index on %s', (index) => {
  test.each([1, 2, 3])('are those that a model finds (seed %i)', async (seed) => {
    const chooser = seeded(seed);
    const { run, rows } = connected(await openDatabase({ engine: 'postgres' }));
    const all = Array.from(
      { length: 150 },
      (): Triple => [0, 0, 0].map(() => randomCell(chooser)) as unknown as Triple,
    );
    await filled(run, index, all);
    for (let i = 0; i < 60; i++) {
      const conditions = Array.from({ length: 1 + chooser.choose(2) }, () => randomCondition(chooser));
      const own = chooser.choose(4) === 0 ? [{ sql: 'c = 2', accepts: ([, , c]: Triple) => c === 2 }] : [];
      const where = [...own, ...conditions];
      const sql = `select id from t where ${where.map((each) => each.sql).join(' and ')}`;
      const expected = all.flatMap((row, id) => (where.every(({ accepts }) => accepts(row)) ? [id] : []));
      const found = (await rows(sql)).map(([id]) => Number(id)).toSorted((x, y) => x - y);
      expect({ sql, found }).toEqual({ sql, found: expected });
      const direction = pick(chooser, ['', ' desc']);
      const page = `${sql} order by a${direction}, b${direction}, c${direction}, id`;
      const limited = await rows(`${page} limit 5`);
      expect({ page, limited }).toEqual({ page, limited: (await rows(page)).slice(0, 5) });
    }
  });
});

const server = await startedOrSkipped(startPostgres);
afterAll(() => server?.stop());

/** Does PostgreSQL search the index for it? */
const searches: readonly (readonly [index: string, condition: string])[] = [
  ['(a, b)', '(a, b) > (1, 2)'],
  ['(a, b)', '(1, 2) >= (a, b)'],
  ['(a)', '(a, b) > (1, 2)'],
  ['(c, a, b)', 'c = 1 and (a, b) < (1, 2)'],
  ['(a, b)', '(a, 5) > (1, 2)'],
  ['(a, b)', '(a, b) > (1, c)'],
  ['(a, b)', '(c, a) > (1, 2)'],
  ['(a, b)', '(a, b) <> (1, 2)'],
];

describe.skipIf(server === undefined)('an index is searched where PostgreSQL searches it', () => {
  test.each(searches)('index on %s, %s', async (index, condition) => {
    if (server === undefined) return;
    const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'postgres', database: 'postgres' });
    await client.connect();
    await client.query(
      `begin; create table t (id int primary key, a int, b int, c int); create index t_row on t ${index}`,
    );
    await client.query('set local enable_seqscan = off; set local enable_bitmapscan = off');
    const real = await client.query<{ 'QUERY PLAN': string }>(`explain (costs off) select * from t where ${condition}`);
    const isSearched = real.rows.some((row) => row['QUERY PLAN'].includes('Index Cond'));
    await client.end();
    const { run, rows } = connected(await openDatabase({ engine: 'postgres' }));
    await filled(run, index, [[1, 2, 3]]);
    const plan = JSON.stringify(await rows(`explain select * from t where ${condition}`));
    expect(plan.includes('range')).toBe(isSearched);
  });
});

test('a serializable transaction fails for a row within the range that it read', async () => {
  const database = await openDatabase({ engine: 'postgres', isolation: 'serializable' });
  const [x, y] = [connected(database), connected(database)];
  await filled(x.run, '(a, b)', [[1, 2, 3]]);
  for (const { run } of [x, y]) await run('begin');
  for (const { rows } of [x, y]) expect(await rows('select id from t where (a, b) > (1, 5)')).toEqual([]);
  await x.run('insert into t values (10, 1, 6, 0)');
  await y.run('insert into t values (11, 2, 0, 0)');
  expect([await x.outcome('commit'), await y.outcome('commit')]).toContain('40001');
});
