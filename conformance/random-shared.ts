/** Statements that both dialects have. */
import { assignT, assignU, group, id, parent, rowT, rowU, value, whereT, whereU } from './random-parts.ts';
import type { Form } from './random-statements.ts';

const lock = ' for update';

export const sharedForms: readonly Form[] = [
  { name: 'select', weight: 6, sql: (c) => `select * from t where ${whereT(c)}` },
  { name: 'select', weight: 2, sql: (c) => `select * from u where ${whereU(c)}` },
  { name: 'select of all', weight: 2, sql: (c) => c.pick(['select * from t', 'select * from u']) },
  {
    name: 'aggregate',
    weight: 2,
    sql: (c) => c.pick([`select sum(v) from t where g = ${group(c)}`, 'select count(*) from u']),
  },
  {
    name: 'window',
    weight: 1,
    isOrdered: true,
    sql: (c) =>
      c.pick([
        'select id, row_number() over (partition by g order by id) from t order by id',
        'select id, sum(v) over (order by id) from t order by id',
      ]),
  },
  { name: 'join', weight: 1, sql: () => 'select t.id, t.v, u.w from t join u on u.tid = t.id' },
  {
    name: 'select ... order by ... limit',
    weight: 1,
    isOrdered: true,
    sql: (c) => `select * from t where ${whereT(c)} order by id limit ${1 + c.below(2)}`,
  },
  { name: 'select ... for update', weight: 4, sql: (c) => `select * from t where ${whereT(c)}${lock}` },
  { name: 'select ... for update', weight: 1, sql: (c) => `select * from u where ${whereU(c)}${lock}` },
  {
    name: 'select ... limit ... for update',
    weight: 3,
    isOrdered: true,
    sql: (c) => `select id from t where ${whereT(c)} order by id${c.pick(['', ' desc'])} limit 1${lock}`,
  },
  {
    name: 'select ... for update skip locked',
    weight: 2,
    isOrdered: true,
    sql: (c) => `select id from t where ${whereT(c)} order by id limit 1${lock} skip locked`,
  },
  { name: 'select ... for update nowait', weight: 2, sql: (c) => `select * from t where ${whereT(c)}${lock} nowait` },
  { name: 'insert', weight: 4, sql: (c) => `insert into t values ${rowT(c)}` },
  { name: 'insert of two rows', weight: 1, sql: (c) => `insert into t values ${rowT(c)}, ${rowT(c)}` },
  { name: 'insert of a child', weight: 4, sql: (c) => `insert into u values ${rowU(c)}` },
  {
    name: 'insert ... select',
    weight: 1,
    sql: (c) => `insert into u select ${id(c)}, id, ${value(c)} from t where ${whereT(c)} order by id limit 1`,
  },
  { name: 'update', weight: 9, sql: (c) => `update t set ${assignT(c)} where ${whereT(c)}` },
  {
    name: 'update of every column',
    weight: 1,
    sql: (c) => `update u set id = id, tid = ${parent(c)}, w = ${value(c)} where id = ${id(c)}`,
  },
  { name: 'update of a child', weight: 4, sql: (c) => `update u set ${assignU(c)} where ${whereU(c)}` },
  { name: 'delete', weight: 4, sql: (c) => `delete from t where ${whereT(c)}` },
  { name: 'delete of a child', weight: 3, sql: (c) => `delete from u where ${whereU(c)}` },
  {
    name: 'update by a subquery',
    weight: 1,
    sql: (c) => `update t set v = v + 1 where id in (select tid from u where ${whereU(c)})`,
  },
  { name: 'savepoint', weight: 3, sql: () => 'savepoint a' },
  { name: 'rollback to savepoint', weight: 3, sql: () => 'rollback to savepoint a' },
  { name: 'release savepoint', weight: 1, sql: () => 'release savepoint a' },
];
