/** SQL's PREPARE, EXECUTE and DEALLOCATE; what DISCARD and RESET ALL take away. */
import { describe, expect, test } from 'vitest';
import type { SqlSession } from '../../sql/index.ts';
import type { SqlValue } from '../../sql/model/index.ts';
import { openSqlDatabase } from '../database.ts';
import { parseProfile } from '../instance/profile.ts';

type Run = (sql: string) => Promise<readonly (readonly SqlValue[])[]>;

async function opened(engine: 'postgres' | 'mysql'): Promise<{ run: Run; session: SqlSession }> {
  const database = await openSqlDatabase({ profile: parseProfile({ engine }) });
  const session = database.connect({ user: 'ann', database: 'd', parameters: new Map(), onParameter: () => undefined });
  const run: Run = async (sql) => (await session.execute(session.prepare(sql), [])).rows;
  return { run, session };
}

describe('PostgreSQL', () => {
  test('a statement with parameters, run twice', async () => {
    const { run, session } = await opened('postgres');
    await run('create table t (a int primary key, b text)');
    await run('prepare put (int, text) as insert into t values ($1, $2)');
    await run(`execute put (1, 'one')`);
    const result = await session.execute(session.prepare(`execute put (1 + 1, upper('two'))`), []);
    expect([result.command, result.rowCount]).toEqual(['INSERT', 1]);
    await run('prepare find as select b from t where a = $1');
    expect(await run('execute find (2)')).toEqual([['TWO']]);
    expect(session.prepare('execute find (2)').columns?.map(({ name }) => name)).toEqual(['b']);
  });

  test('its plan follows the table', async () => {
    const { run } = await opened('postgres');
    await run('create table t (a int)');
    await run('prepare everything as select * from t');
    await run('prepare one as select a from t');
    await run('insert into t values (1)');
    await run(`alter table t add b text default 'new'`);
    expect(await run('execute one')).toEqual([[1]]);
    await expect(run('execute everything')).rejects.toMatchObject({
      code: '0A000',
      message: 'cached plan must not change result type',
    });
  });

  test.each([
    ['execute nothing', '26000', 'prepared statement "nothing" does not exist'],
    ['deallocate nothing', '26000', 'prepared statement "nothing" does not exist'],
    ['prepare one as select 2', '42P05', 'prepared statement "one" already exists'],
    ['execute one', '42601', 'wrong number of parameters for prepared statement "one"'],
    [`execute one ('x')`, '22P02', 'invalid input syntax for type integer: "x"'],
    ['explain execute one (1)', '0A000', 'EXPLAIN EXECUTE is not supported by moirai'],
    ['execute one ((select 1))', '0A000', 'cannot use subquery in EXECUTE parameter'],
  ])('%s: %s', async (sql, code, message) => {
    const { run } = await opened('postgres');
    await run('prepare one (int) as select $1 + 1');
    await expect(run(sql)).rejects.toMatchObject({ code, message });
  });

  test('DEALLOCATE, DEALLOCATE ALL and DISCARD ALL forget them', async () => {
    const { run } = await opened('postgres');
    for (const end of ['deallocate one', 'deallocate all', 'discard all']) {
      await run('prepare one as select 1');
      await run(end);
      await expect(run('execute one')).rejects.toMatchObject({ code: '26000' });
    }
  });

  test('a failed transaction runs none of it', async () => {
    const { run } = await opened('postgres');
    await run('prepare one as select 1');
    await run('begin');
    await expect(run('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
    await expect(run('execute one')).rejects.toMatchObject({ code: '25P02' });
  });

  test('RESET ALL and DISCARD ALL give settings their first values', async () => {
    const { run } = await opened('postgres');
    for (const end of ['reset all', 'discard all']) {
      await run(`set statement_timeout = '3s'`);
      await run(end);
      expect(await run('show statement_timeout')).toEqual([['0']]);
    }
  });

  test('currval knows what a serial column drew, until DISCARD SEQUENCES', async () => {
    const { run } = await opened('postgres');
    await run('create table t (id serial, a int)');
    await run('insert into t (a) values (7)');
    expect(await run(`select currval('public.t_id_seq'), currval('t_id_seq'), lastval()`)).toEqual([[1n, 1n, 1n]]);
    await run('discard sequences');
    await expect(run(`select currval('t_id_seq')`)).rejects.toMatchObject({ code: '55000' });
  });
});

describe('MySQL', () => {
  test('from a string and from a variable, with variables as parameters', async () => {
    const { run } = await opened('mysql');
    await run('create table t (a int primary key, b varchar(10))');
    await run(`prepare put from 'insert into t values (?, ?)'`);
    await run(`set @a = 1, @b = 'one'`);
    await run('execute put using @a, @b');
    await run(`set @text = 'select b from t where a = ?'`);
    await run('prepare find from @text');
    expect(await run('execute FIND using @a')).toEqual([['one']]);
    await run('deallocate prepare put');
    await run('drop prepare find');
    await expect(run('execute find using @a')).rejects.toMatchObject({ detail: { mysqlNumber: 1243 } });
  });

  test('PREPARE takes the place of one with its name', async () => {
    const { run } = await opened('mysql');
    await run(`prepare s from 'select 1'`);
    await run(`prepare s from 'select 2'`);
    expect((await run('execute s')).map((row) => row.map(Number))).toEqual([[2]]);
  });

  test('another number of parameters is 1210', async () => {
    const { run } = await opened('mysql');
    await run(`prepare s from 'select ?'`);
    await expect(run('execute s')).rejects.toMatchObject({ detail: { mysqlNumber: 1210 } });
  });
});
