/** Thirty statements of PostgreSQL and a few more of MySQL that two sessions run against each other, over one parent and one child table. */
import type { Dialect } from '../src/sql/model/index.ts';

export const pairSetUp: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: [
    'create table t (id int primary key, k int unique, g int, v int not null default 0)',
    'create index t_g on t (g)',
    'create table u (id int primary key, tid int references t (id), w int)',
    'insert into t values (1, 10, 1, 0), (2, 20, 1, 1), (3, 30, 2, 0)',
    'insert into u values (1, 1, 0), (2, 2, 1)',
  ],
  mysql: [
    'create table t (id int primary key, k int unique, g int, v int not null default 0, key t_g (g))',
    'create table u (id int primary key, tid int, w int, foreign key (tid) references t (id))',
    'insert into t values (1, 10, 1, 0), (2, 20, 1, 1), (3, 30, 2, 0)',
    'insert into u values (1, 1, 0), (2, 2, 1)',
  ],
};

export const pairQueries = ['select * from t order by id', 'select * from u order by id'];

const shared = [
  'select * from t where id = 1',
  'select sum(v) from t',
  'select * from t where g = 1',
  'select * from t where id = 1 for update',
  'select * from t where g = 1 for update',
  'select * from t where id = 3 for update nowait',
  'select id from t where g = 1 order by id limit 1 for update skip locked',
  'insert into t values (4, 40, 1, 0)',
  'insert into t values (5, 10, 1, 0)',
  'insert into u values (3, 1, 0)',
  'insert into u values (4, 4, 0)',
  'update t set v = v + 1 where id = 1',
  'update t set v = v + 1 where g = 1',
  'update t set v = v + 1',
  'update t set k = 40 where id = 2',
  'update t set k = 10 where id = 3',
  'update t set id = 4 where id = 3',
  'update u set tid = 3 where id = 1',
  'update u set tid = 1, w = 9 where id = 1',
  'delete from t where id = 3',
  'delete from t where id = 1',
  'delete from u where tid = 1',
  'update t set v = 5 where id in (select tid from u where w = 1)',
] as const;

export const pairShapes: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: [
    ...shared,
    'select * from t where id = 1 for key share',
    'select * from t where id = 1 for share',
    'insert into t values (1, 50, 2, 1) on conflict (id) do update set v = t.v + 10',
    'insert into t values (6, 20, 2, 1) on conflict (k) do update set v = t.v + 10',
    'insert into t values (4, 40, 2, 1) on conflict do nothing',
    'with d as (delete from u where w = 1 returning tid) update t set v = 7 where id in (select tid from d)',
    'update t set v = v + 10 where id = (select id from t where g = 1 order by id limit 1 for update) returning id',
  ],
  mysql: [
    ...shared,
    'select * from t where id = 1 lock in share mode',
    'select max(id) + 1 from t for update',
    'select count(*) from t where g = 1 for update',
    'insert into t values (1, 50, 2, 1) on duplicate key update v = v + 10',
    'insert into t values (6, 20, 2, 1) on duplicate key update v = v + 10',
    'insert ignore into t values (4, 40, 2, 1)',
    'replace into u values (1, 2, 5)',
    'update t set v = v + 10 where g = 1 order by id limit 1',
    'delete from u where w >= 0 order by id limit 1',
  ],
};
