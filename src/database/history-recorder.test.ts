import { describe, expect, test } from 'vitest';
import { check } from '../isolation/index.ts';
import { formatHistoryLines, INITIAL, parseHistoryLines } from '../history/index.ts';
import type { SqlDatabase } from './index.ts';
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

  test.each(['postgres', 'mysql'] as const)(
    '%s: a row whose primary key changes is deleted at the old key and inserted at the new one',
    async (engine) => {
      const served = await openDatabase({ engine }, { settle: null });
      const a = connected(served);
      await a.run('create table t (id int primary key, n int)');
      await a.run('insert into t values (1, 10)');
      served.start();
      await a.run('begin');
      await a.run('update t set id = 2 where id = 1');
      await a.run('insert into t values (1, 5)');
      await a.run('commit');
      await a.run('select * from t order by id');
      const [first = [], second = []] = operations(served);
      expect(first.filter((each) => each.startsWith('r'))).toEqual(['r t/1 {"id":1,"n":10} initial']);
      expect(first.slice(2)).toEqual(['w t/1 null', 'w t/2 {"id":2,"n":10}', 'w t/1 {"id":1,"n":5}']);
      expect(second.slice(1).toSorted()).toEqual(['r t/1 {"id":1,"n":5} from 0', 'r t/2 {"id":2,"n":10} from 0']);
      expect(check(served.history(), 'serializable').kind).toBe('satisfied');
    },
  );

  test.each([
    ['postgres', 'timestamptz', 'bytea', '2024-01-02 03:04:05+00', String.raw`\x6162`],
    ['mysql', 'timestamp', 'varbinary(9)', '2024-01-02 03:04:05', 'ab'],
  ])('%s: has values as its clients read them', async (engine, timeType, bytesType, time, bytes) => {
    const served = await openDatabase({ engine }, { settle: null });
    const a = connected(served);
    const events: (string | null)[] = [];
    a.session.watch.onEnd = ({ rows }) => events.push(rows);
    await a.run(`create table t (at ${timeType} primary key, b ${bytesType})`);
    await a.run("insert into t values ('2024-01-02 03:04:05', 'ab')");
    await a.run('select * from t');
    expect(events.at(-1)).toBe(`(${time}, ${bytes})`);
    expect(operations(served).at(-1)).toEqual([
      'committed',
      `r t/${time} ${JSON.stringify({ at: time, b: bytes })} from 0`,
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

  test.each(['postgres', 'mysql'] as const)(
    '%s: has nothing of a write undone to a savepoint, nor what its own transaction read of it',
    async (engine) => {
      const served = await openDatabase({ engine }, { settle: null });
      const [a, b] = [connected(served), connected(served)];
      await a.run('create table t (id int primary key, n int)');
      await a.run('insert into t values (1, 10), (2, 20)');
      served.start();
      await a.run('begin');
      await a.run('select n from t where id = 1');
      await a.run('savepoint s');
      await a.run('update t set n = 5 where id = 1');
      await a.run('select n from t where id = 1');
      await a.run('rollback to savepoint s');
      await a.run('select n from t where id = 1');
      await a.run('update t set n = 3 where id = 2');
      await a.run('commit');
      await b.run('select n from t where id = 1');
      const before = 'r t/1 {"id":1,"n":10} initial';
      expect(operations(served)).toEqual([
        ['committed', before, before, before, 'r t/2 {"id":2,"n":20} initial', 'w t/2 {"id":2,"n":3}'],
        ['committed', before],
      ]);
      expect(check(served.history(), 'serializable').kind).toBe('satisfied');
    },
  );

  test('begins at start; sessions are numbered, or go by their names', async () => {
    const served = await database();
    const [a, b] = [connected(served), connected(served, {}, 'ann')];
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
