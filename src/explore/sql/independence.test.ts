/**
 * What the reduction takes for granted: two neighbours that are called independent (`happens-before.ts`) can be taken in the other order, and then all comes
 * to the same. By that definition, on random small programs: of every schedule each pair of such neighbours is looked up in the other order.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseProfile } from '../../database/index.ts';
import { everyEngineLevel } from '../../sql-program/engines.test-support.ts';
import { dangerousSessions } from '../../sql-program/dangerous-sessions.test-support.ts';
import {
  closeSessions,
  countSteps,
  programOf,
  type Sessions,
  smallSessions,
} from '../../sql-program/random-sql-programs.test-support.ts';
import { everySchedule, keyOf, type WalkedSchedule } from './every-schedule.test-support.ts';
import { areDependent, type Step } from './happens-before.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

interface Compared {
  readonly pairs: number;
  /** That do not commute. */
  readonly wrong: readonly string[];
}

/** @param from the first steps are the same in all */
function compareNeighbours(schedules: ReadonlyMap<string, WalkedSchedule>, from = 0): Compared {
  let pairs = 0;
  const wrong: string[] = [];
  for (const schedule of schedules.values())
    for (const [at, first] of schedule.steps.entries()) {
      if (at < from) continue;
      const second = schedule.steps[at + 1];
      // What is urgent belongs to the step before it.
      if (second === undefined || areDependent(first, second) || schedule.isUrgent[at] === true) continue;
      pairs += 1;
      const difference = differenceOf(schedule, schedules.get(otherOrder(schedule.steps, at)), at);
      if (difference !== null) wrong.push(textOf(schedule, at, difference));
    }
  return { pairs, wrong };
}

function otherOrder(steps: readonly Step[], at: number): string {
  const processes = steps.map(({ process }) => process);
  return keyOf([...processes.slice(0, at), ...processes.slice(at, at + 2).toReversed(), ...processes.slice(at + 2)]);
}

/** `null`: the two schedules come to the same. */
function differenceOf(schedule: WalkedSchedule, other: WalkedSchedule | undefined, at: number): string | null {
  if (other === undefined) return 'the other order cannot be taken, or what comes after it cannot';
  if (other.outcome !== schedule.outcome) return 'the outcome is another';
  if (other.history !== schedule.history) return 'the history is another';
  const [first, second] = schedule.steps.slice(at, at + 2);
  const [before, after] = other.steps.slice(at, at + 2);
  return first?.waits === after?.waits && second?.waits === before?.waits ? null : 'other steps wait';
}

function textOf({ steps }: WalkedSchedule, at: number, difference: string): string {
  const pair = steps.slice(at, at + 2).map(({ process, footprint }) => `${process}: ${footprint.toString()}`);
  return [`${keyOf(steps.map(({ process }) => process))}, steps ${at} and ${at + 1}: ${difference}`, ...pair].join(
    '\n',
  );
}

/** In how many orders can so many steps be taken, where none waits? */
function countOrders(steps: readonly number[]): number {
  let [orders, taken] = [1, 0];
  for (const each of steps)
    for (let step = 1; step <= each; step += 1) {
      taken += 1;
      orders = (orders * taken) / step;
    }
  return orders;
}

describe('independent neighbours commute', () => {
  test.each(everyEngineLevel)('%s %s', { timeout: 100_000_000 }, async (dialect, isolation) => {
    const profile = parseProfile({ engine: dialect, isolation });
    const schedulesMax = isHeavy ? 300 : 40;
    let pairs = 0;
    const isSmall = (steps: readonly number[]): boolean => countOrders(steps) <= schedulesMax;
    const sessionsOf = fc
      .oneof(smallSessions(dialect), closeSessions(dialect))
      .filter((sessions) => isSmall(countSteps(sessions, dialect === 'postgres' && isolation === 'serializable')));
    await fc.assert(
      fc.asyncProperty(sessionsOf, async (sessions) => {
        const schedules = await everySchedule(
          programOf(dialect, sessions, { speaks: 'directly' }),
          profile,
          2 * schedulesMax,
        );
        fc.pre(schedules !== null);
        const compared = compareNeighbours(schedules ?? new Map());
        pairs += compared.pairs;
        expect(compared.wrong).toEqual([]);
      }),
      { numRuns: isHeavy ? 400 : 6 },
    );
    expect(pairs).toBeGreaterThan(0);
  });
});

/** How many steps do all begin with? */
function sharedSteps(schedules: ReadonlyMap<string, WalkedSchedule>): number {
  const all = [...schedules.values()].map(({ steps }) => steps);
  const [first = []] = all;
  const differs = first.findIndex(({ process }, at) => all.some((steps) => steps[at]?.process !== process));
  return differs < 0 ? first.length : differs;
}

describe('independent neighbours of transactions with rw-conflicts in a row commute', () => {
  test.each(everyEngineLevel)('%s %s', { timeout: 100_000_000 }, async (dialect, isolation) => {
    const profile = parseProfile({ engine: dialect, isolation });
    let pairs = 0;
    const decisions = fc.array(fc.nat(2), { minLength: 20, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(dangerousSessions(dialect), decisions, async (sessions, drawn) => {
        const steps = countSteps(sessions, dialect === 'postgres' && isolation === 'serializable');
        const prefix = drawn.slice(
          0,
          Math.max(
            0,
            steps.reduce((sum, each) => sum + each, isHeavy ? -6 : -5),
          ),
        );
        const program = programOf(dialect, sessions, { speaks: 'directly' });
        const schedules = await everySchedule(program, profile, 400, prefix);
        fc.pre(schedules !== null);
        const compared = compareNeighbours(schedules ?? new Map(), sharedSteps(schedules ?? new Map()));
        pairs += compared.pairs;
        expect(compared.wrong).toEqual([]);
      }),
      { numRuns: isHeavy ? 1_000 : 6 },
    );
    expect(pairs).toBeGreaterThan(0);
  });
});

test('PostgreSQL: a commit looks at two readers in the order in which they have come across its write', async () => {
  const session = (...statements: string[]) => statements.map((sql) => ({ kind: 'sql' as const, sql }));
  const count = (rows: string): string => `SELECT count(*) AS n FROM ${rows}`;
  const sessions = [
    session('BEGIN', count('t WHERE k = 2'), 'INSERT INTO h VALUES (1)', 'COMMIT'),
    session('BEGIN', count('h'), 'INSERT INTO t VALUES (4, 40, 2, 7)', 'COMMIT'),
    session('BEGIN', count('h'), 'UPDATE t SET k = k + 1 WHERE id = 1', count('t WHERE k = 2'), 'COMMIT'),
  ];
  const profile = parseProfile({ engine: 'postgres', isolation: 'serializable' });
  const program = programOf('postgres', sessions, { speaks: 'directly' });
  const schedules = await everySchedule(program, profile, 100, [0, 2, 1, 1, 2, 1, 2]);
  const { pairs, wrong } = compareNeighbours(schedules ?? new Map(), 7);
  expect(pairs).toBeGreaterThan(0);
  expect(wrong).toEqual([]);
});

describe('InnoDB: neighbours that decide together which transactions a deadlock may roll back', () => {
  const session = (...statements: string[]) => statements.map((sql) => ({ kind: 'sql' as const, sql }));
  const locks = (id: number): string => `SELECT v FROM w WHERE id = ${id} FOR UPDATE`;
  const shares = session('SELECT id FROM w WHERE id <= 2 ORDER BY id DESC FOR SHARE');
  const doubles = 'UPDATE w SET v = v * 2 WHERE id = 2';
  const programs: readonly (readonly [string, string, Sessions])[] = [
    [
      'two share what a third waits for',
      'repeatable read',
      [session('BEGIN', locks(1), locks(2), 'COMMIT'), shares, shares],
    ],
    [
      'a row is added where another session has locked one',
      'read committed',
      [
        session('BEGIN', locks(1), locks(2), 'COMMIT'),
        session('BEGIN', doubles, locks(1), 'COMMIT'),
        session('INSERT INTO w VALUES (9, 9)'),
      ],
    ],
    [
      'a written row is passed over',
      'read committed',
      [
        session('BEGIN', 'INSERT INTO w VALUES (9, 9)', 'UPDATE w SET v = v + 1 WHERE id = 2', 'COMMIT'),
        session('BEGIN', doubles, 'SELECT v FROM w WHERE id = 9 FOR SHARE', 'COMMIT'),
        session('SELECT v FROM w WHERE id = 9 FOR UPDATE SKIP LOCKED'),
      ],
    ],
  ];

  test.each(programs)('%s', async (_, isolation, sessions) => {
    const profile = parseProfile({ engine: 'mysql', isolation });
    const schedules = await everySchedule(programOf('mysql', sessions, { speaks: 'directly' }), profile, 1_000);
    const { pairs, wrong } = compareNeighbours(schedules ?? new Map());
    expect(pairs).toBeGreaterThan(0);
    expect(wrong).toEqual([]);
  });
});
