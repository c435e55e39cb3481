/**
 * The reduced run of `npm run conformance`: a few random schedules of fixed seeds on each real server, and how schedules are compared and
 * reduced. A campaign: `npm run conformance -- random --schedules 1000 --seed 7`.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compare } from '../conformance/compare.ts';
import { listing, signatureOf } from '../conformance/difference.ts';
import { knownDifference, knownDifferences } from '../conformance/known-differences.ts';
import { MoiraiSide } from '../conformance/moirai-side.ts';
import { runPair } from '../conformance/pairs.ts';
import { randomSchedules, reduceDifference } from '../conformance/random.ts';
import { RealSide } from '../conformance/real-side.ts';
import {
  answerOutcome,
  runSchedule,
  type Schedule,
  type Side,
  type Step,
  type TraceLine,
} from '../conformance/schedule.ts';
import { withServer } from '../conformance/servers.ts';
import type { Answer } from './sql-oracle/answer.ts';
import { faulty } from './support/faulty-side.ts';
import { MissingServer, serversAreRequired } from './support/server-process.ts';

const reducedRuns = [
  { dialect: 'postgres', seed: 2, first: 3, schedules: 20 },
  { dialect: 'mysql', seed: 3, first: 25, schedules: 12 },
] as const;

/** Its form is its first word unless another is given. */
function statement(session: number, sql: string, form = sql.split(' ', 1).join('')): Step {
  return { session, sql, form };
}

const joined = 'select t.id, t.v, u.w from t join u on u.tid = t.id';
const joinTables = [
  'create table t (id int primary key, k int, g int, v int not null default 0)',
  'create table u (id int primary key, tid int, w int)',
];

/** The server begins with the table that stands first where both are as small. */
const joinOfNothing: Schedule = {
  dialect: 'mysql',
  setUp: joinTables,
  levels: ['serializable', 'serializable'],
  steps: [statement(0, 'begin'), statement(0, joined), statement(1, 'insert into t values (3, 30, 1, 1)')],
  queries: [],
};

/** The server reads a table of few rows whole, and locks those that it does not join and the end. */
const joinOfFew: Schedule = {
  ...joinOfNothing,
  setUp: [
    ...joinTables,
    'insert into t values (1, 10, 1, 1), (2, 20, 2, 1), (4, 40, 2, 1)',
    'insert into u values (2, 1, 1), (3, 1, 1)',
  ],
};

/** By the index of (tid, w) the server reads no row of an entry whose w is another. */
const deleteByLaterColumn: Schedule = {
  dialect: 'postgres',
  setUp: [
    'create table t (id int primary key, v int)',
    'create table u (id int primary key, tid int references t (id), w int, unique (tid, w))',
    'insert into t values (4, 0)',
  ],
  levels: ['serializable', 'serializable'],
  steps: [
    statement(1, 'begin'),
    statement(1, 'insert into u values (3, 4, 1)'),
    statement(0, 'begin'),
    statement(0, 'delete from u where w = 0'),
    statement(1, 'commit'),
    statement(0, 'update t set v = 1 where id = 4'),
    statement(0, 'commit'),
  ],
  queries: [],
};

/** The server reads the primary key in order until LIMIT ends it, so it has not read the row that is inserted. */
const jobOfPrimaryKey: Schedule = {
  ...deleteByLaterColumn,
  setUp: [
    'create table t (id int primary key, g int, v int)',
    'create index t_g on t (g)',
    'insert into t values (1, 1, 1)',
  ],
  steps: [
    statement(0, 'begin'),
    statement(0, 'insert into t values (2, 1, 3)'),
    statement(
      1,
      'update t set v = 9 where id = (select id from t where g = 1 order by id limit 1 for update skip locked)',
      'job claim',
    ),
    statement(0, 'select * from t where id = 1'),
  ],
};

/** The server merges the join by two indexes and ends with the empty one, so it has read only the first row of t. */
const mergedWithNothing: Schedule = {
  ...deleteByLaterColumn,
  setUp: [
    'create table t (id int primary key, k int unique, v int)',
    'create table u (id int primary key, tid int unique)',
    'insert into t values (2, 20, 1), (3, 30, 1)',
  ],
  steps: [
    statement(0, 'begin'),
    statement(0, 'select * from t where v > 2'),
    statement(1, 'begin'),
    statement(0, 'delete from t where id = 3'),
    statement(1, 'update t set v = v + 1 where k = 20'),
    statement(0, 'commit'),
    statement(1, 'select * from t join u on u.tid = t.id', 'join'),
  ],
};

/** A scan of the table comes to the updated row last, so its new key is free. */
const updateOfUpdated: Schedule = {
  ...deleteByLaterColumn,
  setUp: [
    'create table t (id int primary key, k int, g int, v int, unique (k, g))',
    'insert into t values (1, 10, 1, 0), (2, 20, 1, 1)',
  ],
  steps: ['update t set v = 1 where id = 1', 'update t set k = k + 10 where v > 0'].map((sql) => statement(0, sql)),
};

/** No row of t has the only value that the subquery can have, so the server does not read u. */
const membersOfConstant: Schedule = {
  ...deleteByLaterColumn,
  setUp: [
    'create table t (id int primary key, v int)',
    'create table u (id int primary key, tid int, w int)',
    'insert into u values (3, null, 1)',
  ],
  steps: [
    statement(1, 'begin'),
    statement(1, 'insert into t values (3, 2)'),
    statement(0, 'update u set w = w + 1 where tid is null'),
    statement(0, 'select id from t where id in (1, 3)'),
    statement(1, 'update t set v = 0 where id in (select tid from u where tid = 4)'),
  ],
};

test.each(reducedRuns)('$dialect: $schedules schedules of seed $seed', { timeout: 300_000 }, async (run) => {
  try {
    const result = await withServer(run.dialect, async (real) => {
      if (run.dialect === 'mysql') {
        for (const schedule of [joinOfNothing, joinOfFew])
          expect((await compare(schedule, real)).kind).toBe('equal by another plan');
      }
      if (run.dialect === 'postgres') {
        for (const schedule of [deleteByLaterColumn, jobOfPrimaryKey, mergedWithNothing])
          expect((await compare(schedule, real)).kind).toBe('equal by another plan');
        for (const schedule of [updateOfUpdated, membersOfConstant])
          expect((await compare(schedule, real)).kind).toBe('equal');
      }
      return randomSchedules({ ...run, reducedMax: 1 }, real);
    });
    expect([...result.groups.values()].map(({ example }) => listing(example, 'the server'))).toEqual([]);
    expect(result.schedules).toBe(run.schedules);
    expect(result.equal).toBeGreaterThan(run.schedules / 2);
  } catch (error) {
    if (!(error instanceof MissingServer) || serversAreRequired()) throw error;
  }
});

test('a session whose statement ends while another one is cleaned is cleaned too', async () => {
  const done: Answer = { kind: 'done', tag: '' };
  const cleaned: number[] = [];
  let letGo: (answer: Answer) => void = () => {};
  const locked = new Promise<Answer>((resolve) => {
    letGo = resolve;
  });
  const asks = [
    (sql: string): Promise<Answer> => (sql === "select get_lock('a', 9)" ? locked : Promise.resolve(done)),
    (): Promise<Answer> => {
      letGo(done);
      return Promise.resolve(done);
    },
  ];
  const side = new RealSide({
    name: 'a server',
    dialect: 'mysql',
    clients: asks.map((ask, session) => ({
      ask: ({ sql }) => {
        if (sql === 'rollback') cleaned.push(session);
        return ask(sql);
      },
      end: () => Promise.resolve(),
    })),
    cleaning: ['rollback', 'do release_all_locks()'],
    deadlockMs: 0,
    control: {
      empty: () => Promise.resolve(),
      ask: () => Promise.resolve(done),
      waiting: (sessions) => Promise.resolve(new Set(sessions)),
      recover: () => Promise.resolve(),
      close: () => Promise.resolve(),
    },
  });
  side.start(statement(0, "select get_lock('a', 9)", 'get_lock'));
  await side.finish();
  expect(cleaned).toEqual([1, 0]);
});

const twoUpdates: Schedule = {
  dialect: 'postgres',
  setUp: ['create table t (id int primary key, v int)', 'insert into t values (1, 0)'],
  levels: ['read committed', 'read committed'],
  steps: [
    statement(0, 'begin'),
    statement(0, 'update t set v = v + 1'),
    statement(1, 'update t set v = v + 1'),
    statement(1, 'select v from t'),
    statement(0, 'commit'),
  ],
  queries: ['select v from t'],
};

test('a trace names the session that waits, the one that wakes, and the final state', async () => {
  const { lines } = await runSchedule(twoUpdates, new MoiraiSide('postgres'));
  expect(lines.map(({ outcome }) => outcome)).toEqual([
    's0 BEGIN',
    's0 UPDATE 1',
    'waits',
    's0 COMMIT; s1 UPDATE 1',
    's1 ["2"]',
    's0 ROLLBACK',
    's1 ROLLBACK',
    's0 ROLLBACK',
    's1 ROLLBACK',
    '["2"]',
  ]);
});

test('a difference is found and reduced to the statement that shows it', async () => {
  const [begin, update, ...others] = twoUpdates.steps;
  const steps = [begin, update, statement(1, 'delete from t where id = 2'), ...others];
  const schedule = { ...twoUpdates, steps: steps.filter((step) => step !== undefined) };
  const comparison = await compare(schedule, deletingNothing());
  if (comparison.kind !== 'different') throw new Error(comparison.kind);
  const smallest = await reduceDifference({ ...comparison, schedule }, deletingNothing());
  expect(signatureOf(smallest)).toBe('delete: error XX000 | done');
  expect(listing(smallest, 'a faulty server')).toBe(
    `create table t (id int primary key, v int);
s0 read committed, s1 read committed
s1 delete from t where id = 2
    a faulty server: s1 error XX000   (XX000 nothing is deleted)
    moirai: s1 DELETE 0`,
  );
});

function deletingNothing(): Side {
  const side = new MoiraiSide('postgres');
  const deletes = new Set<number>();
  const refused: Answer = { kind: 'error', code: 'XX000', message: 'nothing is deleted' };
  return faulty(side, {
    start: (step) => {
      if (step.sql.startsWith('delete from t')) deletes.add(step.session);
      else deletes.delete(step.session);
      side.start(step);
    },
    settle: async () => {
      const answers = [...(await side.settle())];
      return new Map(
        answers.map(([session, answer]) =>
          deletes.has(session) && answerOutcome(answer).startsWith('DELETE') ? [session, refused] : [session, answer],
        ),
      );
    },
  });
}

test('a deadlock with another victim is known; a deadlock on one side alone is not', () => {
  const error = (code: string) => ({ kind: 'error', code, message: '' }) as const;
  const lineOf = (...answers: [number, ReturnType<typeof error>][]) => ({
    step: null,
    outcome: '',
    answers: new Map(answers),
  });
  const schedule = { ...twoUpdates, dialect: 'mysql' as const };
  const known = (ours: TraceLine, theirs: TraceLine) =>
    knownDifference({
      schedule,
      line: 0,
      ours: { lines: [ours], refused: null },
      theirs: { lines: [theirs], refused: null },
    })?.row;
  const [first, second, other] = [lineOf([0, error('1213')]), lineOf([1, error('1213')]), lineOf([0, error('1062')])];
  expect(known(first, second)).toBe("Which of two transactions is InnoDB's victim");
  expect([known(first, first), known(first, other), known(other, second)]).toEqual([undefined, undefined, undefined]);
});

const skewByInSelect: Schedule = {
  dialect: 'postgres',
  setUp: [
    'create table t (id int primary key, v int)',
    'create table u (id int primary key, tid int)',
    'insert into t values (1, 0), (2, 0), (3, 0)',
    'insert into u values (1, 2)',
  ],
  levels: ['serializable', 'serializable'],
  steps: [
    statement(0, 'begin'),
    statement(1, 'begin'),
    statement(1, 'select v from t where id = 2'),
    statement(0, 'update t set v = 5 where id in (select tid from u)'),
    statement(1, 'update t set v = 9 where id = 3'),
    statement(0, 'commit'),
    statement(1, 'commit'),
  ],
  queries: ['select * from t order by id'],
};

test('a 40001 of moirai alone is another path only where the cycle needs the table that IN (SELECT ...) reads', async () => {
  expect((await compare(skewByInSelect, refusingNothing())).kind).toBe('equal by another plan');
  const [begin, ...others] = skewByInSelect.steps;
  const sum = statement(0, 'select sum(v) from t');
  const steps = [begin, sum, ...others].filter((step) => step !== undefined);
  const schedule = { ...skewByInSelect, steps };
  const comparison = await compare(schedule, refusingNothing());
  if (comparison.kind !== 'different') throw new Error(comparison.kind);
  expect(knownDifference({ ...comparison, schedule })).toBe(undefined);
});

test('a schedule is equal by another path when one of three runs of the server is', async () => {
  expect((await compare(skewByInSelect, failingFromRun(2))).kind).toBe('equal by another plan');
  expect((await compare(skewByInSelect, failingFromRun(1))).kind).toBe('different');
});

/** As if SERIALIZABLE were REPEATABLE READ. */
function refusingNothing(): Side {
  const side = new MoiraiSide('postgres');
  return faulty(side, {
    prepare: (schedule) => side.prepare({ ...schedule, levels: schedule.levels.map(() => 'repeatable read') }),
  });
}

/** Refuses nothing, and answers with an error to what reads the final state from this run on. */
function failingFromRun(first: number): Side {
  const side = refusingNothing();
  let run = 0;
  return {
    ...side,
    prepare: (schedule) => {
      run += 1;
      return side.prepare(schedule);
    },
    ask: async (sql) => (run < first ? side.ask(sql) : { kind: 'error', code: 'XX000', message: 'it fails' }),
  };
}

test('a 40001 of moirai alone is known where a statement looks for elements by a GIN index, not where another one does', () => {
  const failed: Answer = { kind: 'error', code: '40001', message: '' };
  const traceOf = (answer: Answer) => ({
    lines: [{ step: null, outcome: '', answers: new Map([[0, answer]]) }],
    refused: null,
  });
  const known = (sql: string, theirs: Answer) =>
    knownDifference({
      schedule: {
        ...twoUpdates,
        setUp: ['create table g (p int[]); create index on g using gin (p)'],
        steps: [statement(0, sql)],
      },
      line: 0,
      ours: traceOf(failed),
      theirs: traceOf(theirs),
    })?.row;
  const done: Answer = { kind: 'done', tag: 'COMMIT' };
  expect(known('select count(*) from g where p @> array[1]', done)).toBe('A GIN index is no way to rows');
  expect(known('select count(*) from g', done)).toBe(undefined);
  expect(known('select count(*) from other', done)).toBe(undefined);
  expect(known('select count(*) from g where p @> array[1]', { ...failed, code: '40P01' })).toBe(undefined);
});

describe('a pair of statements', () => {
  const pair = ['select sum(v) from t', 'update t set v = v + 1 where id = 1'] as const;

  test('on a server that does as moirai: every outcome is explored', async () => {
    const { differences, missed, schedules, outcomes } = await runPair(
      'postgres',
      'read committed',
      pair,
      new MoiraiSide('postgres'),
    );
    expect({ differences, missed }).toEqual({
      differences: [],
      missed: { 'index pages': [], 'access paths': [], unknown: [] },
    });
    expect(outcomes).toBeGreaterThan(1);
    expect(schedules).toBeGreaterThanOrEqual(outcomes);
  });

  test('on a server that answers otherwise: a difference, and an outcome that explore does not come to', async () => {
    const side = new MoiraiSide('postgres');
    const zero: Answer = { kind: 'done', tag: 'UPDATE 0' };
    const server = faulty(side, {
      settle: async () =>
        new Map(
          [...(await side.settle())].map(([session, answer]) =>
            answerOutcome(answer) === 'UPDATE 1' ? [session, zero] : [session, answer],
          ),
        ),
    });
    const { differences, missed, schedules } = await runPair('postgres', 'read committed', pair, server);
    expect(differences).toHaveLength(schedules);
    expect(missed.unknown.length).toBeGreaterThan(0);
    expect(missed).toMatchObject({ 'index pages': [], 'access paths': [] });
  });
});

test('known differences stand in docs/engines.md', () => {
  const docs = readFileSync(new URL('../docs/engines.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
  expect(knownDifferences.map(({ row }) => row).filter((row) => !docs.includes(row))).toEqual([]);
});
