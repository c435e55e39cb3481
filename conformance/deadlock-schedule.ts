/**
 * Random schedules of which many end in a deadlock of MariaDB: two or three transactions write, lock and insert the same few rows of two tables in
 * orders of their own. Rows are of different widths, from many on a page to two, and some statements make them grow.
 */
import type { Chooser } from '../src/base/index.ts';
import { Choices } from './choices.ts';
import type { Level, Schedule, Step } from './schedule.ts';

const levels: readonly Level[] = ['read committed', 'repeatable read', 'repeatable read', 'serializable'];
/** Bytes of a row besides its numbers. A page has 16 KiB. */
const widths = [0, 100, 3_000, 7_000];
/** Rows have the numbers 10, 20, ...; insertions come in between. */
const spacing = 10;

interface Form {
  readonly name: string;
  readonly weight: number;
  /** @param id of a row, which all sessions may name */
  readonly sql: (id: number, choices: Choices) => string;
}

const wide = (choices: Choices): string => `repeat('x', ${choices.pick(widths)})`;
const near = (id: number, choices: Choices): number => id + 1 + choices.below(3);
const range = (id: number, choices: Choices): string => `id between ${id} and ${id + spacing * (1 + choices.below(3))}`;

const forms: readonly Form[] = [
  { name: 'update', weight: 8, sql: (id) => `update t set v = v + 1 where id = ${id}` },
  { name: 'update of a child', weight: 6, sql: (id) => `update u set w = w + 1 where id = ${id}` },
  { name: 'update by an index', weight: 3, sql: (id) => `update u set w = w + 1 where tid = ${id}` },
  { name: 'update of a range', weight: 2, sql: (id, c) => `update t set v = v + 1 where ${range(id, c)}` },
  { name: 'update of an index', weight: 3, sql: (id, c) => `update t set k = ${near(id, c)} where id = ${id}` },
  { name: 'update of a width', weight: 3, sql: (id, c) => `update t set pad = ${wide(c)} where id = ${id}` },
  { name: 'select ... for update', weight: 3, sql: (id, c) => `select id from t where ${range(id, c)} for update` },
  { name: 'select ... for update', weight: 2, sql: (id) => `select id from u where tid = ${id} for update` },
  { name: 'select ... for share', weight: 3, sql: (id) => `select id from t where id = ${id} lock in share mode` },
  { name: 'gap', weight: 4, sql: (id) => `select id from t where id = ${id + 5} for update` },
  { name: 'insert', weight: 6, sql: (id, c) => `insert into t values (${near(id, c)}, ${near(id, c)}, 0, ${wide(c)})` },
  {
    name: 'insert of a child',
    weight: 5,
    sql: (id, c) => `insert into u values (${near(id, c)}, ${id}, 0, ${wide(c)})`,
  },
  {
    name: 'upsert',
    weight: 2,
    sql: (id, c) => `insert into t values (${id}, ${id}, 0, ${wide(c)}) on duplicate key update v = v + 1`,
  },
  { name: 'replace', weight: 1, sql: (id, c) => `replace into u values (${id}, ${id}, 0, ${wide(c)})` },
  { name: 'delete', weight: 2, sql: (id) => `delete from u where id = ${id}` },
  { name: 'delete of a parent', weight: 1, sql: (id) => `delete from t where id = ${id}` },
];

export function deadlockSchedule(chooser: Chooser): Schedule {
  const choices = new Choices(chooser);
  const level = choices.pick(levels);
  const count = 2 + Number(choices.rarely(3));
  const programs = Array.from({ length: count }, (_, session) => program(choices, session));
  return {
    dialect: 'mysql',
    setUp: setUp(choices),
    levels: programs.map(() => level),
    steps: merged(choices, programs),
    queries: ['select id, k, v, length(pad) from t order by id', 'select id, tid, w, length(pad) from u order by id'],
  };
}

function setUp(choices: Choices): string[] {
  const [widthOfT, widthOfU] = [choices.pick(widths), choices.pick(widths)];
  const ids = Array.from({ length: 4 + choices.below(9) }, (_, i) => (i + 1) * spacing);
  const key = choices.pick(['', ', key (k)', ', unique (k)']);
  const action = choices.pick(['', ' on delete cascade']);
  const rows = (width: number): string => ids.map((id) => `(${id}, ${id}, 0, repeat('p', ${width}))`).join(', ');
  return [
    `create table t (id int primary key, k int, v int, pad varchar(8000)${key})`,
    `create table u (id int primary key, tid int, w int, pad varchar(8000), foreign key (tid) references t (id)${action})`,
    `insert into t values ${rows(widthOfT)}`,
    `insert into u values ${rows(widthOfU)}`,
  ];
}

function program(choices: Choices, session: number): Step[] {
  const statements = Array.from({ length: 2 + choices.below(4) }, (): Step => {
    const { name, sql } = choices.weighted(forms);
    return { session, sql: sql(spacing * (1 + choices.below(3)), choices), form: name };
  });
  const begin = { session, sql: 'begin', form: 'begin' };
  return [begin, ...statements, { session, sql: 'commit', form: 'commit' }];
}

function merged(choices: Choices, programs: readonly (readonly Step[])[]): Step[] {
  const left = programs.map((steps) => [...steps]);
  const steps: Step[] = [];
  for (;;) {
    const open = left.filter((each) => each.length > 0);
    if (open.length === 0) return steps;
    steps.push(choices.pick(open).shift() as Step);
  }
}
