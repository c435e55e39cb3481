/** `npm run conformance -- victims`: what counts as a victim that `explore` does not try, and what as a difference of InnoDB's pages. */
import { expect, test } from 'vitest';
import { likelyChoices, MoiraiSide } from '../conformance/moirai-side.ts';
import { deadlockVictims, runSchedule, type Schedule, type Side, type Step } from '../conformance/schedule.ts';
import { withServer } from '../conformance/servers.ts';
import { compareSchedule, compareVictims, mayBeginPage, type VictimDifference } from '../conformance/victims.ts';
import type { Answer } from './sql-oracle/answer.ts';
import { faulty } from './support/faulty-side.ts';
import { MissingServer, serversAreRequired } from './support/server-process.ts';

const statement = (session: number, sql: string): Step => ({ session, sql, form: sql.split(' ', 1).join('') });

/** Three rows locked, one written: on one page the first session has done less, on two the second. */
const deadlockOfWidth = (width: number): Schedule => ({
  dialect: 'mysql',
  setUp: [
    'create table t (id int primary key, v int, pad varchar(8000))',
    `insert into t values ${[1, 2, 3, 9].map((id) => `(${id}, 0, repeat('x', ${width}))`).join(', ')}`,
  ],
  levels: ['repeatable read', 'repeatable read'],
  steps: [
    statement(0, 'begin'),
    statement(1, 'begin'),
    ...[1, 2, 3].map((id) => statement(0, `select id from t where id = ${id} for update`)),
    statement(1, 'update t set v = v + 1 where id = 9'),
    statement(0, 'update t set v = v + 1 where id = 9'),
    statement(1, 'update t set v = v + 1 where id = 1'),
  ],
  queries: ['select id, v from t order by id'],
});

test('a victim that explore does not try is found', async () => {
  const locks = deadlockOfWidth(10);
  const update = statement(0, 'update t set v = v + 1 where id in (1, 2, 3)');
  const writes = { ...locks, steps: locks.steps.map((each) => (each.form === 'select' ? update : each)) };
  const side = new MoiraiSide('mysql');
  expect(await compareSchedule(writes, side)).toMatchObject({ line: null, isVictim: false });
  expect(await compareSchedule(writes, withOtherVictims(side))).toMatchObject({ line: 7, isVictim: true });
});

/** The insertion of s1 closes two cycles. When s2 is the first victim, s0 gets its row and closes the other one with its next. */
const twoCycles: Schedule = {
  dialect: 'mysql',
  setUp: [
    'create table t (id int primary key, v int)',
    'create table u (id int primary key, tid int, foreign key (tid) references t (id))',
    'insert into t values (10, 0), (20, 0), (30, 0)',
    'insert into u values (30, 30)',
  ],
  levels: ['serializable', 'serializable', 'serializable'],
  steps: [
    statement(1, 'begin'),
    statement(2, 'begin'),
    statement(2, 'update t set v = 1 where id = 10'),
    statement(0, 'begin'),
    statement(1, 'select id from t where id between 30 and 60 for update'),
    statement(0, 'select id from u where tid = 30 for update'),
    statement(2, 'insert into t values (33, 0)'),
    statement(0, 'select id from t where id between 10 and 40 for update'),
    statement(1, 'insert into u values (22, 20)'),
  ],
  queries: [],
};

test('of two victims in one step either may be the first', async () => {
  const victims = twoCycles.steps.map((_, line) => (line === 8 ? [2, 0] : []));
  const comparison = await compareSchedule(twoCycles, new MoiraiSide('mysql', { ...likelyChoices, victims }));
  expect(deadlockVictims(comparison.theirs.lines[8])).toEqual([0, 2]);
  expect(comparison).toMatchObject({ line: null, isVictim: false });
});

function withOtherVictims(side: MoiraiSide): Side {
  return faulty(side, {
    settle: async () => {
      const answers = [...(await side.settle())];
      const isDeadlock = answers.some(([, answer]) => answer.kind === 'error' && answer.code === '1213');
      return new Map(isDeadlock ? answers.map(([session, answer]) => [1 - session, answer]) : answers);
    },
  });
}

test('of a schedule that differs the fewest statements that do so are reported', async () => {
  const side = new MoiraiSide('mysql');
  const refused: Answer = { kind: 'error', code: '1317', message: 'interrupted' };
  let isFirst = true;
  const refusing = faulty(side, {
    prepare: (schedule) => {
      isFirst = true;
      return side.prepare(schedule);
    },
    settle: async () => {
      const answers = await side.settle();
      const isRefused = isFirst && answers.has(0);
      if (isRefused) isFirst = false;
      return isRefused ? new Map([...answers, [0, refused]]) : answers;
    },
  });
  const reported: VictimDifference[] = [];
  const onDifference = (difference: VictimDifference) => void reported.push(difference);
  const result = await compareVictims({ schedules: 1, first: 450, seed: 62, onDifference }, refusing);
  expect(result).toMatchObject({ outside: [], byPages: [], different: [450] });
  expect(reported.map(({ number, smallest }) => [number, smallest.line, smallest.schedule.steps.length])).toEqual([
    [450, 0, 0],
  ]);
});

/** The middle row is searched by its key, then another is inserted before it: of wide rows two fill a page. */
const insertedBefore = (width: number): Schedule => ({
  dialect: 'mysql',
  setUp: [
    'create table t (id int primary key, v int, pad varchar(8000))',
    `insert into t values ${[10, 20, 50].map((id) => `(${id}, 0, repeat('p', ${width}))`).join(', ')}`,
  ],
  levels: ['repeatable read', 'read committed'],
  steps: [
    statement(0, 'begin'),
    statement(0, 'update t set v = v + 1 where id = 20'),
    statement(1, "insert into t values (13, 0, 'x')"),
    statement(0, 'commit'),
  ],
  queries: ['select id, v from t order by id'],
});

test('an insertion that waits before the first row of a page is a difference of pages, where a table has several', async () => {
  const onePage = new MoiraiSide('mysql');
  await runSchedule(insertedBefore(7_000), onePage);
  const pageBegins = onePage.insertedBefore;
  expect([...pageBegins]).toEqual(['t rows #2']);
  const pages = new MoiraiSide('mysql', { ...likelyChoices, pageBegins });
  expect(await compareSchedule(insertedBefore(7_000), pages)).toMatchObject({ line: null, pageBegins });
  expect(await compareSchedule(insertedBefore(10), pages)).toMatchObject({ line: 2, pageBegins: new Set() });
});

test.each([
  ['t rows #2', 7_000, true],
  ['t rows #2', 100, false],
  ['u rows #2', 7_000, false],
  ['t k #2', 7_000, false],
])('may a page begin with %s, of %i bytes: %s', (record, width, expected) => {
  expect(mayBeginPage(record, insertedBefore(width))).toBe(expected);
});

test('MariaDB takes its victims among those of moirai, and its pages begin with searched rows', {
  timeout: 120_000,
}, async () => {
  try {
    await withServer('mysql', async (real) => {
      const compared = (schedule: Schedule) => compareSchedule(schedule, real);
      const [narrow, wide] = [await compared(deadlockOfWidth(10)), await compared(deadlockOfWidth(7_000))];
      expect([narrow.line, narrow.lightest, wide.line]).toEqual([null, null, null]);
      expect(wide.lightest).not.toBeNull();
      expect((await compared(twoCycles)).line).toBeNull();
      const [onOnePage, onPages] = [await compared(insertedBefore(10)), await compared(insertedBefore(7_000))];
      expect([onOnePage.line, onPages.line]).toEqual([null, null]);
      expect([onOnePage.pageBegins.size, onPages.pageBegins.size]).toEqual([0, 1]);
    });
  } catch (error) {
    if (!(error instanceof MissingServer) || serversAreRequired()) throw error;
  }
});
