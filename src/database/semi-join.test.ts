/** EXISTS asked for many rows: the table of the subquery is read as a whole where no one observes that, and nowhere else. */
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { FootprintRecorder } from '../engine/index.ts';
import { TableIndex } from '../engine/postgres/table-index.ts';
import type { SqlDatabaseOptions } from './index.ts';
import { connected, openDatabase, type TestSession } from './sql-session.test-support.ts';

const value = fc.option(fc.integer({ min: 0, max: 5 }));
const row = fc.record({ a: value, b: value });

interface Pair {
  readonly a: number | null;
  readonly b: number | null;
}

interface Condition {
  readonly sql: string;
  readonly holds: (inner: Pair, outer: Pair) => boolean;
}

const isEqual = (a: number | null, b: number | null): boolean => a !== null && a === b;

const conditions: readonly Condition[] = [
  { sql: 'i.a = o.a', holds: (i, o) => isEqual(i.a, o.a) },
  { sql: 'o.b = i.b and i.a > 2', holds: (i, o) => isEqual(i.b, o.b) && i.a !== null && i.a > 2 },
  { sql: 'i.a = o.b and i.b is null', holds: (i, o) => isEqual(i.a, o.b) && i.b === null },
  {
    sql: 'i.a = o.a and i.b <> 1 and 4 > i.b',
    holds: (i, o) => isEqual(i.a, o.a) && i.b !== null && i.b !== 1 && i.b < 4,
  },
  { sql: 'i.t = o.t and i.a in (1, 3)', holds: (i, o) => isEqual(i.a, o.a) && (i.a === 1 || i.a === 3) },
  { sql: 'i.a = o.a and i.b = o.b', holds: (i, o) => isEqual(i.a, o.a) && isEqual(i.b, o.b) },
  { sql: 'i.a = o.a and i.b < o.b', holds: (i, o) => isEqual(i.a, o.a) && i.b !== null && o.b !== null && i.b < o.b },
  { sql: 'i.b between 1 and 4', holds: (i) => i.b !== null && i.b >= 1 && i.b <= 4 },
];

const schema = [
  'create table o (id int primary key, a int, b int, t varchar(5))',
  'create table i (id int primary key, a int, b int, t varchar(5))',
  'create index on i (a)',
];

async function fill(session: TestSession, table: string, rows: readonly Pair[]): Promise<void> {
  const lists = rows.map(({ a, b }, id) => `(${id}, ${a}, ${b}, ${a === null ? 'null' : `'t${a}'`})`);
  await session.run(`delete from ${table}`);
  if (lists.length > 0) await session.run(`insert into ${table} values ${lists.join()}`);
}

test.each(['postgres', 'mysql'] as const)(
  '%s: EXISTS holds for the rows that it holds for by its definition',
  async (engine) => {
    // With the first write the recorder stops.
    const session = connected(await openDatabase({ engine }, { operationsMax: 0 }));
    for (const sql of schema) await session.run(engine === 'mysql' ? sql.replace('index on', 'index ia on') : sql);
    const rows = fc.array(row, { maxLength: 24 });
    await fc.assert(
      fc.asyncProperty(rows, rows, async (outer, inner) => {
        await fill(session, 'o', outer);
        await fill(session, 'i', inner);
        for (const { sql, holds } of conditions) {
          const wanted = outer.flatMap((o, id) => (inner.some((i) => holds(i, o)) ? [id] : []));
          const others = outer.flatMap((_, id) => (wanted.includes(id) ? [] : [id]));
          const exists = `exists (select 1 from i where ${sql})`;
          const idsWhere = async (condition: string): Promise<unknown[]> =>
            (await session.rows(`select id from o where ${condition} order by id`)).map(([id]) => id);
          expect({ sql, ids: await idsWhere(exists) }).toEqual({ sql, ids: wanted });
          expect({ sql, ids: await idsWhere(`not ${exists}`) }).toEqual({ sql, ids: others });
        }
      }),
      { seed: 14, numRuns: 8 },
    );
  },
);

/** 200 rows of i, of which those with even `a` have partners among the 100 rows of o. */
async function manyRows(options: Partial<SqlDatabaseOptions>, isolation = 'read committed') {
  const database = await openDatabase({ engine: 'postgres', isolation }, options);
  const [one, other] = [connected(database, {}, 'one'), connected(database, {}, 'other')];
  for (const sql of schema) await one.run(sql);
  const pairs = (count: number, factor: number) => Array.from({ length: count }, (_, n) => ({ a: n * factor, b: 0 }));
  await fill(one, 'o', pairs(100, 2));
  await fill(one, 'i', pairs(200, 1));
  return { database, one, other };
}

const counted = 'select count(*) from o where exists (select 1 from i where i.a = o.a and i.b = 0)';

test('a condition that cannot fail is evaluated on all rows, one that can on those that are looked up', async () => {
  const { one } = await manyRows({ operationsMax: 0 });
  await one.run('update i set b = 1 where a = 3');
  // No row of o has a = 3.
  expect(await one.rows(counted.replace('i.b = 0', '1 / (i.b - 1) = -1'))).toEqual([[100n]]);
  expect(await one.rows(counted)).toEqual([[100n]]);
});

test('after an eighth as many look-ups as the table has rows, the table is read once', async () => {
  const { one } = await manyRows({ operationsMax: 0 });
  const lookUps = vi.spyOn(TableIndex.prototype, 'only');
  try {
    await one.run(counted);
    expect(lookUps).toHaveBeenCalledTimes(200 / 8);
  } finally {
    lookUps.mockRestore();
  }
});

test('a transaction sees its own rows and not those of others', async () => {
  const { one, other } = await manyRows({ operationsMax: 0 });
  await one.run('begin');
  await one.run('delete from i where a < 10');
  expect([await one.rows(counted), await other.rows(counted)]).toEqual([[[95n]], [[100n]]]);
  await one.run('commit');
  expect(await other.rows(counted)).toEqual([[95n]]);
});

test('a footprint has the keys that were looked up', async () => {
  const footprints = new FootprintRecorder();
  const { one, other } = await manyRows({ footprints });
  const footprintOf = async (sql: string) => {
    footprints.take();
    await (sql === counted ? one : other).run(sql);
    return footprints.take();
  };
  const read = await footprintOf(counted);
  const asked = await footprintOf('update i set b = 1 where a = 8');
  const notAsked = await footprintOf('update i set b = 1 where a = 9');
  expect([read.conflictsWith(asked), read.conflictsWith(notAsked)]).toEqual([true, false]);
});

test('a history has the rows that were looked up', async () => {
  const { database, one } = await manyRows({});
  database.start();
  await one.run(counted);
  const keys = database.history().transactions.flatMap(({ operations }) => operations.map(({ key }) => key));
  expect(keys.filter((key) => key.startsWith('i/'))).toHaveLength(100);
});

test('SERIALIZABLE has no conflict by rows that were not looked up', async () => {
  const { one, other } = await manyRows({ operationsMax: 0 }, 'serializable');
  for (const session of [one, other]) await session.run('begin');
  await one.run(counted);
  await other.run('select * from o where id = 1');
  await other.run('update i set b = 1 where a = 9');
  await one.run('update o set b = 1 where id = 1');
  expect([await other.outcome('commit'), await one.outcome('commit')]).toEqual(['COMMIT', 'COMMIT']);
});
