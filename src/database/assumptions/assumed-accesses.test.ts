/** Which statements' ways to rows a verdict depends on. */
import { describe, expect, test } from 'vitest';
import { accessKey, assumedClauses } from './assumed-accesses.ts';
import type { SqlDatabase } from '../database.ts';
import { connected, openDatabase } from '../sql-session.test-support.ts';

async function afterStatements(engine: string, isolation: string, statements: readonly string[]): Promise<SqlDatabase> {
  const database = await openDatabase({ engine, isolation });
  const client = connected(database);
  await client.run('create table t (id int primary key, owner int, n int)');
  await client.run('create index t_owner on t (owner)');
  await client.run('create table u (id int primary key, tid int)');
  database.start();
  for (const sql of statements) await client.run(sql);
  return database;
}

describe('a choice between an index and the table matters', () => {
  test.each([
    ['postgres', 'serializable', 'select n from t where id = 1', 'by index t_pkey'],
    ['postgres', 'serializable', 'update t set n = 1 where owner = 1', 'by index t_owner'],
    ['mysql', 'repeatable read', 'select n from t where owner = 1 for update', 'by index t_owner'],
    ['mysql', 'read committed', 'delete from t where owner = 1', 'by index t_owner'],
    ['mysql', 'serializable', 'select n from t where owner > 1', 'by index t_owner'],
  ])('%s, %s: %s', async (engine, isolation, statement, taken) => {
    const { assumed } = await afterStatements(engine, isolation, [statement]);
    expect(assumed.list).toMatchObject([{ table: 't', statement, taken, way: 0, ways: 2 }]);
  });
});

const updateOfFresh = (condition: string): string =>
  `update u set tid = 1 where exists (select 1 from t where t.owner = u.tid and ${condition})`;

test.each([
  ['read committed', 't.n > u.id', 1],
  ['read uncommitted', 't.n > u.id', 1],
  ['repeatable read', 't.n > u.id', 0],
  ['serializable', 't.n > u.id', 0],
  ['read committed', 't.n > 0', 0],
  ['read committed', 't.n = u.id', 0],
  ['read committed', 't.n > u.id and t.id = u.id', 0],
])(
  'PostgreSQL, %s: with which row of EXISTS a changed row is compared, where %s',
  async (isolation, condition, count) => {
    const statement = updateOfFresh(condition);
    const { assumed } = await afterStatements('postgres', isolation, [statement]);
    const ofPartners = assumed.list.filter(({ table }) => table.endsWith(' for EXISTS'));
    const choice = { table: 't for EXISTS', statement, taken: 'from its last row', way: 0, ways: 2 };
    expect(ofPartners).toEqual(count === 0 ? [] : [choice]);
  },
);

describe('no choice, or one that makes no difference', () => {
  test.each([
    ['postgres', 'repeatable read', 'update t set n = 1 where owner = 1'],
    ['postgres', 'serializable', 'select n from t where n = 1'],
    ['mysql', 'repeatable read', 'select n from t where owner = 1'],
    ['mysql', 'repeatable read', 'update t set n = 1 where id = 1'],
    ['mysql', 'repeatable read', 'update t set n = 1 where n = 1'],
  ])('%s, %s: %s', async (engine, isolation, statement) => {
    expect((await afterStatements(engine, isolation, [statement])).assumed.list).toEqual([]);
  });
});

describe('PostgreSQL may read an index whole: one with a column of the condition that is not its first, or a partial one', () => {
  const schema = [
    'create table w (id int primary key, a int, b int)',
    'create index w_ab on w (a, b)',
    'create index w_open on w (a) where b > 0',
    'create index w_set on w (a) where b is not null',
  ];
  test.each([
    ['b = 1', 4],
    ['x.b in (1, 2)', 4],
    ['b > 0 and id is not null', 4],
    ['1 < b', 4],
    ['b = 0', 3],
    ['b >= 0', 3],
    ['b in (0, 1)', 3],
    ['b in (1, id)', 2],
    ['b is not null', 2],
    ['b <> 0', 2],
    ['b is null', 2],
  ])('%s', async (condition, ways) => {
    const sql = `select id from w x where ${condition}`;
    const { assumed } = await afterStatements('postgres', 'serializable', [...schema, sql]);
    expect(assumed.list).toEqual([{ table: 'w', statement: sql, taken: 'as a whole', way: 0, ways }]);
  });

  test('the rows are the same', async () => {
    const rows = 'insert into w select n, n % 3, nullif(n % 5, 4) from generate_series(1, 20) n';
    for (const sql of ['select id from w where b > 1 order by id', 'select id from w where b in (1, 2) order by id']) {
      const found = await Promise.all(
        [0, 1, 2, 3].map(async (way) => {
          const ways = { [accessKey({ table: 'w', statement: sql })]: way };
          const client = connected(await openDatabase({ engine: 'postgres', isolation: 'serializable' }, { ways }));
          for (const each of [...schema, rows]) await client.run(each);
          return (await client.run(sql)).rows;
        }),
      );
      expect(found[0]?.length).toBeGreaterThan(0);
      for (const other of found.slice(1)) expect(other).toEqual(found[0]);
    }
  });
});

describe('a join of InnoDB that locks: with which table it begins, and whether it looks the other up or reads it whole', () => {
  const order = { table: 'u', taken: 'before t', way: 0, ways: 2 };
  const byKey = { table: 't', taken: 'by index PRIMARY', way: 0, ways: 2 };
  test.each([
    ['serializable', 'select t.n from t join u on u.tid = t.id', [order, byKey]],
    ['read committed', 'update t join u on u.tid = t.id set t.n = 1', [order, byKey]],
    ['serializable', 'select t.n from u left join t on t.id = u.tid', []],
    ['repeatable read', 'select t.n from t join u on u.tid = t.id', []],
    ['serializable', 'select t.n from t join u on t.id = 1 and u.id = 2', []],
  ])('%s: %s', async (isolation, statement, expected) => {
    const { assumed } = await afterStatements('mysql', isolation, [statement]);
    expect(assumed.list).toEqual(expected.map((each) => ({ ...each, statement })));
  });
});

describe('a join of PostgreSQL may begin with either table, or merge two indexes', () => {
  const schema = [
    'create table p (id int primary key, v int)',
    'create table c (id int primary key, pid int)',
    'create index c_pid on c (pid)',
  ];
  const place = 'p and c';

  test.each([
    ['select * from p join c on c.pid = p.id', 4],
    ['select * from p, c where p.id = c.pid and c.id > 1', 4],
    ['select * from p join c on c.id = p.v', 2],
    ['select * from p join c on c.pid < p.id', 2],
    ['update p set v = 1 from c where c.pid = p.id', 4],
  ])('%s', async (sql, ways) => {
    const { assumed } = await afterStatements('postgres', 'serializable', [...schema, sql]);
    const found = assumed.list.find(({ table }) => table === place);
    expect(found).toEqual({
      table: place,
      statement: sql,
      taken: expect.stringMatching(/^beginning with /) as string,
      way: 0,
      ways,
    });
  });

  test.each(['select * from p join c on c.pid = p.id where p.id = 1', 'select * from p left join c on c.pid = p.id'])(
    'not %s',
    async (sql) => {
      const { assumed } = await afterStatements('postgres', 'serializable', [...schema, sql]);
      expect(assumed.list.filter(({ table }) => table === place)).toEqual([]);
    },
  );

  test('the rows are the same', async () => {
    const rows = [
      'insert into p select n * 2, n from generate_series(1, 6) n',
      'insert into c select n, nullif(n % 7, 3) from generate_series(1, 30) n',
    ];
    for (const filter of ['', ' where c.id % 3 > 0 and p.v > 1', ' where p.v > 2']) {
      const sql = `select p.id, c.id from p join c on c.pid = p.id${filter} order by 1, 2`;
      const found = [];
      for (const way of [0, 1, 2, 3]) {
        const ways = { [accessKey({ table: place, statement: sql })]: way };
        const client = connected(await openDatabase({ engine: 'postgres', isolation: 'serializable' }, { ways }));
        for (const each of [...schema, ...rows]) await client.run(each);
        found.push((await client.run(sql)).rows);
      }
      expect(found[0]?.length).toBeGreaterThan(0);
      for (const other of found.slice(1)) expect(other).toEqual(found[0]);
    }
  });
});

describe('a statement that was sent before is noted again', () => {
  const sql = 'select n from t where owner = 1';

  test('at a level at which its way decides', async () => {
    const weaker = ['begin isolation level read committed', sql, 'commit'];
    const { assumed: before } = await afterStatements('postgres', 'serializable', weaker);
    expect(before.list).toEqual([]);
    const { assumed } = await afterStatements('postgres', 'serializable', [...weaker, sql]);
    expect(assumed.list.map(({ taken }) => taken)).toEqual(['by index t_owner']);
  });

  test('after a change of its ways', async () => {
    const changed = [sql, 'drop index t_owner', sql, 'create index t_owner_n on t (owner, n)', sql];
    const { assumed } = await afterStatements('postgres', 'serializable', changed);
    expect(assumed.list.map(({ taken }) => taken)).toEqual(['by index t_owner', 'by index t_owner_n']);
  });
});

test('a statement that was sent twice is one; a clause names the table and the way', async () => {
  const sql = 'select n from t where owner = 1';
  const { assumed } = await afterStatements('postgres', 'serializable', [sql, sql, 'delete from t where owner = 2']);
  expect(assumed.list.map(({ statement }) => statement)).toEqual([sql, 'delete from t where owner = 2']);
  expect(assumedClauses(assumed.list)).toEqual(['the server reads t by index t_owner, and in no other way']);
});
