/** Names and numbers of tables and types, as clients ask for them when they look at a schema; compared with PostgreSQL 15's answers. */
import { beforeAll, expect, test } from 'vitest';
import type { SqlValue } from '../../sql/model/index.ts';
import { openSqlDatabase } from '../database.ts';
import { parseProfile } from '../instance/profile.ts';

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
  ['select pg_table_is_visible(999999)', null],
  ['select pg_get_userbyid(10)::text', 'ann'],
  ['select pg_get_userbyid(999999)::text', 'unknown (OID=999999)'],
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

// What PostgreSQL 15 answers for the same checks.
test.each([
  ['b > 0', 'CHECK ((b > (0)::numeric))', 'CHECK (b > 0::numeric)'],
  [
    `c in ('x', 'y')`,
    `CHECK (((c)::text = ANY ((ARRAY['x'::character varying, 'y'::character varying])::text[])))`,
    `CHECK (c::text = ANY (ARRAY['x'::character varying, 'y'::character varying]::text[]))`,
  ],
  ['a in (1, 2)', 'CHECK ((a = ANY (ARRAY[1, 2])))', 'CHECK (a = ANY (ARRAY[1, 2]))'],
  ['a between 1 and 9', 'CHECK (((a >= 1) AND (a <= 9)))', 'CHECK (a >= 1 AND a <= 9)'],
  [
    'a + b * 2 < 10 or d is null and not f',
    'CHECK (((((a)::numeric + (b * (2)::numeric)) < (10)::numeric) OR ((d IS NULL) AND (NOT f))))',
    'CHECK ((a::numeric + b * 2::numeric) < 10::numeric OR d IS NULL AND NOT f)',
  ],
  ['length(d) > 3', 'CHECK ((length(d) > 3))', 'CHECK (length(d) > 3)'],
  [`c like 'x%'`, `CHECK (((c)::text ~~ 'x%'::text))`, `CHECK (c::text ~~ 'x%'::text)`],
  ['coalesce(a, 0) > 0', 'CHECK ((COALESCE(a, 0) > 0))', 'CHECK (COALESCE(a, 0) > 0)'],
  ['a - (a - 1) > 0', 'CHECK (((a - (a - 1)) > 0))', 'CHECK ((a - (a - 1)) > 0)'],
])('check (%s)', async (check, plain, pretty) => {
  await rows('create table checked (a int, b numeric(10,2), c varchar(10), d text, f boolean)');
  await rows(`alter table checked add constraint own check (${check})`);
  const of = `from pg_constraint where conrelid = 'checked'::regclass`;
  expect(await rows(`select pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) ${of}`)).toEqual([
    [plain, pretty],
  ]);
  await rows('drop table checked');
});

test('names of schemas and roles stand for their numbers', async () => {
  expect(await rows(`select 'public'::regnamespace::oid = 2200, 2200::oid::regnamespace::text`)).toEqual([
    [true, 'public'],
  ]);
  expect(await rows(`select 10::oid::regrole::text, 'ann'::regrole::oid = 10`)).toEqual([['ann', true]]);
  expect(await rows(`select 6171::oid::regrole::text, 'pg_database_owner'::regrole::oid, '7'::regrole::oid`)).toEqual([
    ['pg_database_owner', 6171, 7],
  ]);
  await expect(rows(`select 'nobody'::regrole`)).rejects.toMatchObject({ code: '42704' });
  await expect(rows(`select 'nowhere'::regnamespace`)).rejects.toMatchObject({ code: '3F000' });
});

test('sizes are rounded as PostgreSQL does', async () => {
  expect(
    await rows('select pg_size_pretty(10239::int8), pg_size_pretty(10240::int8), pg_size_pretty(20971520::int8)'),
  ).toEqual([['10239 bytes', '10 kB', '20 MB']]);
});
