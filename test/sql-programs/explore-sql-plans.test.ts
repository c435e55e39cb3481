/** Every combination of access paths: each is what the engine does where the schema leaves no other path. */
import { type SqlFailure } from '../../src/sql-program/sql-failure.ts';
import { deserialize, serialize } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { sealToken, type SqlConnection, type SqlProgram, sqlProgram } from '../../src/program/index.ts';
import { type Profile, parseProfile, type Ways } from '../../src/database/index.ts';
import { type Dialect, onMysql, onPostgres } from '../../src/sql-program/engines.test-support.ts';
import { type ExplorePlansOptions, exploreSqlPlans } from '../../src/explore/sql/explore-sql-plans.ts';
import type { SharedSqlOptions } from '../../src/explore/sql/explore-sql-shared.ts';
import { exploreSql } from '../../src/explore/sql/explore-sql.ts';
import type { ExploreSqlOptions } from '../../src/explore/sql/explore-sql-options.ts';
import type { ExploreSqlResult } from '../../src/explore/sql/explore-sql-result.ts';
import { formatSqlExploration } from '../../src/explore/sql/explore-sql-text.ts';
import { conclusionOf } from '../../src/sql-program/run-evidence.ts';
import { shapeOfSql } from '../../src/sql-program/run-steps.ts';
import { type PlansCheckpoint, requireAlone } from '../../src/explore/sql/sql-checkpoint.ts';
import { runSqlCampaign } from '../../src/campaign/sql/sql-campaign.ts';
import { formatSqlFailure } from '../../src/campaign/sql/sql-text.ts';

const table = `CREATE TABLE jobs (id int PRIMARY KEY, owner int, kind int, n int);
  INSERT INTO jobs VALUES (1, 10, 100, 0), (2, 20, 200, 0), (3, 30, 300, 0);`;
const indexes = {
  owner: 'CREATE INDEX jobs_owner ON jobs (owner);',
  kind: 'CREATE INDEX jobs_kind ON jobs (kind);',
} as const;

/** One statement can be answered by the index on owner, the other by that on kind. */
const byOwner = 'UPDATE jobs SET n = n + 1 WHERE owner = 10';
const byKind = 'UPDATE jobs SET n = n + 10 WHERE kind = 300';

function crossing(dialect: Dialect, withIndexes: readonly IndexName[]): SqlProgram {
  return sqlProgram({
    dialect,
    schema: table + withIndexes.map((name) => indexes[name]).join(''),
    sessions: {
      a: (c) => runAll(dialect, c, ['BEGIN', byOwner, byKind, 'COMMIT']),
      b: (c) => runAll(dialect, c, ['BEGIN', byKind, byOwner, 'COMMIT']),
    },
    invariant: ({ results }) =>
      Object.values(results)
        .flat()
        .every((code) => code === 'ok') || 'an error',
  });
}

/** The codes of their errors; no more after the first. */
async function runAll(dialect: Dialect, connection: SqlConnection, texts: readonly string[]) {
  const ends: string[] = [];
  const run = async (send: (sql: string) => Promise<unknown>): Promise<string[]> => {
    for (const sql of texts) {
      const end = await send(sql).then(
        () => 'ok',
        (error: { readonly code?: string }) => error.code ?? 'error',
      );
      ends.push(end);
      if (end !== 'ok') break;
    }
    if (ends.at(-1) !== 'ok') await send('ROLLBACK');
    return ends;
  };
  return dialect === 'mysql'
    ? onMysql(connection, (client) => run((sql) => client.query(sql)))
    : onPostgres(connection, (client) => run((sql) => client.query(sql)));
}

type IndexName = keyof typeof indexes;

/** Those that a combination takes. */
function indexesOf({ accesses }: ExploreSqlResult): readonly IndexName[] {
  return (['owner', 'kind'] as const).filter((name) => accesses.some(({ taken }) => taken === `by index jobs_${name}`));
}

interface Explored {
  readonly result: ExploreSqlResult;
  readonly outcomes: readonly string[];
}

async function exploreWith(program: SqlProgram, options: ExploreSqlOptions): Promise<Explored> {
  const outcomes = new Set<string>();
  const result = await exploreSql(program, {
    ...options,
    onSeen: (seen) => {
      options.onSeen?.(seen);
      for (const outcome of seen.outcomes) outcomes.add(outcome);
    },
  });
  return { result, outcomes: [...outcomes].toSorted() };
}

async function exploreAll(program: SqlProgram, profile: Profile, plansMax = 64) {
  const combinations: (Explored & { readonly ways: Ways })[] = [];
  const all = await exploreSqlPlans(program, { profile, plansMax }, async ({ resume: _resume, ...options }) => {
    const explored = await exploreWith(program, options);
    combinations.push({ ...explored, ways: options.ways ?? {} });
    return explored.result;
  });
  return { all, combinations };
}

describe('each combination shows what the schema shows that has only the indexes it takes', () => {
  test.each([
    ['mysql', 'read committed'],
    ['mysql', 'repeatable read'],
    ['mysql', 'serializable'],
    ['postgres', 'serializable'],
  ] as const)('%s, %s', { timeout: 120_000 }, async (engine, isolation) => {
    const profile = parseProfile({ engine, isolation });
    const { all, combinations } = await exploreAll(crossing(engine, ['owner', 'kind']), profile);
    expect(all.plans).toBe(4);
    const taken = combinations.map(({ result }) => indexesOf(result).join());
    expect(new Set(taken)).toEqual(new Set(['', 'kind', 'owner', 'owner,kind']));
    for (const { result, outcomes } of combinations) {
      const by = indexesOf(result);
      const forced = await exploreWith(crossing(engine, by), { profile });
      expect({ by, outcomes }).toEqual({ by, outcomes: forced.outcomes });
    }
    expect(all.outcomes).toBe(new Set(combinations.flatMap(({ outcomes }) => outcomes)).size);
    expect(all.schedules).toBe(combinations.reduce((sum, { result }) => sum + result.schedules, 0));
  });
});

/** Two sessions that read and write rows of their own: by an index they have nothing in common, and each reads the whole table without it. */
const apart = sqlProgram({
  dialect: 'postgres',
  schema: table + indexes.owner,
  sessions: { a: (c) => increment(c, 10), b: (c) => increment(c, 30) },
  invariant: () => true,
});

function increment(connection: SqlConnection, owner: number): Promise<void> {
  return onPostgres(connection, async (client) => {
    await client.query('BEGIN');
    await client.query('SELECT n FROM jobs WHERE owner = $1', [owner]);
    await client.query('UPDATE jobs SET n = n + 1 WHERE owner = $1', [owner]);
    await client.query('COMMIT');
  });
}

const looksAtNothing = 'the invariant looks at neither the final state nor what sessions return';
const serializable = parseProfile({ engine: 'postgres', isolation: 'serializable' });
const refusals = expect.stringContaining('40001 no more often than moirai') as unknown;

describe('a program that holds by an index and fails when its table is read as a whole', { timeout: 60_000 }, () => {
  test('is violated; its failing run says by which path, and its token replays it', async () => {
    const likely = await exploreSql(apart, { profile: serializable });
    expect(conclusionOf(likely)).toMatchObject({
      kind: 'satisfied',
      assumed: [expect.stringContaining('jobs_owner'), refusals, looksAtNothing],
    });
    const { all } = await exploreAll(apart, serializable);
    expect(all).toMatchObject({ plans: 4, complete: true, invariantBroken: 0 });
    expect(conclusionOf(all)).toEqual({ kind: 'violated' });
    const [failure] = all.failures;
    expect(failure?.plan).toEqual(['jobs read as a whole by: SELECT n FROM jobs WHERE owner = $1']);
    expect(formatSqlExploration(all)).toContain(
      '\n\nwith jobs read as a whole by: SELECT n FROM jobs WHERE owner = $1\n\n',
    );
    const replay = failure?.replay ?? '';
    const again = await exploreSql(apart, { profile: serializable, replay });
    expect(again).toMatchObject({ replayed: { kind: 'same-steps' }, failures: [{ ...failure, schedules: 1 }] });
    // `moirai test` replays the same tokens.
    const tested = await runSqlCampaign(apart, { profile: serializable, replay });
    expect(tested).toMatchObject({ replayed: { kind: 'same-steps' } });
    expect(tested.failure).toMatchObject({ message: failure?.message, plan: failure?.plan, replay });
    expect(formatSqlFailure(tested, tested.failure as SqlFailure)).toContain(
      '\nwith jobs read as a whole by: SELECT n',
    );
  });

  test('without the paths of its token, the same choices take other steps', async () => {
    const { all } = await exploreAll(apart, serializable);
    const replay = all.failures[0]?.replay.replace(/\+.*\.(.*)-.*/, '.$1');
    const again = await exploreSql(apart, { profile: serializable, replay: replay ?? '' });
    expect(again).toMatchObject({ replayed: { kind: 'other-steps' }, violations: 0 });
  });

  test.each(['+abc', '+abcdef', '+abcdef0', '+ABCDEF1'])('%s is no path of a token', async (paths) => {
    const replay = sealToken(`2.1${paths}`, { shape: shapeOfSql(apart, serializable), steps: [] });
    await expect(exploreSql(apart, { profile: serializable, replay })).rejects.toMatchObject({ code: 'replay/token' });
  });
});

/** Each session reads one row, and the other's changes are no matter. */
const readers = sqlProgram({
  dialect: 'postgres',
  schema: table + indexes.owner,
  sessions: { a: read, b: read },
  invariant: () => true,
});

function read(connection: SqlConnection): Promise<unknown> {
  return onPostgres(connection, (client) => client.query('SELECT n FROM jobs WHERE owner = 10'));
}

test('what holds by all paths assumes none of them', async () => {
  const { all } = await exploreAll(readers, serializable);
  expect(conclusionOf(all)).toEqual({ kind: 'satisfied', assumed: [refusals, looksAtNothing] });
  const [first] = formatSqlExploration(all, { width: 1_000 }).split('\n');
  expect(first).toBe(
    `all ${all.schedules} schedules satisfy the invariant on PostgreSQL, serializable: whatever the timing of statements and whichever of 2 combinations of access paths the server takes, this program holds`,
  );
});

test('of more combinations than plansMax the answer is unknown', async () => {
  const { all } = await exploreAll(readers, serializable, 1);
  expect(all).toMatchObject({ plans: 1, stopped: 'plans', complete: false });
  expect(conclusionOf(all)).toMatchObject({ kind: 'unknown' });
  const text = formatSqlExploration(all, { width: 1_000 });
  expect(text).toContain('there are more (stopped after so many combinations of access paths)\n');
  expect(text).toContain('\nand 1 of at most 2 combinations of access paths were explored\n');
});

test('stopped after every few schedules, it continues from its checkpoint to what one without stops finds', async () => {
  const program = crossing('mysql', ['owner', 'kind']);
  const profile = parseProfile({ engine: 'mysql', isolation: 'repeatable read' });
  const explore = ({ resume, ...options }: SharedSqlOptions): Promise<ExploreSqlResult> =>
    exploreSql(program, { ...options, ...(resume === undefined ? {} : { resume: requireAlone(resume) }) });
  const whole = await exploreSqlPlans(program, { profile }, explore);
  let saved: PlansCheckpoint | null = null;
  const onCheckpoint = (made: PlansCheckpoint): void => void (saved = deserialize(serialize(made)) as PlansCheckpoint);
  let stops = 0;
  for (let schedulesMax = 8; ; schedulesMax += 8) {
    const resume: PlansCheckpoint | null = saved;
    const options = { profile, schedulesMax, onCheckpoint, ...(resume === null ? {} : { resume }) };
    const result = await exploreSqlPlans(program, options, explore);
    if (result.complete) {
      expect(result).toEqual(whole);
      break;
    }
    stops += 1;
  }
  expect(stops).toBeGreaterThan(1);
  expect(saved).toMatchObject({ kind: 'plans', isComplete: true, current: null });
});

test('other budgets end it too', async () => {
  const explore = async (limits: Partial<ExplorePlansOptions>): Promise<ExploreSqlResult> =>
    exploreSqlPlans(readers, { profile: serializable, ...limits }, ({ resume: _resume, ...options }) =>
      exploreSql(readers, options),
    );
  expect(await explore({ historiesMax: 1 })).toMatchObject({ plans: 1, stopped: 'histories' });
  expect(await explore({ timeMaxMs: 0 })).toMatchObject({ plans: 1, stopped: 'time', schedules: 0 });
  const soFar: ExploreSqlResult[] = [];
  let ask: (() => ExploreSqlResult) | null = null;
  const all = await explore({
    onStart: (now) => (ask = now),
    onProgress: () => void soFar.push(...(ask === null ? [] : [ask()])),
  });
  expect(soFar.map(({ plans, schedules, complete }) => ({ plans, schedules, complete }))).toEqual(
    Array.from({ length: all.schedules }, (_, i) => ({
      plans: i < all.schedules / 2 ? 1 : 2,
      schedules: i + 1,
      complete: false,
    })),
  );
});

/** A serialization failure leads to another statement; by the index there is none. */
const later = sqlProgram({
  dialect: 'postgres',
  schema: table + indexes.owner,
  sessions: {
    a: (c) => increment(c, 10),
    b: (c) => increment(c, 30).catch(() => read(c)),
  },
  invariant: () => true,
});

test('places that only another path leads to are explored too', { timeout: 60_000 }, async () => {
  const { combinations } = await exploreAll(later, serializable);
  const places = combinations.map(({ result }) => result.accesses.length);
  expect(places[0]).toBe(2);
  expect(Math.max(...places)).toBe(3);
  expect(combinations.some(({ ways }) => Object.keys(ways).length === 3)).toBe(true);
});
