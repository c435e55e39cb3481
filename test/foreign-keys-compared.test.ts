/**
 * Foreign keys in lock-step with a real PostgreSQL: every pair of a write to the child and a write to the parent, each action and level, with the
 * other transaction committed before the snapshot, after it, or still open.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { moiraiSteps, postgresSteps, type Step } from './support/lock-step.ts';
import { startPostgres } from './support/postgres-server.ts';
import { startedOrSkipped } from './support/server-process.ts';

const server = await startedOrSkipped(startPostgres);
const postgres = server === undefined ? undefined : await postgresSteps(server.port);
const moirai = moiraiSteps();

afterAll(async () => {
  await postgres?.close();
  await server?.stop();
});

const levels = ['read committed', 'repeatable read', 'serializable'] as const;
const actions = ['no action', 'restrict', 'cascade', 'set null', 'set default'] as const;
const final = `select 'p', id, v from p union all select 'c', id, p from c order by 1, 2`;

function schema(action: string): string {
  return `create table p (id int primary key, v int); create table c (id int primary key, p int default 9
    references p on update ${action} on delete ${action}); create index on c (p);
    insert into p values (1, 0), (2, 0), (9, 0); insert into c values (1, 1);`;
}

const childWrites = [
  'insert into c values (2, 1)',
  'insert into c values (2, 2)',
  'insert into c values (2, 3)',
  'update c set p = 2 where id = 1',
  'delete from c where id = 1',
];
const parentWrites = [
  'insert into p values (3, 0)',
  'delete from p where id = 1',
  'delete from p where id = 2',
  'update p set v = 1 where id = 1',
  'update p set v = 1 where id = 2',
  'update p set id = 5 where id = 1',
  'update p set id = 5 where id = 2',
];

/** `own` in session 0, `other` in session 1, which is committed before 0's snapshot, after it, or after `own` has been sent. */
function schedules(own: string, other: string, level: string): [string, Step[]][] {
  const [begin, snapshot] = [`begin isolation level ${level}`, 'select count(*) from p'];
  const others: Step[] = [
    [1, begin],
    [1, other],
  ];
  return [
    ['before the snapshot', [[0, begin], ...others, [1, 'commit'], [0, snapshot], [0, own], [0, 'commit']]],
    ['after the snapshot', [[0, begin], [0, snapshot], ...others, [1, 'commit'], [0, own], [0, 'commit']]],
    ['concurrent', [[0, begin], [0, snapshot], ...others, [0, own], [1, 'commit'], [0, 'commit']]],
  ];
}

describe.skipIf(postgres === undefined).each(levels)('%s', (level) => {
  test.each(actions)('%s', async (action) => {
    const differences: string[] = [];
    for (const child of childWrites) {
      for (const parent of parentWrites) {
        for (const [own, other] of [
          [child, parent],
          [parent, child],
        ] as const) {
          for (const [when, steps] of schedules(own, other, level)) {
            const real = await postgres?.follow(schema(action), steps, final);
            const mock = await moirai.follow(schema(action), steps, final);
            if (JSON.stringify(real) !== JSON.stringify(mock))
              differences.push([when, 'PostgreSQL', ...(real ?? []), 'moirai', ...mock].join('\n'));
          }
        }
      }
    }
    expect(differences.length, differences.slice(0, 10).join('\n\n')).toBe(0);
  });
});
