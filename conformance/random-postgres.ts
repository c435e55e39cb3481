/** Statements of PostgreSQL. */
import { assignT, assignU, group, id, rowT, rowU, value, whereT, whereU } from './random-parts.ts';
import type { Choices } from './choices.ts';
import type { Form } from './random-statements.ts';

const negation = (choices: Choices): string => choices.pick(['', '', 'not ']);

/** A condition on `t` by its children. */
const existsU = (choices: Choices): string =>
  `${negation(choices)}exists (select 1 from u where u.tid = t.id${choices.pick(['', ' and u.w <= t.v', ' and u.w > 0'])})`;

/** A condition on `u` by its parent. */
const existsT = (choices: Choices): string =>
  `${negation(choices)}exists (select 1 from t where t.id = u.tid${choices.pick(['', ' and t.v >= u.w', ' and t.v > 0'])})`;

export const postgresForms: readonly Form[] = [
  {
    name: 'select with another row lock',
    weight: 4,
    sql: (c) =>
      `select * from t where ${whereT(c)} for ${c.pick(['share', 'key share', 'no key update'])}${c.pick(['', '', ' nowait', ' skip locked'])}`,
  },
  {
    name: 'join ... for update of',
    weight: 1,
    sql: (c) =>
      `select t.id, u.id from t join u on u.tid = t.id where u.w < ${1 + value(c)} for update of ${c.pick(['t', 'u'])}`,
  },
  {
    name: 'left join ... for update of',
    weight: 1,
    sql: (c) =>
      `select t.id, t.v, u.id from t left join u on u.tid = t.id and u.w <= t.v where t.${whereT(c)} for update of t`,
  },
  {
    name: 'write by exists',
    weight: 4,
    sql: (c) =>
      c.pick([
        `update t set ${assignT(c)} where ${whereT(c)} and ${existsU(c)}`,
        `delete from t where ${existsU(c)}`,
        `update u set ${assignU(c)} where ${existsT(c)}`,
        `delete from u where ${existsT(c)}`,
        `update u set ${assignU(c)} where tid in (select id from t where ${whereT(c)})`,
      ]),
  },
  {
    name: 'select ... exists ... for update',
    weight: 2,
    sql: (c) =>
      c.pick([`select * from t where ${existsU(c)} for update`, `select * from u where ${existsT(c)} for update`]),
  },
  {
    name: 'upsert',
    weight: 6,
    sql: (c, { targets }) =>
      `insert into t values ${rowT(c)} on conflict ${c.pick(targets)} do update set ${c.pick(['v = t.v + 1', 'v = excluded.v', 'k = excluded.k', 'v = t.v + 10'])}${c.pick(['', '', ' where t.v < 2'])}`,
  },
  {
    name: 'on conflict do nothing',
    weight: 3,
    sql: (c, { targets }) => `insert into t values ${rowT(c)} on conflict ${c.pick([...targets, ''])} do nothing`,
  },
  { name: 'on conflict do nothing', weight: 1, sql: (c) => `insert into u values ${rowU(c)} on conflict do nothing` },
  { name: 'insert ... returning', weight: 1, sql: (c) => `insert into t values ${rowT(c)} returning id, v` },
  { name: 'update ... returning', weight: 2, sql: (c) => `update t set ${assignT(c)} where ${whereT(c)} returning *` },
  { name: 'delete ... returning', weight: 1, sql: (c) => `delete from t where ${whereT(c)} returning id` },
  {
    name: 'job claim',
    weight: 2,
    sql: (c) =>
      `update t set v = v + 10 where id = (select id from t where g = ${group(c)} order by id limit 1 for update skip locked) returning id`,
  },
  {
    name: 'update ... from',
    weight: 1,
    sql: (c) => `update t set v = u.w from u where u.tid = t.id and u.id = ${id(c)}`,
  },
  {
    name: 'writing with',
    weight: 3,
    sql: (c) =>
      c.pick([
        `with d as (delete from u where ${whereU(c)} returning *) update t set v = v + 1 where id in (select tid from d)`,
        `with d as (update t set v = v + 1 where ${whereT(c)} returning *) select id, v from d`,
        `with i as (insert into t values ${rowT(c)} returning id) insert into u select ${id(c)}, id, 0 from i`,
        `with d as (update t set ${assignT(c)} where id = ${id(c)} returning *) update t set v = d.v + 5 from d where t.id = ${id(c)}`,
      ]),
  },
  {
    name: 'advisory lock',
    feature: 'advisory locks',
    weight: 6,
    sql: (c) =>
      `select ${c.pick(['pg_advisory_lock', 'pg_advisory_xact_lock', 'pg_advisory_xact_lock', 'pg_advisory_lock_shared', 'pg_advisory_xact_lock_shared'])}(${1 + c.below(2)})`,
  },
  {
    name: 'advisory lock tried',
    feature: 'advisory locks',
    weight: 4,
    sql: (c) =>
      `select ${c.pick(['pg_try_advisory_lock', 'pg_try_advisory_xact_lock', 'pg_try_advisory_xact_lock_shared'])}(${1 + c.below(2)})`,
  },
  {
    name: 'advisory unlock',
    feature: 'advisory locks',
    weight: 2,
    sql: (c) => `select pg_advisory_unlock(${1 + c.below(2)})`,
  },
  {
    name: 'set constraints',
    feature: 'deferrable constraints',
    weight: 2,
    sql: (c) => `set constraints all ${c.pick(['deferred', 'immediate'])}`,
  },
  {
    name: 'lock table',
    feature: 'table locks',
    weight: 2,
    sql: (c) =>
      `lock table ${c.pick(['t', 'u'])} in ${c.pick(['access share', 'row exclusive', 'share', 'share row exclusive', 'exclusive', 'access exclusive'])} mode${c.pick(['', '', ' nowait'])}`,
  },
  {
    name: 'DDL',
    feature: 'DDL',
    weight: 4,
    sql: (c) =>
      c.pick([
        'alter table t add column n int default 7',
        'alter table u drop column w',
        'create index t_v on t (v)',
        'create unique index t_gv on t (g, v)',
        'truncate u',
        'truncate t cascade',
        'drop table u',
        'create table n (id int primary key)',
        'alter table u add constraint u_w check (w < 3)',
        'alter table t rename column v to x',
      ]),
  },
];
