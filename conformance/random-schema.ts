/** Schemas as applications write them: a parent and a child table, keys and indexes of each kind, nothing written out that a server adds by itself. */
import type { Dialect } from '../src/sql/model/index.ts';
import type { Choices } from './choices.ts';

/** What statements need to know of a schema. */
export interface RandomSchema {
  readonly setUp: readonly string[];
  readonly queries: readonly string[];
  /** Conflict targets of `t`: columns and, for a partial index, its condition. */
  readonly targets: readonly string[];
}

const actions = ['', '', 'cascade', 'set null', 'restrict', 'no action'];

export function randomSchema(choices: Choices, dialect: Dialect, isDeferrable: boolean): RandomSchema {
  const isPostgres = dialect === 'postgres';
  const keys = isPostgres ? keysOfPostgres : keysOfMysql;
  const key = isDeferrable && choices.rarely(3) ? deferredKey : choices.pick(keys);
  const indexOfG = choices.rarely(2);
  const onDelete = choices.pick(actions);
  const onUpdate = choices.rarely(3) ? choices.pick(actions) : '';
  const deferrable = isDeferrable ? choices.pick(['deferrable', 'deferrable initially deferred']) : '';
  const reference = [
    'references t (id)',
    ...(onDelete === '' ? [] : [`on delete ${onDelete}`]),
    ...(onUpdate === '' ? [] : [`on update ${onUpdate}`]),
    ...(deferrable === '' ? [] : [deferrable]),
  ].join(' ');
  const isPairUnique = choices.rarely(4);
  const child = isPostgres
    ? [`id int primary key`, `tid int ${reference}`, 'w int']
    : [`id int primary key`, 'tid int', 'w int', `foreign key (tid) ${reference}`];
  if (isPairUnique) child.push('unique (tid, w)');
  return {
    setUp: [
      `create table t (id int primary key, k int${key.column}, g int, v int not null default 0${key.table})`,
      ...key.indexes,
      ...(indexOfG ? ['create index t_g on t (g)'] : []),
      `create table u (${child.join(', ')})`,
      ...(isPostgres && choices.rarely(2) ? ['create index u_tid on u (tid)'] : []),
      choices.pick(rowsOfT),
      choices.pick(rowsOfU),
    ],
    queries: ['select id, k, g, v from t order by id', 'select id, tid, w from u order by id'],
    targets: ['(id)', ...key.targets],
  };
}

interface Key {
  readonly column: string;
  readonly table: string;
  readonly indexes: readonly string[];
  readonly targets: readonly string[];
}

const deferredKey: Key = {
  column: ' unique deferrable initially deferred',
  table: '',
  indexes: [],
  targets: [],
};

const keysOfPostgres: readonly Key[] = [
  { column: ' unique', table: '', indexes: [], targets: ['(k)', '(k)', 'on constraint t_k_key'] },
  { column: '', table: '', indexes: [], targets: [] },
  { column: '', table: '', indexes: ['create index t_k on t (k)'], targets: [] },
  {
    column: '',
    table: '',
    indexes: ['create unique index t_k on t (k) where v > 0'],
    targets: ['(k) where v > 0'],
  },
  { column: '', table: ', unique (k, g)', indexes: [], targets: ['(k, g)'] },
];

const keysOfMysql: readonly Key[] = [
  { column: ' unique', table: '', indexes: [], targets: [] },
  { column: ' unique', table: '', indexes: [], targets: [] },
  { column: '', table: '', indexes: [], targets: [] },
  { column: '', table: ', key (k)', indexes: [], targets: [] },
  { column: '', table: ', unique (k, g)', indexes: [], targets: [] },
];

const rowsOfT = [
  'insert into t values (1, 10, 1, 0), (2, 20, 1, 1), (3, 30, 2, 1)',
  'insert into t values (1, 10, 1, 1), (3, 30, 2, 1)',
  'insert into t values (1, null, 1, 0), (2, 20, 1, 1), (4, 40, 2, 0)',
];
const rowsOfU = [
  'insert into u values (1, 1, 0), (2, 1, 1)',
  'insert into u values (1, 1, 0), (3, null, 1)',
  'insert into u values (2, 1, 5)',
];
