/** What PostgreSQL or MySQL has and moirai has not is refused as such; what no server has is refused as the server refuses it. */
import { describe, expect, test } from 'vitest';
import { connected, openDatabase } from '../src/database/sql-session.test-support.ts';

async function refusal(engine: string, sql: string): Promise<string> {
  const database = await openDatabase({ engine });
  const client = connected(database);
  await client.run('create table t (id int primary key, n int)');
  try {
    await client.run(sql);
    return 'answered';
  } catch (error) {
    const { code, message, isUnsupported } = error as { code: string; message: string; isUnsupported: boolean };
    return `${isUnsupported ? 'moirai' : 'engine'} ${code} ${message}`;
  }
}

describe('PostgreSQL has it, moirai has not', () => {
  test.each([
    ["select pg_notify('a', 'b')", 'function pg_notify'],
    ['select pg_stat_reset()', 'function pg_stat_reset'],
    ['select percentile_cont(0.5) within group (order by n) from t', 'function percentile_cont'],
    ["select * from jsonb_path_query('{}', '$.a')", 'function jsonb_path_query'],
    ['select generate_series(1, generate_series(1, 3))', 'generate_series inside an expression'],
    ["select 'a'::tsvector", 'type tsvector'],
    ['create table u (a inet)', 'type inet'],
    ['create table u (a point)', 'type point'],
    ['select name from pg_settings', 'the table pg_settings'],
    ["select '{\"a\": 1}'::jsonb @? '$.a'", 'operator jsonb @? unknown'],
    ['select * from pg_user_mappings', 'the table pg_user_mappings'],
    ['select indisclustered_ from pg_index', null],
    ['select permissive from pg_policies', 'the column permissive of pg_policies'],
    ['select xmin from t', 'the column xmin'],
    ['select count(*) from pg_locks', 'the table pg_locks'],
    ['select pid from pg_catalog.pg_locks', 'the table pg_catalog.pg_locks'],
    ['select wait_event from pg_stat_activity', 'the column wait_event of pg_stat_activity'],
  ])('%s', async (sql, construct) => {
    const message = await refusal('postgres', sql);
    if (construct === null) expect(message).toMatch(/^engine 42703/);
    else expect(message).toBe(`moirai 0A000 ${construct} is not supported by moirai`);
  });
});

describe('no server has it', () => {
  test.each([
    ['select pg_advisory_lok(1)', '42883'],
    ["select round('a', 'b', 'c')", '42883'],
    ['select upper(1, 2)', '42883'],
    ['select 1 <~> 2', '42883'],
    ["select array[1] || array['a']", '42883'],
    ["select 'a'::tsvektor", '42704'],
    ['select * from pg_usr', '42P01'],
    ['select nothing from pg_class', '42703'],
    ['select row_number()', '42809'],
    ['select foo() over ()', '42883'],
  ])('%s', async (sql, code) => {
    expect(await refusal('postgres', sql)).toMatch(new RegExp(`^engine ${code} `));
  });
});

describe('MySQL', () => {
  test.each([
    ["select json_search('{}', 'one', 'a')", 'moirai 0A000'],
    ["select json_overlaps('[1]', '[1]')", 'moirai 0A000'],
    ['select no_such_function(1)', 'engine 42883'],
    ['set local_infile = 1', 'moirai 0A000'],
    ['select @@optimizer_switch', 'moirai 0A000'],
    ['set no_such_variable = 1', 'engine 42704'],
    ['create table c (a int) engine = MyISAM', 'moirai 0A000'],
    ['create table c (a int, key k (a) invisible)', 'moirai 0A000'],
    ['flush tables with read lock', 'moirai 0A000'],
    ['set names latin1', 'moirai 0A000'],
    ['create table c (a text) default charset = latin1', 'moirai 0A000'],
    ['create table c (a text character set latin1)', 'moirai 0A000'],
    ['create table c (a char(16) character set binary)', 'moirai 0A000'],
    ["select convert('a' using latin1)", 'moirai 0A000'],
    ['select * from t force index (primary)', 'moirai 0A000'],
    ['select * from t as u ignore index (i) where 1 = 1', 'moirai 0A000'],
    ['select * from information_schema.innodb_trx', 'moirai 0A000'],
    ['select * from information_schema.processlist', 'moirai 0A000'],
    ['selec 1', 'moirai 42601'],
    ['select * from performance_schema.threads', 'moirai 0A000'],
  ])('%s', async (sql, start) => {
    expect((await refusal('mysql', sql)).startsWith(start)).toBe(true);
  });
});
