import { expect, test } from 'vitest';
import { connected, openDatabase } from './sql-session.test-support.ts';

test('two sessions that index a table at a time make both indexes, whose names differ', async () => {
  const database = await openDatabase({ engine: 'postgres' });
  const [a, b] = [connected(database), connected(database)];
  await a.run('create table t (id int, v int)');
  await a.run('begin');
  await a.run('create unique index on t (v)');
  await b.run('create index on t (v)');
  await a.run('commit');
  await b.run('insert into t values (1, 1)');
  await expect(b.run('insert into t values (2, 1)')).rejects.toThrow('t_v_idx');
  expect(await b.rows(`select indexname from pg_indexes where tablename = 't' order by 1`)).toEqual([
    ['t_v_idx'],
    ['t_v_idx1'],
  ]);
});
