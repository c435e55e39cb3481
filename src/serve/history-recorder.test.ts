import { describe, expect, test } from 'vitest';
import { check } from '../isolation/index.ts';
import { formatHistoryLines, INITIAL, parseHistoryLines } from '../history/index.ts';
import type { SqlDatabase } from './database.ts';
import { connected, openDatabase } from './sql-session.test-support.ts';

async function database(options: { readonly operationsMax?: number } = {}): Promise<SqlDatabase> {
  return openDatabase({}, { settle: null, ...options });
}

/** Operations as text: `r accounts/1 {...} from 0`. */
function operations(of: SqlDatabase): string[][] {
  return of
    .history()
    .transactions.map(({ status, operations: all }) => [
      status,
      ...all.map((each) =>
        each.kind === 'read'
          ? `r ${each.key} ${JSON.stringify(each.value)} ${each.from === INITIAL ? 'initial' : `from ${String(each.from)}`}`
          : `w ${each.key} ${JSON.stringify(each.value)}`,
      ),
    ]);
}

describe('a recorded history', () => {
  test('names rows by table and primary key, and reads by their writers', async () => {
    const served = await database();
    const a = connected(served);
    await a.run('create table accounts (id int primary key, owner text, balance int)');
    await a.run(`insert into accounts values (7, 'ann', 10)`);
    served.start();
    await a.run('update accounts set balance = 20');
    await a.run('select * from accounts');
    expect(operations(served)).toEqual([
      [
        'committed',
        'r accounts/7 {"id":7,"owner":"ann","balance":10} initial',
        'w accounts/7 {"id":7,"owner":"ann","balance":20}',
      ],
      ['committed', 'r accounts/7 {"id":7,"owner":"ann","balance":20} from 0'],
    ]);
    expect(served.history().initial.get('accounts/7')).toEqual({ id: 7, owner: 'ann', balance: 10 });
  });

  test('has keys of several columns, and row numbers where there is no key', async () => {
    const served = await database();
    const a = connected(served);
    await a.run('create table pairs (a int, b text, primary key (a, b))');
    await a.run('create table loose (x bigint)');
    await a.run(`insert into pairs values (1, 'x')`);
    await a.run('insert into loose values (9007199254740993)');
    expect(operations(served)).toEqual([
      ['committed', 'w pairs/1,x {"a":1,"b":"x"}'],
      ['committed', 'w loose#1 {"x":"9007199254740993"}'],
    ]);
  });

  test('a deleted row keeps its name, and is null', async () => {
    const served = await database();
    const a = connected(served);
    await a.run('create table t (id int primary key)');
    await a.run('insert into t values (5)');
    served.start();
    await a.run('delete from t where id = 5');
    expect(operations(served)).toEqual([['committed', 'r t/5 {"id":5} initial', 'w t/5 null']]);
  });

  test('a row keeps its name when its primary key changes', async () => {
    const served = await database();
    const a = connected(served);
    await a.run('create table t (id int primary key)');
    await a.run('insert into t values (1)');
    served.start();
    await a.run('update t set id = 2');
    await a.run('select * from t');
    expect(operations(served)).toEqual([
      ['committed', 'r t/1 {"id":1} initial', 'w t/1 {"id":2}'],
      ['committed', 'r t/1 {"id":2} from 0'],
    ]);
  });

  test('has what was rolled back, without what nobody did', async () => {
    const served = await database();
    const a = connected(served);
    await a.run('create table t (id int primary key)');
    await a.run('select * from t');
    await a.run('begin');
    await a.run('insert into t values (1)');
    expect(operations(served)).toEqual([]);
    await a.run('rollback');
    expect(operations(served)).toEqual([['aborted', 'w t/1 {"id":1}']]);
  });

  test('begins at start; sessions are numbered, or go by their names', async () => {
    const served = await database();
    const [a, b] = [connected(served), connected(served)];
    served.name(b.session.id, 'ann');
    await a.run('create table t (id int primary key)');
    await a.run('insert into t values (1)');
    await b.run('begin');
    await b.run('update t set id = id');
    served.start();
    await b.run('commit');
    await a.run('select * from t');
    const history = served.history();
    expect(history.transactions.map(({ id }) => id)).toEqual(['ann/0', '1/0']);
    expect(check(history, 'serializable').kind).toBe('satisfied');
    expect(parseHistoryLines(formatHistoryLines(history)).transactions).toHaveLength(2);
  });

  test('of two lost updates is not what serializable allows', async () => {
    const served = await database();
    const [a, b] = [connected(served), connected(served)];
    await a.run('create table t (id int primary key, n int)');
    await a.run('insert into t values (1, 0)');
    served.start();
    for (const each of [a, b]) await each.run('begin');
    for (const each of [a, b]) await each.run('select n from t');
    await a.run('update t set n = 1');
    await a.run('commit');
    await b.run('update t set n = 2');
    await b.run('commit');
    expect(check(served.history(), 'serializable').kind).toBe('violated');
    expect(check(served.history(), 'read-committed').kind).toBe('satisfied');
  });
});

test('more than the limit is no history until the next start', async () => {
  const served = await database({ operationsMax: 3 });
  const a = connected(served);
  await a.run('create table t (id int primary key)');
  await a.run('insert into t values (1), (2), (3)');
  expect(operations(served)).toHaveLength(1);
  await a.run('select * from t');
  expect(() => served.history()).toThrow(expect.objectContaining({ code: '54000' }));
  expect(await a.outcome('/* moirai history */')).toBe('54000');
  await a.run('/* moirai start */');
  await a.run('select * from t where id = 1');
  expect(operations(served)).toEqual([['committed', 'r t/1 {"id":1} initial']]);
});
