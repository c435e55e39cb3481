/**
 * One exploration of a SQL program by several threads. The first decisions are all tried, without leaving anything out, until there are enough
 * prefixes; what comes after a prefix is explored as a tree of its own, so threads share nothing and a job is a list of numbers. What is given
 * away is the reduction across prefixes: more schedules are run, and what they show is counted once by its keys. The prefixes do not
 * depend on the number of threads, so nor does the result.
 */
import { monotonicMs } from '../base/clock.ts';
import { InputError } from '../base/input-error.ts';
import { countMarks, type SqlProgram } from '../program/index.ts';
import { exploreSql, type ExploreSqlOptions, type ExploreSqlResult, type SqlFailureKind } from './explore-sql.ts';
import { exploringRun } from './exploring-run.ts';
import { counting } from './prefix.ts';
import { tried } from './sql-campaign.ts';

/** What a thread is asked to do: plain data. */
export interface SqlJob {
  readonly prefix: readonly number[];
  /** `null`: any. */
  readonly timeMaxMs: number | null;
}

/** What came of it: plain data. */
export interface SqlPart {
  readonly result: ExploreSqlResult;
  /** Keys of what was seen. */
  readonly histories: readonly string[];
  readonly outcomes: readonly string[];
}

export interface SqlPartProgress {
  readonly schedules: number;
  readonly violations: number;
  readonly share: number;
}

export type SqlThread = (job: SqlJob, onProgress: (progress: SqlPartProgress) => void) => Promise<SqlPart>;

/** Options of a job that can be sent: no functions. */
export type SqlPartOptions = Pick<
  ExploreSqlOptions,
  'profile' | 'historiesMax' | 'schedulesMax' | 'timeoutMs' | 'failsFast' | 'reduces'
>;

export interface SharedSqlOptions extends Omit<ExploreSqlOptions, 'prefix' | 'replay' | 'onSchedule'> {
  /** Schedules to run before the work is shared: fewer are done before a thread could begin. Default 200. */
  readonly schedulesAlone?: number;
}

/** Does a job: for threads. @throws as `exploreSql` does */
export async function exploreSqlPart(
  program: SqlProgram,
  options: SqlPartOptions,
  { prefix, timeMaxMs }: SqlJob,
  onProgress: (progress: SqlPartProgress) => void,
): Promise<SqlPart> {
  const histories = new Set<string>();
  const outcomes = new Set<string>();
  const result = await exploreSql(program, {
    ...options,
    prefix,
    ...(timeMaxMs === null ? {} : { timeMaxMs }),
    failuresMax: Infinity,
    onProgress,
    onSchedule: (seen) => {
      histories.add(seen.history);
      outcomes.add(seen.outcome);
    },
  });
  return { result, histories: [...histories], outcomes: [...outcomes] };
}

/**
 * `exploreSql` with the work done by threads. A program of few schedules is explored by this one alone; then the result is that of
 * `exploreSql`. With budgets it stops soon after so many.
 * @throws InputError when the program or an option is at fault, `option/threads` where there are none
 */
export async function exploreSqlShared(
  program: SqlProgram,
  options: SharedSqlOptions,
  threads: readonly SqlThread[],
): Promise<ExploreSqlResult> {
  if (threads.length === 0) throw new InputError('option/threads', 'at least one thread has to do the work');
  const deadline = monotonicMs() + (options.timeMaxMs ?? Infinity);
  const { schedulesMax = Infinity, schedulesAlone = 200 } = options;
  const alone = await exploreSql(program, { ...options, schedulesMax: Math.min(schedulesMax, schedulesAlone) });
  if (alone.stopped !== 'schedules' || schedulesMax <= schedulesAlone) return alone;
  const jobs = await prefixes(program, options);
  return new Sharing(options, jobs, deadline).run(threads);
}

class Sharing {
  readonly #options: SharedSqlOptions;
  readonly #jobs: readonly Prefix[];
  readonly #deadline: number;
  readonly #parts: (SqlPart | undefined)[];
  readonly #progress: (SqlPartProgress | undefined)[];
  readonly #histories = new Set<string>();
  #next = 0;
  #stopped: ExploreSqlResult['stopped'] = null;

  constructor(options: SharedSqlOptions, jobs: readonly Prefix[], deadline: number) {
    this.#options = options;
    this.#jobs = jobs;
    this.#deadline = deadline;
    this.#parts = jobs.map(() => undefined);
    this.#progress = jobs.map(() => undefined);
  }

  async run(threads: readonly SqlThread[]): Promise<ExploreSqlResult> {
    await Promise.all(threads.map((thread) => this.#work(thread)));
    return this.#result();
  }

  /** A thread takes the next prefix for as long as there is one. */
  async #work(thread: SqlThread): Promise<void> {
    while (this.#stopped === null && this.#next < this.#jobs.length) {
      const index = this.#next;
      this.#next += 1;
      const timeMaxMs = this.#deadline === Infinity ? null : Math.max(0, this.#deadline - monotonicMs());
      const { positions } = this.#jobs[index] as Prefix;
      const part = await thread({ prefix: positions, timeMaxMs }, (progress) => this.#tell(index, progress));
      this.#parts[index] = part;
      for (const history of part.histories) this.#histories.add(history);
      this.#stopped ??= part.result.stopped ?? this.#budget();
    }
  }

  #budget(): ExploreSqlResult['stopped'] {
    const { historiesMax = Infinity, schedulesMax = Infinity } = this.#options;
    if (this.#next === this.#jobs.length) return null;
    if (this.#histories.size >= historiesMax) return 'histories';
    const schedules = this.#parts.reduce((sum, part) => sum + (part?.result.schedules ?? 0), 0);
    return schedules >= schedulesMax ? 'schedules' : null;
  }

  #tell(index: number, progress: SqlPartProgress): void {
    this.#progress[index] = progress;
    this.#options.onRun?.();
    const known = this.#progress.filter((each) => each !== undefined);
    this.#options.onProgress?.({
      schedules: known.reduce((sum, { schedules }) => sum + schedules, 0),
      histories: this.#histories.size,
      violations: known.reduce((sum, { violations }) => sum + violations, 0),
      share: this.#jobs.reduce((sum, { mass }, i) => {
        const part = this.#parts[i];
        return sum + mass * (part !== undefined && part.result.complete ? 1 : (this.#progress[i]?.share ?? 0));
      }, 0),
    });
  }

  /** In the order of the prefixes, whoever was done first. */
  #result(): ExploreSqlResult {
    const parts = this.#parts.filter((part) => part !== undefined);
    const sum = (count: (result: ExploreSqlResult) => number): number =>
      parts.reduce((total, { result }) => total + count(result), 0);
    const marks = new Map<string, number>();
    for (const { result } of parts) countMarks(marks, result.marks);
    return {
      profile: this.#options.profile,
      schedules: sum(({ schedules }) => schedules),
      repetitions: sum(({ repetitions }) => repetitions),
      histories: this.#histories.size,
      outcomes: new Set(parts.flatMap(({ outcomes }) => outcomes)).size,
      violations: sum(({ violations }) => violations),
      complete: this.#stopped === null,
      stopped: this.#stopped,
      marks,
      failures: mergedFailures(parts).slice(0, this.#options.failuresMax ?? 5),
    };
  }
}

/** One of each kind, the most frequent first; of two runs the one with fewer decisions, then the first in the order of the prefixes. */
function mergedFailures(parts: readonly SqlPart[]): SqlFailureKind[] {
  const kinds = new Map<string, SqlFailureKind>();
  for (const failure of parts.flatMap(({ result }) => result.failures)) {
    const key = `${failure.message}\0${failure.anomaly}`;
    const known = kinds.get(key);
    const schedules = (known?.schedules ?? 0) + failure.schedules;
    const isShorter = known === undefined || failure.replay.length < known.replay.length;
    kinds.set(key, { ...(isShorter ? failure : known), schedules });
  }
  return [...kinds.values()].toSorted((a, b) => b.schedules - a.schedules);
}

interface Prefix {
  readonly positions: readonly number[];
  /** Its share of the tree if every branch were of the same size. */
  readonly mass: number;
}

/** All first decisions, one level after the other, until there are enough of them. One run for each. */
async function prefixes(program: SqlProgram, options: SharedSqlOptions): Promise<readonly Prefix[]> {
  let level: readonly Prefix[] = [{ positions: [], mass: 1 }];
  for (let depth = 0; depth < DEPTH_MAX && level.length < PREFIXES; depth += 1) {
    const next: Prefix[] = [];
    for (const { positions, mass } of level) {
      options.onRun?.();
      const decisions = counting((i) => positions[i] ?? 0);
      await tried(program, exploringRun(decisions, options));
      // A run may be over before: then it is a job by itself, of one schedule.
      const count = decisions.options[positions.length];
      if (count === undefined) next.push({ positions, mass });
      else for (let i = 0; i < count; i += 1) next.push({ positions: [...positions, i], mass: mass / count });
    }
    level = next;
  }
  return level;
}

const PREFIXES = 32;
const DEPTH_MAX = 8;
