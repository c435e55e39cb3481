/**
 * `moirai explore` for SQL programs: every schedule of statements and commits that the engine profile could take, lock waits, deadlocks and
 * serialization failures included. Stateless: the program runs again through its own driver for every schedule. Of the schedules that differ only
 * in the order of independent steps one is walked to its end (`schedule-tree.ts`); different ones may still come to the same history. In the
 * axiomatic family what each read sees is enumerated as well, without reduction.
 */
import { createHash } from 'node:crypto';
import { monotonicMs } from '../base/clock.ts';
import { InputError } from '../base/input-error.ts';
import { decodePath, encodePath } from '../campaign/token.ts';
import { type History, INITIAL } from '../history/index.ts';
import { type Decisions, retracing } from '../mockdb/index.ts';
import { countMarks, type SqlProgram } from '../program/index.ts';
import type { Profile } from '../serve/index.ts';
import { exploringRun } from './exploring-run.ts';
import { prefixed } from './prefix.ts';
import { ScheduleTree } from './schedule-tree.ts';
import { checkDialect, type SqlFailure, tried } from './sql-campaign.ts';
import { evidenceIn } from './sql-evidence.ts';
import type { SqlRun, SqlRunOptions } from './sql-run.ts';
import { StepFootprints } from './step-footprints.ts';

export interface ExploreSqlOptions {
  readonly profile: Profile;
  /** Distinct histories to see before the answer is `unknown`. Default: all. */
  readonly historiesMax?: number;
  /** Schedules to run before the answer is `unknown`. Default: all. */
  readonly schedulesMax?: number;
  /** Time to spend before the answer is `unknown`. Default: any. */
  readonly timeMaxMs?: number;
  /** For one run. Default 10,000. */
  readonly timeoutMs?: number;
  /** Kinds of failures to keep a run of. Default 5. */
  readonly failuresMax?: number;
  /** End with the first violation. Default false. */
  readonly failsFast?: boolean;
  /** Leave out schedules that only swap independent steps? Default true. */
  readonly reduces?: boolean;
  /** Only this schedule. */
  readonly replay?: string;
  /** Only schedules that begin with these decisions: a part of the tree, which is explored as if it were all. */
  readonly prefix?: readonly number[];
  readonly onProgress?: (progress: SqlProgress) => void;
  /** Called before each run, for those who watch. */
  readonly onRun?: () => void;
  /** Called for each schedule that is not a repetition: what was seen, as keys that are equal where it was the same. */
  readonly onSchedule?: (seen: { readonly history: string; readonly outcome: string }) => void;
}

export interface SqlProgress {
  readonly schedules: number;
  readonly histories: number;
  readonly violations: number;
  /** The share of the tree of schedules that was walked, if every branch were of the same size: between 0 and 1. */
  readonly share: number;
}

export interface ExploreSqlResult {
  readonly profile: Profile;
  /** Runs of the program that were no repetitions. */
  readonly schedules: number;
  /** Runs that turned out to repeat a schedule with independent steps swapped. */
  readonly repetitions: number;
  /** Distinct histories: which rows each transaction read, from whom, and wrote, and whether it was committed. */
  readonly histories: number;
  /** Distinct outcomes: what every session was told by each of its statements, what it returned, and the verdict of the invariant. */
  readonly outcomes: number;
  /** Schedules in which the invariant fails. */
  readonly violations: number;
  /** Were there no more? */
  readonly complete: boolean;
  /** Why not. */
  readonly stopped: 'histories' | 'schedules' | 'time' | 'violation' | 'replay' | { readonly session: string } | null;
  /** For each `sometimes(name)`: schedules in which its condition held. */
  readonly marks: ReadonlyMap<string, number>;
  /** The kinds of failures by message and anomaly, each with the run of the fewest decisions that leave the first session, the most frequent first. */
  readonly failures: readonly SqlFailureKind[];
}

export interface SqlFailureKind extends SqlFailure {
  /** The anomaly of the rows that were read and written; `null` where they are serializable or nobody can tell. */
  readonly anomaly: string | null;
  /** Schedules that end like this. */
  readonly schedules: number;
}

/** @throws InputError `program/schema`, `program/dialect`, `program/nondeterministic` */
export async function exploreSql(program: SqlProgram, options: ExploreSqlOptions): Promise<ExploreSqlResult> {
  checkDialect(program, options.profile);
  return new SqlExploration(program, options).run();
}

interface Kind {
  readonly message: string;
  readonly anomaly: string | null;
  schedules: number;
  path: readonly number[];
}

type Finished = Extract<SqlRun, { kind: 'finished' }>;

class SqlExploration {
  readonly #program: SqlProgram;
  readonly #options: ExploreSqlOptions;
  readonly #steps = new StepFootprints();
  readonly #tree: ScheduleTree;
  readonly #histories = new Set<string>();
  readonly #outcomes = new Set<string>();
  readonly #marks = new Map<string, number>();
  readonly #kinds = new Map<string, Kind>();
  #schedules = 0;
  #repetitions = 0;
  #violations = 0;
  #stopped: ExploreSqlResult['stopped'] = null;

  constructor(program: SqlProgram, options: ExploreSqlOptions) {
    this.#program = program;
    this.#options = options;
    const { profile, reduces = true } = options;
    this.#tree = new ScheduleTree({
      processOf: (connection) => this.#steps.processOf(connection),
      phase: () => this.#steps.phase,
      waiting: () => this.#steps.waiting(),
      takeFootprint: () => this.#steps.take(),
      reduces: reduces && profile.family === 'engine',
    });
  }

  async run(): Promise<ExploreSqlResult> {
    const { timeMaxMs = Infinity, replay, prefix = [] } = this.#options;
    const deadline = monotonicMs() + timeMaxMs;
    if (replay !== undefined) {
      await this.#runOnce(retracing(decodePath(replay)));
      this.#stopped ??= 'replay';
    } else
      do {
        if (monotonicMs() >= deadline) this.#stopped = 'time';
        else await this.#runOnce(prefixed(prefix, this.#tree.decisions()));
      } while (this.#stopped === null && this.#tree.next());
    return this.#result();
  }

  async #runOnce(decisions: Decisions): Promise<void> {
    const { schedulesMax = Infinity, historiesMax = Infinity } = this.#options;
    if (this.#schedules >= schedulesMax) this.#stopped = 'schedules';
    if (this.#histories.size >= historiesMax) this.#stopped = 'histories';
    if (this.#stopped !== null) return;
    this.#options.onRun?.();
    const run = await tried(this.#program, this.#runOptions(decisions));
    if (this.#tree.hasDiverged) throw nondeterministic();
    if (run.kind === 'timeout') this.#stopped = { session: run.session };
    else if (this.#tree.isRepetition) this.#repetitions += 1;
    else this.#note(run);
    if (this.#options.failsFast === true && this.#violations > 0) this.#stopped ??= 'violation';
    const { size: histories } = this.#histories;
    this.#options.onProgress?.({
      schedules: this.#schedules,
      histories,
      violations: this.#violations,
      share: this.#tree.share,
    });
  }

  #runOptions(decisions: Decisions): SqlRunOptions {
    this.#steps.begin();
    return {
      ...exploringRun(decisions, this.#options),
      isLogged: true,
      onOpen: (database) => this.#steps.open(database),
      onStatement: (connection, event) => this.#steps.ended(connection, event),
      onJudge: () => this.#steps.judge(),
      footprints: this.#steps.recorder,
    };
  }

  #note(run: Finished): void {
    this.#schedules += 1;
    const history = digest(historyKey(run.history()));
    const outcome = digest(outcomeKey(run));
    this.#histories.add(history);
    this.#outcomes.add(outcome);
    this.#options.onSchedule?.({ history, outcome });
    countMarks(this.#marks, run.marks);
    if (run.violation === null) return;
    this.#violations += 1;
    const anomaly = evidenceIn(run.history())?.verdict.anomaly ?? null;
    const key = `${run.violation}\0${anomaly}`;
    const kind = this.#kinds.get(key);
    const path = [...run.path];
    if (kind === undefined) this.#kinds.set(key, { message: run.violation, anomaly, schedules: 1, path });
    else {
      kind.schedules += 1;
      if (weight(path) < weight(kind.path)) kind.path = path;
    }
  }

  async #result(): Promise<ExploreSqlResult> {
    const { failuresMax = 5 } = this.#options;
    const kinds = [...this.#kinds.values()].toSorted((a, b) => b.schedules - a.schedules).slice(0, failuresMax);
    const failures: SqlFailureKind[] = [];
    for (const { message, anomaly, schedules, path } of kinds) {
      const run = await tried(this.#program, this.#runOptions(retracing(path)));
      if (run.kind === 'timeout' || run.violation !== message) throw nondeterministic();
      const { statements } = run;
      failures.push({ message, anomaly, schedules, statements, history: run.history(), replay: encodePath(path) });
    }
    return {
      profile: this.#options.profile,
      schedules: this.#schedules,
      repetitions: this.#repetitions,
      histories: this.#histories.size,
      outcomes: this.#outcomes.size,
      violations: this.#violations,
      complete: this.#stopped === null,
      stopped: this.#stopped,
      marks: this.#marks,
      failures,
    };
  }
}

/** Decisions that do not take the first way: how far the schedule is from one session after the other. */
function weight(path: readonly number[]): number {
  return path.filter((position) => position !== 0).length * 1_000 + path.length;
}

/** The same text for the same history, whatever the order of its transactions. */
function historyKey({ sessions, transactions, initial }: History): string {
  const lines = transactions.map(({ id, session, status, operations }) => {
    const texts = operations.map((operation) => {
      if (operation.kind === 'write') return ['w', operation.key, operation.value];
      const { key, value, from } = operation;
      return ['r', key, value, from === undefined || from === INITIAL ? null : (transactions[from]?.id ?? null)];
    });
    return JSON.stringify([sessions[session], id, status, texts]);
  });
  return [...lines.toSorted(), JSON.stringify([...initial].toSorted(([a], [b]) => (a < b ? -1 : 1)))].join('\n');
}

function outcomeKey({ statements, results, violation, marks }: Finished): string {
  const bySession = new Map<string, unknown[]>();
  for (const { session, sql, parameters, outcome } of statements) {
    bySession.set(session, [...(bySession.get(session) ?? []), [sql, parameters, outcome]]);
  }
  const sorted = <T>(map: Iterable<readonly [string, T]>): unknown => [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const returned = Object.entries(results).map(([name, value]) => [name, shown(value)] as const);
  return JSON.stringify([sorted(bySession), sorted(returned), violation, sorted(marks)]);
}

/** What a session returned may hold anything: drivers' objects, cycles. */
function shown(value: unknown): string {
  try {
    return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each)) ?? '';
  } catch {
    return '';
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 22);
}

function nondeterministic(): InputError {
  return new InputError(
    'program/nondeterministic',
    'with the same decisions the program does not do the same: it depends on something else (time, randomness, the network)',
  );
}
