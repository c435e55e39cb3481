/**
 * Two transactions of one statement each: all interleavings step by step on a real server and on moirai, and `explore` beside them. Whatever
 * the server came to is among what explore comes to. What only explore comes to lies between the steps of two statements.
 */
import { exploreSql } from '../src/explore/sql/index.ts';
import { parseProfile } from '../src/database/index.ts';
import type { Dialect } from '../src/sql/model/index.ts';
import { type SqlConnection, type SqlEnd, sqlProgram } from '../src/program/index.ts';
import { type Client, mysqlClient, postgresClient } from '../test/sql-oracle/answer.ts';
import { compare, type Comparison } from './compare.ts';
import type { Difference } from './difference.ts';
import { likelyChoices, MoiraiSide } from './moirai-side.ts';
import { pairQueries, pairSetUp } from './pair-shapes.ts';
import {
  answerOutcome,
  type Level,
  runSchedule,
  type Schedule,
  scheduleOutcome,
  type Side,
  type Step,
} from './schedule.ts';

export interface PairResult {
  /** Interleavings. */
  readonly schedules: number;
  readonly unsupported: ReadonlySet<string>;
  /** Interleavings that came to something else on moirai. */
  readonly differences: readonly Difference[];
  /** Interleavings that came to the same by another access path of moirai. */
  readonly byAnotherPath: number;
  /** Outcomes of the server that explore did not come to, by reason. */
  readonly missed: Readonly<Record<MissedReason, readonly string[]>>;
  /** Outcomes of the server, and those of explore alone. */
  readonly outcomes: number;
  readonly onlyExplored: number;
}

/**
 * - `index pages`: moirai, step by step, comes to it where it takes each index for one page, and to an outcome of explore where it remembers
 *   ranges. Verdicts name that as assumed.
 * - `access paths`: moirai comes to it step by step by another access path alone.
 */
export type MissedReason = 'index pages' | 'access paths' | 'unknown';

export async function runPair(
  dialect: Dialect,
  level: Level,
  pair: readonly [string, string],
  real: Side,
): Promise<PairResult> {
  const shown = new Map<string, Shown[]>();
  const differences: Difference[] = [];
  const unsupported = new Set<string>();
  const schedules = interleavedPrograms(pair).map((steps) => ({
    dialect,
    setUp: pairSetUp[dialect],
    keepsTables: true,
    levels: [level, level],
    steps,
    queries: pairQueries,
  }));
  for (const schedule of schedules) {
    const comparison = await compare(schedule, real);
    if (comparison.kind === 'unsupported') unsupported.add(comparison.message);
    if (comparison.kind === 'different') differences.push({ ...comparison, schedule });
    if (comparison.kind === 'unsupported') continue;
    const outcome = scheduleOutcome(schedule, comparison.theirs);
    shown.set(outcome, [...(shown.get(outcome) ?? []), { schedule, kind: comparison.kind }]);
  }
  const explored = await exploredOutcomes(dialect, level, pair);
  const missed: Record<MissedReason, string[]> = { 'index pages': [], 'access paths': [], unknown: [] };
  for (const [outcome, runs] of shown) {
    if (unsupported.size > 0 || explored.has(outcome)) continue;
    missed[await reasonOf(outcome, runs, explored)].push(outcome);
  }
  return {
    schedules: schedules.length,
    unsupported,
    differences,
    byAnotherPath: [...shown.values()].flat().filter(({ kind }) => kind === 'equal by another plan').length,
    missed,
    outcomes: shown.size,
    onlyExplored: [...explored].filter((outcome) => !shown.has(outcome)).length,
  };
}

/** An interleaving in which the server came to an outcome. */
interface Shown {
  readonly schedule: Schedule;
  readonly kind: Exclude<Comparison['kind'], 'unsupported'>;
}

async function reasonOf(outcome: string, runs: readonly Shown[], explored: ReadonlySet<string>): Promise<MissedReason> {
  if (runs.every(({ kind }) => kind === 'equal by another plan')) return 'access paths';
  for (const { schedule, kind } of runs) {
    if (schedule.dialect !== 'postgres' || kind !== 'equal') return 'unknown';
    const side = new MoiraiSide(schedule.dialect, { ...likelyChoices, predicateReads: 'range' });
    const byRanges = scheduleOutcome(schedule, await runSchedule(schedule, side));
    if (byRanges === outcome || !explored.has(byRanges)) return 'unknown';
  }
  return 'index pages';
}

const statementsOf = (sql: string): readonly string[] => ['begin', sql, 'commit'];

/** BEGIN takes no snapshot on either server: where it stands among the other session's statements is all the same. */
function interleavedPrograms(pair: readonly [string, string]): Step[][] {
  const [a, b] = pair.map((sql, session) => {
    const [begin, ...rest] = statementsOf(sql).map(
      (text): Step => ({ session, sql: text, form: text, isOrdered: true }),
    );
    const [first, ...others] = rest.map((step) => [step]);
    return [[begin, ...(first ?? [])], ...others];
  }) as [Step[][], Step[][]];
  return interleavings(a, b).map((parts) => parts.flat());
}

function interleavings<T>([a, ...restA]: T[], [b, ...restB]: T[]): T[][] {
  if (a === undefined) return [b === undefined ? [] : [b, ...restB]];
  if (b === undefined) return [[a, ...restA]];
  return [
    ...interleavings(restA, [b, ...restB]).map((rest) => [a, ...rest]),
    ...interleavings([a, ...restA], restB).map((rest) => [b, ...rest]),
  ];
}

async function exploredOutcomes(
  dialect: Dialect,
  isolation: Level,
  pair: readonly [string, string],
): Promise<ReadonlySet<string>> {
  const outcomes = new Set<string>();
  let last = '';
  const runAll = async (client: Client, texts: readonly string[]): Promise<string[]> => {
    const told: string[] = [];
    for (const sql of texts) told.push(answerOutcome(await client.ask({ sql, isOrdered: true })));
    await client.end();
    return told;
  };
  const program = sqlProgram({
    dialect,
    schema: [...pairSetUp[dialect]],
    sessions: Object.fromEntries(
      pair.map((sql, i) => [
        `s${i}`,
        async (connection: SqlConnection) => runAll(await clientOf(dialect, connection), statementsOf(sql)),
      ]),
    ),
    invariant: async (end: SqlEnd) => {
      const state = await runAll(await clientOf(dialect, end), pairQueries);
      last = JSON.stringify([pair.map((_, i) => end.results[`s${i}`]), state]);
      return true;
    },
  });
  await exploreSql(program, {
    profile: parseProfile({ engine: dialect, isolation }),
    onSeen: () => void outcomes.add(last),
  });
  return outcomes;
}

function clientOf(dialect: Dialect, { connect }: Pick<SqlConnection, 'connect'>): Promise<Client> {
  return dialect === 'postgres'
    ? postgresClient({ user: 'app', stream: connect })
    : mysqlClient({ user: 'app', stream: connect() });
}
