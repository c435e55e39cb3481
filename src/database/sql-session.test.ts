import { beforeEach, describe, expect, test } from 'vitest';
import { SqlError } from '../sql/model/index.ts';
import type { SqlDatabase } from './database.ts';
import { connected, openDatabase, type TestSession } from './sql-session.test-support.ts';

let database: SqlDatabase;
let a: TestSession;
let b: TestSession;

async function open(engine: 'postgres' | 'mysql', isolation?: string): Promise<void> {
  database = await openDatabase({ engine, isolation }, { settle: null });
  [a, b] = [connected(database), connected(database)];
  await a.run('create table t (id int primary key, n int not null)');
  await a.run('insert into t values (1, 10), (2, 20)');
}

const status = (): string => a.session.transactionStatus;
const values = async (session: TestSession = b): Promise<unknown> =>
  (await session.rows('select n from t order by id')).flat();

describe('PostgreSQL', () => {
  beforeEach(() => open('postgres'));

  test('a statement commits by itself; BEGIN and COMMIT hold statements together', async () => {
    await a.run('update t set n = 11 where id = 1');
    expect([status(), await values()]).toEqual(['idle', [11, 20]]);
    await a.run('begin');
    await a.run('update t set n = 12 where id = 1');
    expect([status(), await values()]).toEqual(['open', [11, 20]]);
    await a.run('commit');
    expect([status(), await values()]).toEqual(['idle', [12, 20]]);
  });

  test.each([
    ['begin', ['begin'], '25001'],
    ['commit', [], '25P01'],
    ['rollback', [], '25P01'],
    ['set local work_mem = 1', [], '25P01'],
    ['set transaction read only', [], '25P01'],
  ])('%s after %o warns', async (sql, before, code) => {
    for (const each of before) await a.run(each);
    expect((await a.run(sql)).notices).toMatchObject([{ severity: 'WARNING', code }]);
    await a.run('rollback');
    expect(await a.rows('show work_mem')).toEqual([['4MB']]);
  });

  test('an error fails the transaction: nothing goes any more, COMMIT rolls back', async () => {
    await a.run('begin');
    await a.run('update t set n = 0');
    expect(await a.outcome('select 1 / 0')).toBe('22012');
    expect(status()).toBe('failed');
    for (const sql of [
      'select 1',
      'set work_mem = 1',
      'savepoint s',
      'release s',
      'begin',
      'set transaction read only',
    ])
      expect(await a.outcome(sql)).toBe('25P02');
    expect(await a.outcome('commit')).toBe('ROLLBACK');
    expect([status(), await values()]).toEqual(['idle', [10, 20]]);
  });

  test.each([
    ['a column that there is not', 'select nosuch from t', '25P02'],
    ['a table that there is not', 'insert into nosuch values (1)', '25P02'],
    ['a statement that cannot be read', 'selekt 1', '42601'],
  ])('in a failed transaction %s is %s', async (_name, sql, code) => {
    await a.run('begin');
    expect(await a.outcome('select 1 / 0')).toBe('22012');
    expect(await a.outcome(sql)).toBe(code);
    expect([await a.outcome('rollback'), status()]).toEqual(['ROLLBACK', 'idle']);
  });

  test('a statement that cannot be read fails it, too', async () => {
    await a.run('begin');
    expect(await a.outcome('selec 1')).toBe('42601');
    expect(status()).toBe('failed');
  });

  test('the locks of a failed transaction go at once, not with its ROLLBACK', async () => {
    await a.run('begin');
    await a.run('update t set n = 0 where id = 1');
    const waiting = b.run('update t set n = 5 where id = 1');
    expect(await a.outcome('select 1 / 0')).toBe('22012');
    await waiting;
    await a.run('rollback');
    expect(await values()).toEqual([5, 20]);
  });

  test('the victim of a deadlock lets the other one go on before it says ROLLBACK', async () => {
    for (const each of [a, b]) await each.run('begin');
    await a.run('update t set n = 1 where id = 1');
    await b.run('update t set n = 2 where id = 2');
    const other = a.run('update t set n = 1 where id = 2');
    expect(await b.outcome('update t set n = 2 where id = 1')).toBe('40P01');
    await other;
    await a.run('commit');
    expect(await b.outcome('commit')).toBe('ROLLBACK');
    expect(await values()).toEqual([1, 1]);
  });
});

describe('savepoints of PostgreSQL', () => {
  beforeEach(() => open('postgres'));

  test('take back a part, an error included', async () => {
    await a.run('begin');
    await a.run('update t set n = 11 where id = 1');
    await a.run('savepoint s');
    await a.run('update t set n = 21 where id = 2');
    expect(await a.outcome('select 1 / 0')).toBe('22012');
    expect(await a.outcome('rollback to s')).toBe('ROLLBACK');
    expect(status()).toBe('open');
    await a.run('commit');
    expect(await values()).toEqual([11, 20]);
  });

  test('an error gives back the locks since the savepoint and keeps those before it', async () => {
    await a.run('begin');
    await a.run('update t set n = 11 where id = 1');
    await a.run('savepoint s');
    await a.run('update t set n = 21 where id = 2');
    expect(await a.outcome('select 1 / 0')).toBe('22012');
    await b.run('update t set n = 22 where id = 2');
    expect(await b.outcome(`select * from t where id = 1 for update nowait`)).toBe('55P03');
  });

  test('of one name hide each other', async () => {
    await a.run('begin');
    for (const n of [1, 2]) {
      await a.run(`update t set n = ${n} where id = 1`);
      await a.run('savepoint s');
    }
    await a.run('update t set n = 3 where id = 1');
    await a.run('rollback to s');
    expect(await values(a)).toEqual([2, 20]);
    await a.run('release s');
    await a.run('rollback to s');
    expect(await values(a)).toEqual([1, 20]);
    await a.run('release s');
    expect(await a.outcome('rollback to s')).toBe('3B001');
    expect(status()).toBe('failed');
  });

  test.each(['savepoint s', 'release s', 'rollback to s'])('%s needs a transaction', async (sql) => {
    expect(await a.outcome(sql)).toBe('25P01');
    expect(status()).toBe('idle');
  });

  test('take back settings and definitions', async () => {
    await a.run('begin');
    await a.run(`set work_mem = '1MB'`);
    await a.run('savepoint s');
    await a.run(`set work_mem = '2MB'`);
    await a.run('create table u (id int)');
    await a.run('rollback to s');
    expect(await a.rows('show work_mem')).toEqual([['1MB']]);
    expect(await a.outcome('select * from u')).toBe('42P01');
  });
});

describe('modes of transactions in PostgreSQL', () => {
  beforeEach(() => open('postgres'));
  const level = async (): Promise<unknown> => (await a.rows('show transaction_isolation'))[0]?.[0];

  test('come from BEGIN, SET TRANSACTION, the session, and end with it', async () => {
    await a.run('begin isolation level serializable');
    expect(await level()).toBe('serializable');
    await a.run('set transaction isolation level repeatable read');
    expect(await level()).toBe('repeatable read');
    await a.run('commit and chain');
    expect([await level(), status()]).toEqual(['repeatable read', 'open']);
    await a.run('commit');
    expect(await level()).toBe('read committed');
    await a.run('set session characteristics as transaction isolation level serializable');
    expect(await level()).toBe('serializable');
    await a.run('reset default_transaction_isolation');
    expect(await level()).toBe('read committed');
  });

  test('the client may choose what would be the default of PostgreSQL', async () => {
    await open('postgres', 'serializable');
    expect(await level()).toBe('serializable');
    await a.run(`set default_transaction_isolation = 'read committed'`);
    expect(await level()).toBe('read committed');
  });

  test.each([
    ['set transaction isolation level serializable', '25001'],
    ['set transaction isolation level read committed', 'SET'],
    ['set transaction read only', 'SET'],
    [`set transaction_isolation = 'serializable'`, '25001'],
  ])('after a query: %s', async (sql, outcome) => {
    await a.run('begin');
    await a.run('select 1 from t');
    expect(await a.outcome(sql)).toBe(outcome);
  });

  test('a read-only transaction does not write, and stays read-only', async () => {
    await a.run('begin read only');
    expect(await a.outcome('update t set n = 0')).toBe('25006');
    await a.run('rollback');
    await a.run('begin read only');
    await a.run('select 1 from t');
    expect(await a.outcome('set transaction read write')).toBe('25001');
    await a.run('rollback');
    await a.run('set default_transaction_read_only = on');
    expect(await a.outcome('create table u (id int)')).toBe('25006');
  });

  test.each([
    [`set default_transaction_isolation = 'chaos'`, '22023'],
    ['set transaction_read_only = 3', '22023'],
    [`set lock_timeout = 'soon'`, '22023'],
  ])('%s is refused', async (sql, code) => expect(await a.outcome(sql)).toBe(code));
});

describe('definitions', () => {
  test('in PostgreSQL are part of the transaction', async () => {
    await open('postgres');
    await a.run('begin');
    await a.run('create table u (id int primary key)');
    await a.run('alter table t add column m int default 7');
    await a.run('insert into u values (1)');
    expect(await a.rows('select m from t where id = 1')).toEqual([[7]]);
    await a.run('rollback');
    expect(await a.outcome('select * from u')).toBe('42P01');
    expect(await a.outcome('select m from t')).toBe('42703');
    await a.run('create table u (id int primary key)');
    expect(await a.rows('select * from u')).toEqual([]);
  });

  test('in MySQL commit what is open, and cannot be taken back', async () => {
    await open('mysql');
    await a.run('begin');
    await a.run('update t set n = 11 where id = 1');
    await a.run('create table u (id int)');
    expect([status(), await values()]).toEqual(['idle', [11, 20]]);
    await a.run('rollback');
    expect(await a.rows('select * from u')).toEqual([]);
    await a.run('set autocommit = 0');
    expect(await a.outcome('create table u (id int)')).toBe('42P07');
    expect(status()).toBe('idle');
  });

  test('a prepared statement is planned anew, also when the database was emptied', async () => {
    await open('postgres');
    const prepared = a.session.prepare('select * from t');
    await a.run('/* moirai reset */');
    await a.run('create table other (x text)');
    await a.run('create table t (id text primary key)');
    await a.run(`insert into t values ('new')`);
    expect((await a.session.execute(prepared, [])).rows).toEqual([['new']]);
  });
});

describe('an implicit block', () => {
  beforeEach(() => open('postgres'));

  test('is one transaction, with its settings', async () => {
    a.session.beginBlock();
    await a.run(`set work_mem = '1MB'`);
    await a.run('set local lock_timeout = 5');
    await a.run('update t set n = 0');
    expect(await values()).toEqual([10, 20]);
    expect(await a.outcome('select 1 / 0')).toBe('22012');
    await a.session.endBlock();
    expect([status(), await values()]).toEqual(['idle', [10, 20]]);
    expect(await a.rows('show work_mem')).toEqual([['4MB']]);
    a.session.beginBlock();
    await a.run(`set work_mem = '1MB'`);
    await a.session.endBlock();
    expect(await a.rows('show work_mem')).toEqual([['1MB']]);
  });

  test('is what BEGIN makes of it', async () => {
    a.session.beginBlock();
    await a.run('update t set n = 11 where id = 1');
    await a.run('begin');
    await a.session.endBlock();
    expect(status()).toBe('open');
    await a.run('rollback');
    expect(await values()).toEqual([10, 20]);
  });
});

describe('MySQL', () => {
  beforeEach(() => open('mysql'));

  test('autocommit = 0: the first statement begins, turning it on commits', async () => {
    await a.run('set autocommit = 0');
    expect([status(), a.session.isAutocommit]).toEqual(['idle', false]);
    await a.run('update t set n = 11 where id = 1');
    expect([status(), await values()]).toEqual(['open', [10, 20]]);
    await a.run('rollback');
    expect([status(), a.session.isAutocommit]).toEqual(['idle', false]);
    await a.run('update t set n = 12 where id = 1');
    await a.run('set autocommit = 1');
    expect([status(), await values()]).toEqual(['idle', [12, 20]]);
  });

  test('BEGIN commits what is open', async () => {
    await a.run('begin');
    await a.run('update t set n = 11 where id = 1');
    await a.run('begin');
    await a.run('rollback');
    expect(await values()).toEqual([11, 20]);
  });

  test('an error takes back its statement only', async () => {
    await a.run('begin');
    await a.run('update t set n = 11 where id = 1');
    expect(await a.outcome('insert into t values (3, 30), (1, 1)')).toBe('23505');
    expect(status()).toBe('open');
    await a.run('commit');
    expect(await values()).toEqual([11, 20]);
  });

  test('a deadlock takes back the whole transaction', async () => {
    for (const each of [a, b]) await each.run('begin');
    await a.run('update t set n = 1 where id = 1');
    await b.run('update t set n = 2 where id = 2');
    const other = a.outcome('update t set n = 1 where id = 2');
    const outcome = await b.outcome('update t set n = 2 where id = 1');
    expect([await other, outcome].toSorted()).toEqual(['40001', 'UPDATE']);
    const victim = outcome === '40001' ? b : a;
    expect(victim.session.transactionStatus).toBe('idle');
  });

  test('SET TRANSACTION is for the next one, SET SESSION for all', async () => {
    const level = async (): Promise<unknown> => (await a.rows('select @@transaction_isolation'))[0]?.[0];
    await a.run('set transaction isolation level serializable');
    await a.run('begin');
    expect(await level()).toBe('SERIALIZABLE');
    expect(await a.outcome('set transaction isolation level read committed')).toBe('25001');
    await a.run('commit');
    expect(await level()).toBe('REPEATABLE-READ');
    await a.run('set session transaction isolation level read committed');
    expect(await level()).toBe('READ-COMMITTED');
    await a.run(`set session transaction_isolation = 'SERIALIZABLE'`);
    expect(await level()).toBe('SERIALIZABLE');
  });

  test('SET TRANSACTION is for the next one with autocommit off, too', async () => {
    await a.run('set autocommit = 0');
    await a.run('set transaction read only');
    expect(await a.outcome('update t set n = 0')).toBe('25006');
  });

  test('a savepoint takes the place of one of its name, in any letters', async () => {
    await a.run('begin');
    await a.run('savepoint s');
    await a.run('update t set n = 1 where id = 1');
    await a.run('savepoint S');
    await a.run('update t set n = 2 where id = 1');
    await a.run('rollback to s');
    expect(await values(a)).toEqual([1, 20]);
    await a.run('release savepoint s');
    expect(await a.outcome('rollback to s')).toBe('42000');
    expect(status()).toBe('open');
  });

  test('outside a transaction a savepoint is gone at once', async () => {
    expect(await a.outcome('savepoint s')).toBe('SAVEPOINT');
    expect(await a.outcome('rollback to s')).toBe('42000');
    expect(status()).toBe('idle');
  });

  test.each([
    ['start transaction with consistent snapshot', [10, 20]],
    ['start transaction', [11, 20]],
  ])('%s', async (sql, seen) => {
    await a.run(sql);
    await b.run('update t set n = 11 where id = 1');
    expect(await values(a)).toEqual(seen);
  });

  test('a consistent snapshot is of repeatable read only', async () => {
    await a.run('set transaction isolation level read committed');
    await a.run('start transaction with consistent snapshot');
    await b.run('update t set n = 11 where id = 1');
    expect(await values(a)).toEqual([11, 20]);
  });
});

describe('what ends a statement', () => {
  beforeEach(() => open('postgres'));

  test.each([
    [`set lock_timeout = '5ms'`, '55P03'],
    [`set statement_timeout = '5ms'`, '57014'],
  ])('%s ends a wait with %s', async (sql, code) => {
    await b.run('begin');
    await b.run('update t set n = 0 where id = 1');
    await a.run(sql);
    await a.run('begin');
    expect(await a.outcome('update t set n = 1 where id = 1')).toBe(code);
    expect(status()).toBe('failed');
  });

  test('a cancel request ends a wait; with no statement under way it does nothing', async () => {
    await b.run('begin');
    await b.run('update t set n = 0 where id = 1');
    const waiting = a.outcome('update t set n = 1 where id = 1');
    a.session.cancel();
    expect(await waiting).toBe('57014');
    a.session.cancel();
    expect(await a.outcome('select 1')).toBe('SELECT');
  });

  test('a statement that would never end is ended by statement_timeout, or by the limit of the database', async () => {
    const endless = 'with recursive r (i) as (select 1 union all select 2 from r) select count(*) from r';
    const cross = 'select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b where a + b < 0';
    await a.run(`set statement_timeout = '50ms'`);
    expect(await a.outcome(cross)).toBe('57014');
    expect(await a.outcome('select 1')).toBe('SELECT');
    const limited = await openDatabase({}, { computeMsMax: 50 });
    expect(await connected(limited).outcome(cross)).toBe('57014');
    expect(await connected(limited).outcome(endless)).toBe('57014');
  });

  test('closing rolls back and lets others go on', async () => {
    await b.run('begin');
    await b.run('update t set n = 0 where id = 1');
    const waiting = a.run('update t set n = n + 1 where id = 1');
    b.session.close();
    await waiting;
    expect(await values(a)).toEqual([11, 20]);
    expect(await b.outcome('select 1')).toBe('57P01');
  });

  test('emptying the database ends what waits', async () => {
    await b.run('begin');
    await b.run('update t set n = 0 where id = 1');
    const waiting = a.outcome('update t set n = 1 where id = 1');
    database.reset();
    expect(await waiting).toBe('57P01');
    expect(b.session.transactionStatus).toBe('idle');
    expect(await b.outcome('select * from t')).toBe('42P01');
  });

  test('a stack that overflows is the statement’s fault', async () => {
    const sum = `select ${'1 + '.repeat(20_000)} 1`;
    expect(await a.outcome(sum)).toBe('54001');
    expect(await a.outcome(`select 1 where 9999 in (${Array.from({ length: 10_000 }, (_, i) => i).join()})`)).toBe(
      'SELECT',
    );
    expect((await a.rows(`select length('${'x'.repeat(1 << 20)}')`))[0]).toEqual([1 << 20]);
  });
});

test('DISCARD ALL and RESET ALL forget what was set', async () => {
  await open('postgres');
  for (const sql of ['discard all', 'reset all']) {
    await a.run(`set work_mem = '1MB'`);
    await a.run(sql);
    expect(await a.rows('show work_mem')).toEqual([['4MB']]);
  }
  await a.run('begin');
  expect(await a.outcome('discard all')).toBe('25001');
});

test('spurious failures come where asked for, and a run again may succeed', async () => {
  const failing = await openDatabase({ isolation: 'repeatable read' }, { abortRate: 0.5 });
  const session = connected(failing);
  const outcomes = new Set<string>();
  for (let i = 0; i < 40; i += 1) outcomes.add(await session.outcome('select 1'));
  expect(outcomes).toEqual(new Set(['40001', 'SELECT']));
});

test('an error of ours is none of SQL', async () => {
  await open('postgres');
  const prepared = a.session.prepare('select 1');
  const both = [a.session.execute(prepared, []), b.session.execute(prepared, [])];
  await expect(Promise.all(both)).resolves.toHaveLength(2);
  await b.run('begin');
  await b.run('update t set n = 0 where id = 1');
  const waiting = a.run('update t set n = 1 where id = 1');
  await expect(a.session.execute(prepared, [])).rejects.not.toBeInstanceOf(SqlError);
  await b.run('commit');
  await waiting;
});

test('a correlated EXISTS joins other rows for each row around it', async () => {
  const { rows } = connected(await openDatabase());
  const found = await rows(
    `select u.id from (values (1), (2), (3)) u(id) where exists (
       select 1 from (values (1, 10), (2, 20)) a(id, k) join (values (10, 1), (20, 2)) b(k, id) on b.k = a.k where b.id = u.id)`,
  );
  expect(found).toEqual([[1], [2]]);
});
