/**
 * `moirai test` for SQL programs: many runs against the mock database, each with decisions from the seed. In an engine profile what is drawn
 * is the timing alone; in the axiomatic family also which write each read sees.
 */
import { seeded } from '../base/chooser.ts';
import { InputError } from '../base/input-error.ts';
import { decodePath, encodePath } from '../campaign/token.ts';
import type { History } from '../history/index.ts';
import { drawing, retracing } from '../mockdb/index.ts';
import { countMarks, type SqlProgram } from '../program/index.ts';
import type { Profile } from '../serve/index.ts';
import { SqlError } from '../sql/index.ts';
import { runSqlProgram, type SqlRun, type SqlRunOptions } from './sql-run.ts';
import type { LoggedStatement } from './statement-log.ts';

export interface SqlCampaignOptions {
  readonly profile: Profile;
  /** Default 100. */
  readonly runs?: number;
  /** Default 1. */
  readonly seed?: number;
  /** The share of statements and commits at repeatable read and above that fail with 40001 although they could go on. Default 0. */
  readonly abortRate?: number;
  /** For one run. Default 10,000. */
  readonly timeoutMs?: number;
  readonly replay?: string;
  /** Run the shortest failing run once more, to tell what it did? Default true. */
  readonly explains?: boolean;
  readonly onProgress?: (done: {
    readonly runs: number;
    readonly runsMax: number;
    readonly violations: number;
  }) => void;
  /** Called before each run, for those who watch. */
  readonly onRun?: (run: number) => void;
}

export interface SqlFailure {
  readonly message: string;
  readonly replay: string;
  readonly statements: readonly LoggedStatement[];
  readonly history: History;
}

export interface SqlCampaignResult {
  readonly profile: Profile;
  readonly seed: number;
  readonly runs: number;
  readonly violations: number;
  /** Distinct sequences of decisions among the runs. */
  readonly distinctSchedules: number;
  readonly firstFailingRun: number | null;
  readonly failure: SqlFailure | null;
  readonly marks: ReadonlyMap<string, number>;
  /** A session that did not end in time. */
  readonly timeout: string | null;
}

export const sqlCampaignDefaults = { runs: 100, seed: 1, abortRate: 0, timeoutMs: 10_000 } as const;

/** @throws InputError `program/schema` when the schema's statements fail, `program/dialect` */
export async function runSqlCampaign(program: SqlProgram, options: SqlCampaignOptions): Promise<SqlCampaignResult> {
  checkDialect(program, options.profile);
  const seed = options.seed ?? sqlCampaignDefaults.seed;
  const runsMax = options.replay === undefined ? (options.runs ?? sqlCampaignDefaults.runs) : 1;
  const path = options.replay === undefined ? null : decodePath(options.replay);
  const abortRate = options.abortRate ?? sqlCampaignDefaults.abortRate;
  const timeoutMs = options.timeoutMs ?? sqlCampaignDefaults.timeoutMs;
  const runOptions = (i: number, taken: readonly number[] | null): SqlRunOptions => ({
    profile: options.profile,
    seed: seedOf(seed, i),
    abortRate,
    timeoutMs,
    decisions: taken === null ? drawing({ chooser: seeded(seed, i) }) : retracing(taken),
    isLogged: taken !== null,
  });

  const schedules = new Set<string>();
  const marks = new Map<string, number>();
  let violations = 0;
  let runs = 0;
  let timeout: string | null = null;
  let failing: { readonly run: number; readonly path: readonly number[] } | null = null;
  for (let i = 0; i < runsMax && timeout === null; i += 1) {
    options.onRun?.(i);
    const run = await tried(program, runOptions(i, path));
    runs += 1;
    if (run.kind === 'timeout') timeout = run.session;
    else {
      schedules.add(encodePath(run.path));
      countMarks(marks, run.marks);
      if (run.violation !== null) {
        violations += 1;
        if (failing === null || run.path.length < failing.path.length) failing = { run: i, path: [...run.path] };
      }
    }
    options.onProgress?.({ runs, runsMax, violations });
  }
  const { explains = true } = options;
  const failure =
    failing === null || !explains ? null : await failureOf(program, runOptions(failing.run, failing.path));
  return {
    profile: options.profile,
    seed,
    runs,
    violations,
    distinctSchedules: schedules.size,
    firstFailingRun: failing === null ? null : failing.run + 1,
    failure,
    marks,
    timeout,
  };
}

/** The run again, with a log of its statements. */
async function failureOf(program: SqlProgram, options: SqlRunOptions): Promise<SqlFailure> {
  const run = await tried(program, options);
  if (run.kind === 'timeout' || run.violation === null) {
    throw new InputError(
      'program/nondeterministic',
      'a run that failed does not fail again with the same decisions: the program depends on something else (time, randomness, the network)',
    );
  }
  return { message: run.violation, replay: encodePath(run.path), statements: run.statements, history: run.history() };
}

/** @throws InputError `program/dialect` */
export function checkDialect({ dialect }: SqlProgram, profile: Profile): void {
  if (dialect === profile.dialect) return;
  throw new InputError('program/dialect', `the program speaks ${dialect} and the database ${profile.dialect}`);
}

/** What the functions of a run draw from, such as `random()`. */
export function seedOf(seed: number, run: number): number {
  return seed * 1_000_003 + run;
}

/** A run; a schema that fails is bad input. */
export async function tried(program: SqlProgram, options: SqlRunOptions): Promise<SqlRun> {
  try {
    return await runSqlProgram(program, options);
  } catch (error) {
    if (error instanceof SqlError)
      throw new InputError('program/schema', `the schema: ${error.message} (${error.code})`);
    throw error;
  }
}
