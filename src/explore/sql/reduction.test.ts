/**
 * Leaving out schedules that only swap independent steps loses nothing: on random SQL programs all histories and outcomes of the unreduced
 * search are there. A difference is an access that an engine does not record.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SqlProgram } from '../../program/index.ts';
import { exploreSql } from './index.ts';
import { parseProfile, type Profile } from '../../database/index.ts';
import { type Dialect, everyEngineLevel } from '../../sql-program/engines.test-support.ts';
import { dangerousSessions } from '../../sql-program/dangerous-sessions.test-support.ts';
import {
  type Action,
  closeSessions,
  countSteps,
  programOf,
  randomSessions,
  type Sessions,
  smallSessions,
} from '../../sql-program/random-sql-programs.test-support.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
/** Draws programs with few schedules; MOIRAI_SEED is another run. */
const seed = Number(process.env['MOIRAI_SEED'] ?? 3);

interface Seen {
  readonly histories: readonly string[];
  readonly outcomes: readonly string[];
  readonly schedules: number;
  readonly repetitions: number;
}

interface Part {
  readonly schedulesMax?: number;
  readonly schema?: string;
  /** Only schedules that begin so. */
  readonly prefix?: readonly number[];
  readonly speaks?: 'protocol' | 'directly';
}

/** `null`: there are more schedules than that. */
async function seen(
  program: SqlProgram,
  profile: Profile,
  reduces: boolean,
  { schedulesMax = Infinity, prefix = [], speaks }: Part = {},
): Promise<Seen | null> {
  const histories = new Set<string>();
  const outcomes = new Set<string>();
  const { schedules, repetitions, complete } = await exploreSql(program, {
    profile,
    reduces,
    schedulesMax,
    prefix,
    isFunctionOfReads: speaks === 'directly',
    onSeen: (found) => {
      for (const history of found.histories) histories.add(history);
      for (const outcome of found.outcomes) outcomes.add(outcome);
    },
  });
  if (!complete) return null;
  return { histories: [...histories].toSorted(), outcomes: [...outcomes].toSorted(), schedules, repetitions };
}

async function bothWays(
  dialect: Dialect,
  isolation: string,
  sessions: Sessions,
  part: Part = {},
): Promise<{ readonly all: Seen; readonly reduced: Seen } | null> {
  const profile = parseProfile({ engine: dialect, isolation });
  const program = programOf(dialect, sessions, part);
  const all = await seen(program, profile, false, part);
  const reduced = all === null ? null : await seen(program, profile, true, { ...part, schedulesMax: Infinity });
  if (all === null || reduced === null) return null;
  expect(reduced.histories).toEqual(all.histories);
  expect(reduced.outcomes).toEqual(all.outcomes);
  return { all, reduced };
}

describe('random programs show the same with the reduction', () => {
  test.each(everyEngineLevel)('%s %s', { timeout: 6_000_000 }, async (dialect, isolation) => {
    let all = 0;
    let reduced = 0;
    await fc.assert(
      fc.asyncProperty(randomSessions(dialect), async (sessions) => {
        const both = await bothWays(dialect, isolation, sessions, { schedulesMax: isHeavy ? 200 : 30 });
        fc.pre(both !== null);
        all += both?.all.schedules ?? 0;
        reduced += both?.reduced.schedules ?? 0;
      }),
      { seed, numRuns: isHeavy ? 200 : 2 },
    );
    expect(reduced).toBeLessThanOrEqual(all);
  });
});

/**
 * Of longer ones the first decisions are drawn, and the schedules that begin so are compared: most comparisons are of some hundred schedules, and whole.
 * MOIRAI_HEAVY=1: 2,000 programs a level, in some hours; MOIRAI_PROGRAMS is another number, and MOIRAI_SEED another run.
 */
describe('small random programs show the same with the reduction', () => {
  test.each(everyEngineLevel)('%s %s', { timeout: 100_000_000 }, async (dialect, isolation) => {
    const sessionsOf = fc.oneof(smallSessions(dialect), closeSessions(dialect));
    const counts = await compareBegun(dialect, isolation, sessionsOf, 6);
    expect(counts.reduced).toBeLessThan(counts.schedules);
    expect(counts.histories).toBeGreaterThan(counts.programs);
  });
});

describe('transactions with rw-conflicts in a row show the same with the reduction', () => {
  test.each(everyEngineLevel)('%s %s', { timeout: 100_000_000 }, async (dialect, isolation) => {
    const counts = await compareBegun(dialect, isolation, dangerousSessions(dialect), 6);
    expect(counts.reduced).toBeLessThan(counts.schedules);
    expect(counts.histories).toBeGreaterThan(counts.programs);
  });
});

async function compareBegun(
  dialect: Dialect,
  isolation: string,
  sessionsOf: fc.Arbitrary<Sessions>,
  programsAlways: number,
) {
  /** Of two sessions, and of three: 252 and 560 schedules, where none waits. */
  const openSteps = isHeavy ? [10, 8] : [6, 6];
  const schedulesMax = 3_000;
  const programs = Number(process.env['MOIRAI_PROGRAMS'] ?? (isHeavy ? 2_000 : programsAlways));
  const counts = { programs: 0, begun: 0, schedules: 0, reduced: 0, repetitions: 0, histories: 0 };
  const decisions = fc.array(fc.nat(2), { minLength: 20, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(sessionsOf, decisions, async (sessions, drawn) => {
      const steps = countSteps(sessions, dialect === 'postgres' && isolation === 'serializable');
      const length = steps.reduce((sum, each) => sum + each, -(openSteps[sessions.length - 2] ?? 0));
      const prefix = drawn.slice(0, Math.max(0, length));
      const both = await bothWays(dialect, isolation, sessions, { prefix, schedulesMax, speaks: 'directly' });
      fc.pre(both !== null);
      counts.programs += 1;
      counts.begun += Number(prefix.length > 0);
      counts.schedules += both?.all.schedules ?? 0;
      counts.reduced += both?.reduced.schedules ?? 0;
      counts.repetitions += both?.reduced.repetitions ?? 0;
      counts.histories += both?.reduced.histories.length ?? 0;
    }),
    { seed, numRuns: programs },
  );
  if (isHeavy) process.stdout.write(`${dialect} ${isolation}: ${JSON.stringify(counts)}\n`);
  return counts;
}

describe('programs that a reduction gets wrong when a step meets less than it could have', () => {
  const session = (...statements: string[]) => statements.map((sql) => ({ kind: 'sql' as const, sql }));
  const update = 'UPDATE t SET n = n * 2 WHERE id = 2';

  // While it waits the second update meets no snapshot; where it does not wait, it commits at once.
  const waitsOrCommits = [
    session(update),
    session('BEGIN', 'SELECT n FROM t WHERE id = 1', update, 'COMMIT'),
    session('SELECT sum(n) FROM t'),
  ];
  // The second share is taken after the first, while somebody waits for both.
  const share = ['BEGIN', 'SELECT n FROM t WHERE id = 1 FOR SHARE', 'COMMIT'];
  const sharesAndWaits = [session(...share), session(...share), session('UPDATE t SET n = 0 WHERE id = 1')];

  test.each(everyEngineLevel)('%s %s', { timeout: 120_000 }, async (dialect, isolation) => {
    // The unreduced search of both whole programs takes seconds: one level of each engine does it, the others the two sessions that wait or commit.
    const isWhole = dialect === 'postgres' ? isolation === 'read committed' : isolation === 'repeatable read';
    for (const sessions of isWhole || isHeavy ? [waitsOrCommits, sharesAndWaits] : [waitsOrCommits.slice(0, 2)]) {
      const both = await bothWays(dialect, isolation, sessions);
      expect(both?.all.schedules).toBeGreaterThan(1);
    }
  });
});

describe('InnoDB: aggregates and unions that lock conflict with what they have read', () => {
  const isolation = 'repeatable read';
  const session = (...statements: string[]) => statements.map((sql) => ({ kind: 'sql' as const, sql }));
  const read = (query: string) => session('BEGIN', query, 'UPDATE t SET n = 70 WHERE id = 1', 'COMMIT');

  test.each([
    'SELECT max(id) + 1 FROM t FOR UPDATE',
    'SELECT count(*) FROM t WHERE id > 1 FOR UPDATE',
    'SELECT DISTINCT n FROM t LOCK IN SHARE MODE',
    'SELECT n, count(*) FROM t GROUP BY n FOR UPDATE',
    'SELECT v FROM w WHERE id = 1 UNION SELECT n FROM t WHERE id = 2 FOR UPDATE',
  ])('%s', async (query) => {
    const sessions = [
      read(query),
      session('BEGIN', 'UPDATE t SET n = n + 1 WHERE id = 2', 'INSERT INTO t VALUES (9, 9, 9, 9)', 'COMMIT'),
    ];
    const both = await bothWays('mysql', isolation, sessions);
    expect(both?.reduced.histories.length).toBeGreaterThan(1);
  });
});

describe('InnoDB: a record of a secondary index that is locked without its row conflicts with commits of the row', () => {
  const session = (statement: string) => [{ kind: 'sql' as const, sql: statement }];
  const schema = [
    'CREATE TABLE p (id int PRIMARY KEY, k int, u int UNIQUE, n int)',
    'CREATE INDEX p_k ON p (k)',
    'INSERT INTO p VALUES (1, 1, 1, 10), (2, 1, 2, 20)',
    'CREATE TABLE c (id int PRIMARY KEY, u int, FOREIGN KEY (u) REFERENCES p (u))',
  ].join(';');

  test.each([
    'SELECT id FROM p WHERE k = 1 FOR SHARE',
    'SELECT id FROM p WHERE k = 1 LOCK IN SHARE MODE',
    'SELECT count(*) FROM p WHERE k = 1 LOCK IN SHARE MODE',
    'SELECT id FROM p WHERE k < 2 ORDER BY k DESC LOCK IN SHARE MODE',
    'INSERT INTO c VALUES (1, 2)',
    'INSERT INTO p VALUES (9, 9, 2, 0)',
  ])('%s', async (statement) => {
    const sessions = [session('UPDATE p SET n = n * 2 WHERE id = 2'), session(statement)];
    const both = await bothWays('mysql', 'repeatable read', sessions, { schema });
    expect(both?.reduced.histories).toHaveLength(2);
  });
});

test('InnoDB: the victim of a deadlock is rolled back before any other session goes on, so what closes the cycle conflicts with all', async () => {
  const session = (...statements: string[]) => statements.map((sql) => ({ kind: 'sql' as const, sql }));
  const sessions = [
    session('UPDATE w SET id = 3 WHERE id = 2'),
    session('BEGIN', 'INSERT INTO w SELECT 3, sum(v) FROM w', 'UPDATE w SET v = 300 - v WHERE v > 150', 'COMMIT'),
    session('SELECT id, v FROM w ORDER BY id'),
  ];
  const both = await bothWays('mysql', 'read uncommitted', sessions);
  expect(both?.all).toMatchObject({ schedules: 64 });
});

test('InnoDB: the rows that a condition did not find come in one order, whichever was written first', async () => {
  const session = (...statements: string[]) => statements.map((sql) => ({ kind: 'sql' as const, sql }));
  const sessions = [
    session('BEGIN', 'INSERT INTO t VALUES (3, 30, 1, 9)', 'SELECT id FROM t WHERE n > 15 ORDER BY id', 'COMMIT'),
    session('SELECT sum(n) FROM t'),
    session('INSERT INTO t VALUES (4, 40, 2, 7)'),
  ];
  const both = await bothWays('mysql', 'read uncommitted', sessions);
  expect(both?.all.histories).toHaveLength(7);
});

test('InnoDB: what a statement did not find does not depend on the commit of a transaction that has nothing to do with it', async () => {
  const session = (...statements: string[]) => statements.map((sql) => ({ kind: 'sql' as const, sql }));
  const sessions = [
    session('BEGIN', 'SELECT v FROM w WHERE id = 0', 'UPDATE w SET v = 4 WHERE id = 0', 'COMMIT'),
    session('INSERT INTO w VALUES (0, 1)'),
    session('UPDATE t SET n = 0 WHERE id = 1'),
  ];
  const both = await bothWays('mysql', 'repeatable read', sessions);
  expect(both?.all.histories).toHaveLength(3);
});

describe('PostgreSQL: a history does not say when another transaction wrote what is not committed', () => {
  const session = (...statements: string[]) => statements.map((sql) => ({ kind: 'sql' as const, sql }));
  const locking = (write: string) => session('BEGIN', 'SELECT n FROM t WHERE id = 1 FOR UPDATE', write, 'COMMIT');

  test.each([
    [
      'a row that SKIP LOCKED skips',
      [locking('DELETE FROM t WHERE id = 1'), session('SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED')],
    ],
    [
      'a row that a statement locks after it has waited for another',
      [locking('UPDATE t SET k = 3 WHERE id = 2'), session('SELECT id FROM t WHERE k = 1 ORDER BY id FOR SHARE')],
    ],
  ])('%s', async (_, sessions) => {
    const both = await bothWays('postgres', 'read committed', sessions);
    expect(both?.all.histories).toHaveLength(3);
  });
});

describe('PostgreSQL: what a serializable transaction is refused for depends on the order', () => {
  const session = (...statements: string[]) => statements.map((sql) => ({ kind: 'sql' as const, sql }));
  const holding = (write: string) => session('BEGIN', write, 'ROLLBACK');
  const waiting = (write: string) =>
    session('BEGIN', 'SELECT v FROM w WHERE id = 1', 'UPDATE w SET v = 1 WHERE id = 2', write, 'COMMIT');
  const dooming = session('BEGIN', 'SELECT v FROM w WHERE id = 2', 'UPDATE w SET v = 5 WHERE id = 1', 'COMMIT');
  const [entersKey, changesRow] = ['INSERT INTO t VALUES (9, 9, 9, 9)', 'UPDATE t SET n = 1 WHERE id = 1'];
  const changed = session('UPDATE w SET v = v + 1 WHERE id = 1');
  const pivot = session('BEGIN', 'SELECT v FROM w WHERE id = 1', 'UPDATE t SET n = n + 1 WHERE id = 1', 'COMMIT');
  const skewed = (read: number, write: number) =>
    session('BEGIN', `SELECT n FROM t WHERE id = ${read}`, `UPDATE t SET n = n + 1 WHERE id = ${write}`, 'COMMIT');

  const writer = session('BEGIN', 'SELECT n FROM t WHERE id = 2', 'UPDATE t SET n = 7 WHERE id = 2', 'COMMIT');
  const inserting = session(
    'BEGIN',
    'UPDATE w SET v = 3 WHERE id = 1',
    'SELECT n FROM t WHERE id = 2',
    'INSERT INTO h VALUES (1)',
    'COMMIT',
  );
  const readingOnly = session('BEGIN', 'SELECT count(*) AS n FROM h', 'ROLLBACK');

  const count = (rows: string): string => `SELECT count(*) AS n FROM ${rows}`;
  const counting = session('BEGIN', count('t WHERE k = 2'), 'INSERT INTO h VALUES (1)', 'COMMIT');
  const insertingKey = session('BEGIN', count('h'), 'INSERT INTO t VALUES (4, 40, 2, 7)', 'COMMIT');
  const entering = 'UPDATE t SET k = k + 1 WHERE id = 1';

  // The unreduced search of whole programs takes minutes: what comes before is one order.
  test.each([
    [
      'a key is waited for while another dooms the transaction',
      [holding(entersKey), waiting(entersKey), dooming],
      [0, 0, 1, 1, 1, 1],
    ],
    ['a row is waited for', [holding(changesRow), waiting(changesRow), dooming], [0, 0, 1, 1, 1, 1]],
    ['one only reads', [changed, pivot, session('SELECT n FROM t WHERE id = 1')], [1, 1, 1]],
    ['a cycle of three', [skewed(1, 2), skewed(2, 5), skewed(5, 1)], [0, 1, 2, 0, 1, 2]],
    [
      'what a transaction has read that is rolled back is not remembered',
      [writer, inserting, readingOnly],
      [0, 0, 1, 1, 1, 0, 0],
    ],
    [
      'a commit looks at two readers in the order in which they have come across its write',
      [counting, insertingKey, session('BEGIN', count('h'), entering, count('t WHERE k = 2'), 'COMMIT')],
      [0, 2, 1, 1, 2, 1, 2],
    ],
    [
      'a predicate is read that an insertion satisfies',
      [
        session('BEGIN', 'SELECT count(*) FROM t WHERE k = 2', 'INSERT INTO t VALUES (3, 1, 2, 8)', 'COMMIT'),
        session('BEGIN', 'SELECT count(*) FROM t WHERE k = 2', 'INSERT INTO t VALUES (4, 1, 2, 9)', 'COMMIT'),
        session('SELECT count(*) FROM t'),
      ],
      [0, 1, 0, 1],
    ],
  ] as const)('%s', { timeout: 120_000 }, async (_, sessions, prefix) => {
    const both = await bothWays('postgres', 'serializable', sessions, { prefix });
    expect(both?.reduced.outcomes.length).toBeGreaterThan(1);
  });
});

test('PostgreSQL: the read-only anomaly, as docs/explore.md counts its schedules', { timeout: 120_000 }, async () => {
  const session = (...statements: string[]) => statements.map((sql) => ({ kind: 'sql' as const, sql }));
  const [x, y] = ['SELECT v FROM w WHERE id = 1', 'SELECT v FROM w WHERE id = 2'];
  const sessions = [
    session('BEGIN', y, 'UPDATE w SET v = 20 WHERE id = 2', 'COMMIT'),
    session('BEGIN', x, y, 'UPDATE w SET v = -11 WHERE id = 1', 'COMMIT'),
    session('BEGIN', x, y, 'COMMIT'),
  ];
  const profile = parseProfile({ engine: 'postgres', isolation: 'serializable' });
  const found = await seen(programOf('postgres', sessions), profile, true);
  expect(found).toMatchObject({ schedules: 106, repetitions: 678 });
  expect(found?.histories).toHaveLength(11);
});

test('InnoDB: of two that share a row the one that asked first is on the way of a deadlock search', async () => {
  const session = (...statements: string[]) => statements.map((sql) => ({ kind: 'sql' as const, sql }));
  const locks = (id: number): string => `SELECT v FROM w WHERE id = ${id} FOR UPDATE`;
  const shares = session('SELECT id FROM w WHERE id <= 2 ORDER BY id DESC FOR SHARE');
  const sessions = [session('BEGIN', locks(1), locks(2), 'COMMIT'), shares, shares];
  const both = await bothWays('mysql', 'repeatable read', sessions);
  expect(both?.all.outcomes).toHaveLength(7);
});

describe('two sessions read what neither writes, look into a table and insert into it, each statement by itself', () => {
  const key: Readonly<Record<Dialect, string>> = {
    postgres: 'serial PRIMARY KEY',
    mysql: 'int AUTO_INCREMENT PRIMARY KEY',
  };
  const schemaFor = (dialect: Dialect): string =>
    `CREATE TABLE t (id ${key[dialect]}, n int); CREATE TABLE u (id int PRIMARY KEY); INSERT INTO u VALUES (1)`;
  const session = (reads: number): readonly Action[] =>
    [...Array<string>(reads).fill('SELECT * FROM u'), 'SELECT * FROM t', 'INSERT INTO t (n) VALUES (1)'].map((sql) => ({
      kind: 'sql',
      sql,
    }));

  const explored = (dialect: Dialect, isolation: string, reads: number, reduces: boolean): Promise<Seen | null> => {
    const program = programOf(dialect, [session(reads), session(reads)], { schema: schemaFor(dialect) });
    return seen(program, parseProfile({ engine: dialect, isolation }), reduces);
  };

  test.each(everyEngineLevel)('%s %s: as many schedules as histories', async (dialect, isolation) => {
    for (const reads of [0, 1, 2, 3]) {
      const reduced = await explored(dialect, isolation, reads, true);
      expect(reduced).toMatchObject({ schedules: 4, repetitions: 0 });
      expect(reduced?.histories).toHaveLength(4);
      expect(reduced?.outcomes).toHaveLength(3);
    }
    // Without the reduction one more read at serializable makes tens of thousands of schedules.
    const [all, reduced] = [await explored(dialect, isolation, 0, false), await explored(dialect, isolation, 0, true)];
    expect([reduced?.histories, reduced?.outcomes]).toEqual([all?.histories, all?.outcomes]);
  });
});

describe('three sessions of four statements, as docs/explore.md counts their schedules', () => {
  const sessions = (...ids: readonly number[]): Sessions =>
    ids.map((id) =>
      [
        'BEGIN',
        `SELECT n FROM t WHERE id = ${id}`,
        `UPDATE t SET n = n + 1 WHERE id = ${id}`,
        `SELECT n FROM t WHERE id = ${id} FOR UPDATE`,
        'COMMIT',
      ].map((sql) => ({ kind: 'sql' as const, sql })),
    );

  // Of 12! / (4!)^3 = 34,650 schedules.
  test.each(everyEngineLevel)('each on its row, %s %s: one', async (dialect, isolation) => {
    const found = await seen(programOf(dialect, sessions(1, 2, 5)), parseProfile({ engine: dialect, isolation }), true);
    expect(found).toMatchObject({ schedules: 1, repetitions: 0 });
    expect(found?.histories).toHaveLength(1);
  });

  const onOneRow = [
    ['postgres', 210],
    ['mysql', 108],
  ] as const;
  test.each(onOneRow.slice(isHeavy ? 0 : 1))('all on one row, %s at read committed: %i', async (dialect, schedules) => {
    const profile = parseProfile({ engine: dialect, isolation: 'read committed' });
    expect(await seen(programOf(dialect, sessions(1, 1, 1)), profile, true)).toMatchObject({ schedules });
  });
});
