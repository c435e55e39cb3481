/**
 * `moirai/sql`: a mock SQL database for the driver that a test suite already has; every schedule of a SQL program, or many runs of it.
 *
 * A program is sessions that use a driver, a schema and an invariant: `sqlProgram` of `moirai`. `testSqlProgram` runs it at random, `exploreSql` takes
 * every schedule that the engine could. `openSqlDatabase` is the database alone, without a program; `moirai/serve` puts it behind a port.
 *
 * @example
 * ```ts
 * import { type SqlConnection, sqlProgram } from 'moirai';
 * import { exploreSql, parseProfile } from 'moirai/sql';
 * import pg from 'pg';
 *
 * const withdraw = async ({ connect }: SqlConnection) => {
 *   const client = new pg.Client({ user: 'test', stream: connect });
 *   await client.connect();
 *   const { rows } = await client.query('SELECT balance FROM accounts WHERE id = 1');
 *   if (rows[0].balance >= 60) await client.query('UPDATE accounts SET balance = balance - 60 WHERE id = 1');
 *   await client.end();
 * };
 * const program = sqlProgram({
 *   dialect: 'postgres',
 *   schema: ['CREATE TABLE accounts (id int PRIMARY KEY, balance int)', 'INSERT INTO accounts VALUES (1, 100)'],
 *   sessions: { alice: withdraw, bob: withdraw },
 *   invariant: async ({ connect }) => {
 *     const client = new pg.Client({ user: 'test', stream: connect });
 *     await client.connect();
 *     const { rows } = await client.query('SELECT balance FROM accounts WHERE id = 1');
 *     await client.end();
 *     return rows[0].balance >= 0 || `the balance is ${rows[0].balance}`;
 *   },
 * });
 * const found = await exploreSql(program, { profile: parseProfile({ engine: 'postgres' }) });
 * console.log(found.complete, found.failures[0]?.message);
 * // prints: true the balance is -20
 * ```
 * @module
 */
import {
  runSqlCampaign as run,
  type SqlCampaignOptions as RoomCampaignOptions,
  type SqlCampaignResult,
  testSqlProgram as test,
} from '../campaign/sql/index.ts';
import type { Profile, ProfileOptions } from '../database/index.ts';
import {
  estimateSchedules as estimate,
  type EstimateSchedulesOptions as RoomEstimateOptions,
  type ExploreSqlOptions as RoomExploreOptions,
  exploreSqlProfile,
  type ExploreSqlResult,
  type ScheduleEstimate,
} from '../explore/sql/index.ts';
import { checkSqlProgram, type SqlProgram } from '../program/index.ts';
import { type OptionKinds, requireOptions } from './given-options.ts';
import { reportFolder } from './report-folder.ts';
import { databaseOptions, openForUsers, type SqlDatabase, type SqlDatabaseOptions } from './sql-database.ts';

export { formatSqlFailure, formatSqlResult, type SqlCampaignResult } from '../campaign/sql/index.ts';
export {
  parseProfile,
  profileText,
  type AssumedAccess,
  type EngineName,
  type Profile,
  type ProfileOptions,
} from '../database/index.ts';
export {
  drawSqlFailures,
  formatScheduleEstimate,
  formatSqlExploration,
  formatSqlExplorations,
  type ExploreSqlResult,
  type ScheduleEstimate,
  type SqlExplorationText,
  type SqlFailureKind,
  type SqlProgress,
} from '../explore/sql/index.ts';
export type { OperationTimes } from '../database/index.ts';
export type { IsolationName } from '../sql/index.ts';
export type { Dialect } from '../sql/model/index.ts';
export type { FailureKind, Late, LoggedStatement, SqlFailure, SqlTextOptions } from '../sql-program/index.ts';
export type { ConnectOptions, SqlDatabase, SqlDatabaseOptions, StatementEvent } from './sql-database.ts';

/** On which database a program runs, and how often. */
export interface SqlCampaignOptions
  extends Pick<
    RoomCampaignOptions,
    | 'abortRate'
    | 'judging'
    | 'onProgress'
    | 'plans'
    | 'profile'
    | 'replay'
    | 'runs'
    | 'seed'
    | 'signal'
    | 'stopAtFirst'
    | 'timeMaxMs'
    | 'timeoutMs'
    | 'waitMs'
  > {}

const campaignOptions: OptionKinds<Omit<SqlCampaignOptions, 'profile'>> = {
  abortRate: 'number',
  judging: 'object',
  onProgress: 'function',
  plans: 'string',
  replay: 'string',
  runs: 'number',
  seed: 'number',
  signal: 'object',
  stopAtFirst: 'any',
  timeMaxMs: 'number',
  timeoutMs: 'number',
  waitMs: 'number',
};

/** The same for a test: the database by its names, and a time for all runs that a test runner waits for. */
export interface TestSqlOptions extends Omit<SqlCampaignOptions, 'profile'>, ProfileOptions {
  /** For all runs, in milliseconds: what was found until then is thrown. Default 4,000, below the 5,000 of vitest and jest. */
  readonly timeBudgetMs?: number;
}

const testOptions: OptionKinds<TestSqlOptions> = {
  ...campaignOptions,
  dialect: 'string',
  engine: 'string',
  granularity: 'string',
  isolation: 'string',
  level: 'string',
  timeBudgetMs: 'number',
};

/** On which database a program is explored, and how far. Every limit that is reached makes the answer `unknown`. */
export interface ExploreSqlOptions
  extends Pick<
    RoomExploreOptions,
    | 'estimateAfterMs'
    | 'failsFast'
    | 'failuresMax'
    | 'historiesMax'
    | 'judging'
    | 'onEstimate'
    | 'onProgress'
    | 'profile'
    | 'reduces'
    | 'replay'
    | 'schedulesMax'
    | 'signal'
    | 'timeMaxMs'
    | 'timeoutMs'
    | 'waitMs'
  > {
  /**
   * Access paths: the likely ones, or every combination of those that a server may take, where that makes a difference to what statements lock.
   * Exponential in the number of places with a choice. Default `likely`.
   */
  readonly plans?: 'likely' | 'all';
  /** With `plans: 'all'`: combinations to explore before the answer is `unknown`. Default 64. */
  readonly plansMax?: number;
}

const exploreOptions: OptionKinds<ExploreSqlOptions> = {
  estimateAfterMs: 'number',
  failsFast: 'boolean',
  failuresMax: 'number',
  historiesMax: 'number',
  judging: 'object',
  onEstimate: 'function',
  onProgress: 'function',
  plans: 'string',
  plansMax: 'number',
  profile: 'profile!',
  reduces: 'boolean',
  replay: 'string',
  schedulesMax: 'number',
  signal: 'object',
  timeMaxMs: 'number',
  timeoutMs: 'number',
  waitMs: 'number',
};

/** What is estimated, and how long. */
export interface EstimateSchedulesOptions
  extends Pick<RoomEstimateOptions, 'chooser' | 'onRun' | 'probes' | 'timeMaxMs' | 'timeoutMs' | 'waitMs'> {
  readonly profile: Profile;
}

const estimateOptions: OptionKinds<EstimateSchedulesOptions> = {
  chooser: 'chooser!',
  onRun: 'function',
  probes: 'number',
  profile: 'profile!',
  timeMaxMs: 'number',
  timeoutMs: 'number',
  waitMs: 'number',
};

/**
 * Opens a mock SQL database in this process: no port, and the same seed is the same run.
 * @throws InputError `database/schema` where a statement of `schema` fails
 *
 * @example
 * ```ts
 * import { openSqlDatabase, parseProfile, profileText } from 'moirai/sql';
 * import pg from 'pg';
 *
 * const profile = parseProfile({ engine: 'postgres', isolation: 'serializable' });
 * const database = await openSqlDatabase({ profile, seed: 7, schema: 'CREATE TABLE t (id int PRIMARY KEY, n int)' });
 * const client = new pg.Client({ user: 'test', stream: () => database.connect({ name: 'alice' }) });
 * await client.connect();
 * await client.query('INSERT INTO t VALUES (1, 5)');
 * await client.end();
 * console.log(profileText(profile), database.history().sessions.join());
 * // prints: PostgreSQL, serializable alice
 * database.close();
 * ```
 */
export async function openSqlDatabase(options: SqlDatabaseOptions): Promise<SqlDatabase> {
  requireOptions('openSqlDatabase', options, databaseOptions);
  return (await openForUsers(options, null)).database;
}

/**
 * Runs a SQL program at random, by default 100 times on its dialect's engine at that engine's default level: an assertion for any test runner.
 * @throws AssertionError when a run violates the invariant or does not end, with the run and how to replay it in its message; when the runs are no evidence
 *   that the invariant holds; of a replay also when the program takes other steps than the recorded run
 * @throws InputError when the program or an option is at fault
 *
 * @example
 * ```ts
 * import { type SqlConnection, sqlProgram } from 'moirai';
 * import { estimateSchedules, formatSqlResult, parseProfile, testSqlProgram } from 'moirai/sql';
 * import { seeded } from 'moirai/mockdb';
 * import pg from 'pg';
 *
 * const withClient = async ({ connect }: SqlConnection, use: (client: pg.Client) => Promise<pg.QueryResult>) => {
 *   const client = new pg.Client({ user: 'test', stream: connect });
 *   await client.connect();
 *   const { rows } = await use(client);
 *   await client.end();
 *   return rows;
 * };
 * const increment = (connection: SqlConnection) =>
 *   withClient(connection, (client) => client.query('UPDATE t SET n = n + 1 WHERE id = 1'));
 * const counter = sqlProgram({
 *   dialect: 'postgres',
 *   schema: ['CREATE TABLE t (id int PRIMARY KEY, n int)', 'INSERT INTO t VALUES (1, 0)'],
 *   sessions: { a: increment, b: increment },
 *   invariant: async (end) => (await withClient(end, (client) => client.query('SELECT n FROM t')))[0].n === 2,
 * });
 * const result = await testSqlProgram(counter, { isolation: 'read committed', runs: 20 });
 * console.log(result.runs, formatSqlResult(result).split('\n')[0]);
 * // prints: 20 passed 20 runs on PostgreSQL, read committed: the invariant held in every run
 * const profile = parseProfile({ engine: 'postgres' });
 * console.log((await estimateSchedules(counter, { profile, chooser: seeded(1), probes: 10 })).probes);
 * // prints: 10
 * ```
 */
export async function testSqlProgram(program: SqlProgram, options: TestSqlOptions = {}): Promise<SqlCampaignResult> {
  requireOptions('testSqlProgram', options, testOptions);
  return test(checkSqlProgram(program), { ...options, ...reportFolder('testSqlProgram', new Error()) });
}

/**
 * The same runs as a value: nothing is thrown for a violation. `formatSqlResult` and `formatSqlFailure` put the result into words.
 * @throws InputError `program/...`, `option/...`
 */
export async function runSqlCampaign(program: SqlProgram, options: SqlCampaignOptions): Promise<SqlCampaignResult> {
  requireOptions('runSqlCampaign', options, { ...campaignOptions, profile: 'profile!' });
  return run(checkSqlProgram(program), options);
}

/**
 * Runs a SQL program once for every schedule of its statements and commits that the engine could take, lock waits, deadlocks and serialization
 * failures included; of schedules that only swap independent steps one.
 * @returns `complete` and no `violations`: the invariant holds in every schedule. `conclude(result.evidence)` is the verdict of the command line
 * @throws InputError `program/schema`, `program/dialect`, `program/nondeterministic`
 */
export async function exploreSql(definition: SqlProgram, given: ExploreSqlOptions): Promise<ExploreSqlResult> {
  requireOptions('exploreSql', given, exploreOptions);
  return exploreSqlProfile(checkSqlProgram(definition), given);
}

/**
 * Estimates how many schedules an exploration has, by random probes: Knuth, "Estimating the Efficiency of Backtrack Programs" (1975).
 * @throws InputError `program/schema`
 */
export async function estimateSchedules(
  program: SqlProgram,
  options: EstimateSchedulesOptions,
): Promise<ScheduleEstimate> {
  requireOptions('estimateSchedules', options, estimateOptions);
  return estimate(checkSqlProgram(program), options);
}
