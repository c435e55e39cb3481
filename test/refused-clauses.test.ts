/** Clauses that moirai does not act on are refused by name; those that change nothing a client sees are taken. Each is accepted by PostgreSQL 15. */
import { describe, expect, test } from 'vitest';
import { connected, openDatabase } from '../src/database/sql-session.test-support.ts';

const schema = [
  'create table p (id int primary key, n int)',
  'insert into p values (1, 10), (2, 20), (3, 20)',
  'create view v as select * from p',
];

async function prepared(engine = 'postgres'): Promise<ReturnType<typeof connected>> {
  const client = connected(await openDatabase({ engine }));
  for (const sql of schema) await client.run(sql);
  return client;
}

describe('refused by name', () => {
  test.each([
    ['set session characteristics as transaction deferrable', 'DEFERRABLE of a session'],
    ["set time zone 'Europe/Berlin'", 'TimeZone = Europe/Berlin'],
    ["set bytea_output = 'escape'", 'bytea_output = escape'],
    ['set extra_float_digits = 0', 'extra_float_digits = 0'],
    ["set datestyle = 'SQL, DMY'", 'DateStyle = SQL, DMY'],
    ["set intervalstyle = 'iso_8601'", 'IntervalStyle = iso_8601'],
    ["set idle_in_transaction_session_timeout = '300ms'", 'idle_in_transaction_session_timeout = 300ms'],
    [
      'with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) search depth first by n set o select * from r',
      'SEARCH',
    ],
    ['with recursive r(n) as (select 1 union all select n from r) cycle n set c using q select n from r', 'CYCLE'],
    ['alter table p enable row level security', 'row level security'],
    ['alter table p force row level security', 'row level security'],
    ['create policy a on p using (true)', 'CREATE POLICY'],
    ['create extension citext', 'extension citext'],
    ['create extension if not exists postgis', 'extension postgis'],
    ['create table c (a text collate "en_US")', 'a collation of a column'],
    ['create table c (a int, exclude using gist (a with =))', 'EXCLUDE'],
    [
      'create table c (a int, b int, foreign key (a, b) references p (id, n) on delete set null (a))',
      'SET NULL and SET DEFAULT of some columns',
    ],
    ['create view w as select * from p with check option', 'WITH CHECK OPTION'],
    ['create sequence s cache 10', 'CACHE of a sequence'],
    ["select pg_get_viewdef('v'::regclass)", 'the text of a view'],
    ['listen changes', 'LISTEN'],
    ['create table c (a point)', 'type point'],
    ['create table c (a inet)', 'type inet'],
    ['select * from pg_settings', 'the table pg_settings'],
    ['explain analyze delete from p', 'EXPLAIN ANALYZE'],
    ['explain (format yaml) select 1', 'a format of EXPLAIN'],
    ['select * from p join p q using (id) as j', 'an alias of USING'],
    ['select n from p group by distinct n', 'GROUP BY DISTINCT'],
    ['create function f() returns int language sql as $$ select 1 $$', 'CREATE FUNCTION'],
    ['create trigger t before insert on p for each row execute function f()', 'CREATE TRIGGER'],
    ['do $$ begin end $$', 'DO'],
    ['create database d', 'CREATE DATABASE'],
    ['create role r', 'CREATE ROLE'],
    ['refresh materialized view v', 'REFRESH MATERIALIZED VIEW'],
    ['declare c cursor for select 1', 'DECLARE of a cursor'],
    ['set role none_such', 'role = none_such'],
    // It would lock rows of p.
    ['select * from v for update', 'FOR UPDATE of a view in FROM'],
    ['select * from (select * from p) s for no key update', 'FOR NO KEY UPDATE of a subquery in FROM'],
    ['select p.id from p, (select * from p) s for share of s', 'FOR SHARE of a subquery in FROM'],
  ])('%s', async (sql, construct) => {
    const client = await prepared();
    await expect(client.run(sql)).rejects.toMatchObject({
      code: '0A000',
      isUnsupported: true,
      message: `${construct} is not supported by moirai`,
    });
  });
});

describe('taken, because nothing that a client sees depends on it', () => {
  test.each([
    "set time zone 'UTC'",
    'set time zone 0',
    'set time zone default',
    'create extension if not exists "uuid-ossp"',
    'create extension pgcrypto',
    'set constraints all deferred',
    'create table c (p int references p not deferrable initially immediate)',
    'begin isolation level serializable read only not deferrable',
    'create index i on p (n) with (fillfactor = 70)',
    'create unlogged table c (a text collate "C" not null)',
    'alter table p disable row level security',
    'with q as materialized (select 1) select * from q',
    'explain (verbose, costs off) select 1',
    'create sequence s cache 1',
    'unlisten *',
    'set role none',
    'set enable_nestloop = off',
  ])('%s', async (sql) => {
    const client = await prepared();
    expect((await client.run(sql)).command).not.toBe('');
  });
});

test('a named window gives its partition and its order, and the frame is that of the place', async () => {
  const client = await prepared();
  const sums = await client.rows(
    `select sum(id) over (w range between unbounded preceding and unbounded following), sum(id) over w, sum(id) over x
     from p window w as (order by n), q as (partition by n), x as (q) order by id`,
  );
  expect(sums).toEqual([
    [6n, 1n, 1n],
    [6n, 6n, 5n],
    [6n, 6n, 5n],
  ]);
});
