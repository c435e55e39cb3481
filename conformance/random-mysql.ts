/** Statements of MySQL that MariaDB has too. */
import { assignT, assignU, id, rowT, rowU, value, whereT, whereU } from './random-parts.ts';
import type { Choices } from './choices.ts';
import type { Form } from './random-statements.ts';

const lock = (choices: Choices): string => choices.pick([' for update', ' lock in share mode']);
const aggregate = (choices: Choices): string =>
  choices.pick(['max(id) + 1', 'min(id)', 'max(k)', 'min(g)', 'count(*)', 'sum(v)']);

export const mysqlForms: readonly Form[] = [
  {
    name: 'select ... lock in share mode',
    weight: 4,
    sql: (c) => `select * from t where ${whereT(c)} lock in share mode`,
  },
  {
    name: 'aggregate that locks',
    weight: 4,
    sql: (c) => `select ${aggregate(c)} from ${c.pick(['t', `t where ${whereT(c)}`])}${lock(c)}`,
  },
  {
    name: 'aggregate of a child that locks',
    weight: 2,
    sql: (c) => `select ${c.pick(['count(*)', 'max(id)', 'sum(w)'])} from u where ${whereU(c)}${lock(c)}`,
  },
  {
    name: 'groups that lock',
    weight: 1,
    isOrdered: true,
    sql: (c) => `select g, ${aggregate(c)} from t where ${whereT(c)} group by g order by g${lock(c)}`,
  },
  {
    name: 'distinct that locks',
    weight: 1,
    sql: (c) => `select distinct ${c.pick(['g', 'v', 'g, v'])} from t where ${whereT(c)}${lock(c)}`,
  },
  {
    name: 'union that locks',
    weight: 1,
    sql: (c) => `select id from t where ${whereT(c)} union select tid from u where ${whereU(c)}${lock(c)}`,
  },
  {
    name: 'left join that locks',
    weight: 1,
    sql: (c) =>
      `select ${c.pick(['t.id, t.v', 't.id, u.w'])} from t left join u on ${c.pick(['u.id = t.g', 'u.id = t.id', 'u.tid = t.id'])} where t.id ${c.pick(['=', '>='])} ${id(c)}${lock(c)}`,
  },
  {
    name: 'upsert',
    weight: 6,
    sql: (c) =>
      `insert into t values ${rowT(c)} on duplicate key update ${c.pick(['v = v + 1', 'v = values(v)', 'k = values(k)', 'v = v + 10'])}`,
  },
  {
    name: 'upsert of a child',
    weight: 1,
    sql: (c) => `insert into u values ${rowU(c)} on duplicate key update ${assignU(c)}`,
  },
  { name: 'insert ignore', weight: 3, sql: (c) => `insert ignore into t values ${rowT(c)}` },
  { name: 'insert ignore', weight: 1, sql: (c) => `insert ignore into u values ${rowU(c)}` },
  { name: 'replace', weight: 3, sql: (c) => `replace into t values ${rowT(c)}` },
  { name: 'replace of a child', weight: 1, sql: (c) => `replace into u values ${rowU(c)}` },
  {
    name: 'update ... limit',
    weight: 2,
    sql: (c) => `update t set ${assignT(c)} where ${whereT(c)} order by id limit ${1 + c.below(2)}`,
  },
  {
    name: 'delete ... limit',
    weight: 2,
    sql: (c) => `delete from ${c.pick([`t where ${whereT(c)}`, `u where ${whereU(c)}`])} order by id limit 1`,
  },
  {
    name: 'update of a join',
    weight: 1,
    sql: (c) => `update t join u on u.tid = t.id set t.v = u.w where u.id = ${id(c)}`,
  },
  {
    name: 'advisory lock',
    feature: 'advisory locks',
    weight: 4,
    sql: (c) => `select get_lock('${c.pick(['a', 'b'])}', 40)`,
  },
  {
    name: 'advisory lock tried',
    feature: 'advisory locks',
    weight: 2,
    sql: (c) => `select get_lock('${c.pick(['a', 'b'])}', 0)`,
  },
  {
    name: 'advisory unlock',
    feature: 'advisory locks',
    weight: 2,
    sql: (c) => `select release_lock('${c.pick(['a', 'b'])}')`,
  },
  {
    name: 'DDL',
    feature: 'DDL',
    weight: 4,
    sql: (c) =>
      c.pick([
        'alter table t add column n int default 7',
        'create index t_v on t (v)',
        'truncate u',
        'drop table u',
        'create table n (id int primary key)',
        `alter table u add constraint u_w check (w < ${3 + value(c)})`,
      ]),
  },
];
