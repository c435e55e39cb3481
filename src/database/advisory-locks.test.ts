/** Locks by key over sessions: whose they are, how long they last, what ends a wait for one. What servers answer: `test/advisory-locks.test.ts`. */
import { describe, expect, test } from 'vitest';
import { formatText, type SqlType } from '../sql/model/index.ts';
import type { SqlDatabase } from './database.ts';
import { connected, openDatabase, type TestSession } from './sql-session.test-support.ts';

async function two(engine = 'postgres'): Promise<{ database: SqlDatabase; a: TestSession; b: TestSession }> {
  const database = await openDatabase({ engine }, { settle: null });
  const [a, b] = [connected(database), connected(database)];
  await a.run('create table t (id int primary key, n int)');
  await a.run('insert into t values (1, 0), (2, 0), (3, 0)');
  return { database, a, b };
}

async function values({ run }: TestSession, sql: string): Promise<string> {
  const { rows, columns } = await run(sql);
  return rows
    .map((row) =>
      row
        .map((value, i) => (value === null ? 'null' : formatText(value, columns?.[i]?.type as SqlType, 'postgres')))
        .join(),
    )
    .join(' ');
}

const isFree = (session: TestSession, key: number): Promise<string> =>
  values(session, `select pg_try_advisory_xact_lock(${key})`);

describe('a lock of the session', () => {
  test('is counted, survives ROLLBACK, and goes with unlock_all, DISCARD ALL and the connection', async () => {
    const { a, b } = await two();
    await a.run('begin');
    await a.run('select pg_advisory_lock(1), pg_advisory_lock(1)');
    await a.run('rollback');
    expect(await isFree(b, 1)).toBe('f');
    expect(await values(a, 'select pg_advisory_unlock(1)')).toBe('t');
    expect(await isFree(b, 1)).toBe('f');
    expect(await values(a, 'select pg_advisory_unlock(1)')).toBe('t');
    expect(await isFree(b, 1)).toBe('t');
    for (const end of ['select pg_advisory_unlock_all()', 'discard all', null]) {
      await a.run('select pg_advisory_lock(1)');
      expect(await isFree(b, 1)).toBe('f');
      if (end === null) a.session.close();
      else await a.run(end);
      expect(await isFree(b, 1)).toBe('t');
    }
  });

  test('that is not held is remarked on', async () => {
    const { a } = await two();
    const { notices, rows } = await a.run('select pg_advisory_unlock_shared(1)');
    expect(rows).toEqual([[false]]);
    expect(notices).toEqual([
      { severity: 'WARNING', code: '01000', message: "you don't own a lock of type ShareLock" },
    ]);
  });

  test.each(['pg_advisory_lock', 'pg_try_advisory_lock', 'pg_advisory_unlock'])(
    '%s(NULL) does nothing',
    async (name) => {
      const { a, b } = await two();
      expect(await values(a, `select ${name}(null)`)).toBe('null');
      expect(await isFree(b, 0)).toBe('t');
    },
  );

  test('a bigint and two integers are different keys', async () => {
    const { a, b } = await two();
    await a.run('select pg_advisory_lock(1, 2)');
    expect(await isFree(b, 4_294_967_298)).toBe('t');
    expect(await values(b, 'select pg_try_advisory_lock(1, 2)')).toBe('f');
  });
});

test('a lock of the transaction goes with its savepoint, its end, and nothing else', async () => {
  const { a, b } = await two();
  for (const sql of ['begin', 'select pg_advisory_xact_lock(1)', 'savepoint s', 'select pg_advisory_xact_lock(2)'])
    await a.run(sql);
  expect(await values(a, 'select pg_advisory_unlock(1)')).toBe('f');
  expect(await isFree(b, 2)).toBe('f');
  await a.run('rollback to s');
  expect([await isFree(b, 1), await isFree(b, 2)]).toEqual(['f', 't']);
  await a.outcome('select 1 / 0');
  await a.run('rollback to s');
  expect(await isFree(b, 1)).toBe('f');
  await a.run('commit');
  expect(await isFree(b, 1)).toBe('t');
});

test('a statement waits in the middle of its rows, with the locks and rows that it has, and reads its snapshot when it continues', async () => {
  const { a, b } = await two();
  await b.run('select pg_advisory_lock(2)');
  const waiting = values(a, 'select id, n, pg_advisory_lock(id) from t order by id');
  await b.run('update t set n = 9');
  expect([await isFree(b, 1), await isFree(b, 3)]).toEqual(['f', 't']);
  await b.run('select pg_advisory_unlock(2)');
  expect(await waiting).toBe('1,0, 2,0, 3,0,');
  expect([await isFree(b, 1), await isFree(b, 2), await isFree(b, 3)]).toEqual(['f', 'f', 'f']);
});

test('what a statement has written before it waits stays written, once', async () => {
  const { database, a, b } = await two();
  await a.run('create sequence s');
  await b.run('select pg_advisory_lock(2)');
  const waiting = a.run(
    `update t set n = n + nextval('s')::int where pg_try_advisory_lock(id + 10) and pg_advisory_lock(id) is not null`,
  );
  const c = connected(database);
  const blocked = c.run('update t set n = 5 where id = 1');
  c.session.cancel();
  await expect(blocked).rejects.toMatchObject({ code: '57014' });
  await b.run('select pg_advisory_unlock(2)');
  expect((await waiting).rowCount).toBe(3);
  expect(await values(b, 'select n from t order by id')).toBe('1 2 3');
  expect(await values(a, 'select pg_advisory_unlock(11), pg_advisory_unlock(11)')).toBe('t,f');
});

test.each([
  ['a cancel request', null, '57014'],
  ['lock_timeout', `set lock_timeout = '10ms'`, '55P03'],
  ['statement_timeout', `set statement_timeout = '10ms'`, '57014'],
])('a wait ends by %s, and its place in the queue is given up', async (_name, setting, code) => {
  const { database, a, b } = await two();
  await b.run('select pg_advisory_lock_shared(1)');
  if (setting !== null) await a.run(setting);
  const outcome = a.outcome('select pg_advisory_lock(1)');
  expect(await values(b, 'select pg_try_advisory_lock_shared(2)')).toBe('t');
  if (setting === null) a.session.cancel();
  expect(await outcome).toBe(code);
  expect(await values(connected(database), 'select pg_try_advisory_lock_shared(1)')).toBe('t');
});

test('deadlocks with row locks and among keys are found', async () => {
  const { a, b } = await two();
  await a.run('begin');
  await a.run('update t set n = 1 where id = 1');
  await b.run('select pg_advisory_lock(1)');
  const waiting = a.outcome('select pg_advisory_xact_lock(1)');
  await b.run('begin');
  expect(await b.outcome('update t set n = 2 where id = 1')).toBe('40P01');
  await b.run('rollback');
  await b.run('select pg_advisory_unlock(1)');
  expect(await waiting).toBe('SELECT');
});

describe('MySQL', () => {
  test('takes locks by name, several, counted, beyond COMMIT', async () => {
    const { a, b } = await two('mysql');
    await a.run('begin');
    expect(await values(a, `select get_lock('A', 1), get_lock('a', 1), get_lock('b', 1)`)).toBe('1,1,1');
    await a.run('commit');
    expect(
      await values(b, `select get_lock('a', 0), is_free_lock('a'), is_used_lock('b') is null, release_lock('a')`),
    ).toBe('0,0,0,0');
    expect(await values(a, `select release_lock('a')`)).toBe('1');
    expect(await values(b, `select is_free_lock('a')`)).toBe('0');
    expect(await values(a, 'select release_all_locks()')).toBe('2');
    expect(await values(b, `select is_free_lock('a'), release_lock('a'), get_lock('', 1), get_lock(null, 1)`)).toBe(
      '1,null,null,null',
    );
  });

  test('GET_LOCK gives up after its limit, and a deadlock leaves the transaction open', async () => {
    const { a, b } = await two('mysql');
    await a.run(`select get_lock('a', 0)`);
    await b.run(`select get_lock('b', 0)`);
    expect(await values(b, `select get_lock('a', 0.01)`)).toBe('0');
    await b.run('begin');
    await b.run('update t set n = 7 where id = 1');
    const waiting = values(a, `select get_lock('b', -1)`);
    await expect(b.run(`select get_lock('a', 100)`)).rejects.toMatchObject({ detail: { mysqlNumber: 3058 } });
    expect(await values(b, 'select n from t where id = 1')).toBe('7');
    await b.run('rollback');
    b.session.close();
    expect(await waiting).toBe('1');
  });

  test('of a deadlock with DDL the transaction that waits for GET_LOCK is the victim, and stays open', async () => {
    const { a, b } = await two('mysql');
    await a.run(`select get_lock('a', 0)`);
    await b.run('begin');
    await b.run('select * from t');
    const waiting = b.run(`select get_lock('a', 100)`);
    const altering = a.run('alter table t add column m int');
    await expect(waiting).rejects.toMatchObject({ detail: { mysqlNumber: 3058 } });
    expect(b.session.transactionStatus).toBe('open');
    await b.run('rollback');
    await altering;
  });
});

test.each([
  ['postgres', 'select pg_sleep(0.001), pg_sleep_for(interval $$1 ms$$)'],
  ['mysql', 'select sleep(0.001)'],
])('%s sleeps, and others run meanwhile', async (engine, sql) => {
  const { a, b } = await two(engine);
  const order: string[] = [];
  await Promise.all([a.run(sql).then(() => order.push('slept')), b.run('select 1').then(() => order.push('ran'))]);
  expect(order).toEqual(['ran', 'slept']);
});
