/** Names and numbers of tables and types, as clients ask for them when they look at a schema; compared with PostgreSQL 15's answers. */
import { beforeAll, expect, test } from 'vitest';
import type { SqlValue } from '../sql/index.ts';
import { openSqlDatabase } from './database.ts';
import { parseProfile } from './profile.ts';

let rows: (sql: string) => Promise<readonly (readonly SqlValue[])[]>;

beforeAll(async () => {
  const database = await openSqlDatabase({ profile: parseProfile({ engine: 'postgres' }) });
  const session = database.connect({ user: 'ann', database: 'd', parameters: new Map(), onParameter: () => undefined });
  rows = async (sql) => (await session.execute(session.prepare(sql), [])).rows;
  await rows('create table t (a int, b int, unique (b, a), primary key (a))');
  await rows(`create table "T 2" (id int)`);
  return () => database.close();
});

test.each([
  [`select '"pg_catalog"."int4"'::regtype::text`, 'integer'],
  [`select 'pg_catalog.varchar'::regtype::text`, 'character varying'],
  [`select 'int8'::regtype::text`, 'bigint'],
  [`select to_regtype('nothing.int4')::text`, null],
  [`select '"T 2"'::regclass::text`, '"T 2"'],
  [`select '999999'::regclass::text`, '999999'],
  [`select '999999'::regclass::oid = 999999`, true],
])('%s', async (sql, value) => {
  expect(await rows(sql)).toEqual([[value]]);
});

test.each([`select '"public"."int4"'::regtype`, `select 'nothing'::regtype`])('%s: there is none', async (sql) => {
  await expect(rows(sql)).rejects.toMatchObject({ code: '42704' });
});

test('a literal of digits is the number of a relation', async () => {
  const [[oid] = []] = await rows(`select 't'::regclass::oid`);
  expect(await rows(`select '${Number(oid)}'::regclass::text`)).toEqual([['t']]);
});

test('columns of an index are a vector: its text has no braces, and it is searched as an array', async () => {
  const of = `from pg_index where indrelid = 't'::regclass`;
  expect(await rows(`select indkey::text ${of} order by 1`)).toEqual([['1'], ['2 1']]);
  expect(await rows(`select count(*)::int4 ${of} and 2 = any(indkey)`)).toEqual([[1]]);
});
