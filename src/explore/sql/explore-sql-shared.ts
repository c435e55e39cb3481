/**
 * One exploration of a SQL program by several threads. The first decisions are all tried, without leaving anything out, until there are enough
 * prefixes; what comes after a prefix is explored as a tree of its own, so threads share nothing and a job is a list of numbers. What is given
 * away is the reduction across prefixes: more schedules are run, and what they show is counted once by its keys. The prefixes do not
 * depend on the number of threads, so nor does the result.
 */
import { assert, Budget, pickGiven, requireWorkers, shareJobs } from '../../base/index.ts';
import { otherExploration } from '../index.ts';
import { checkedRun } from '../../sql-program/index.ts';
import { ControlledSources, type SqlProgram } from '../../program/index.ts';
import { exploreSql } from './explore-sql.ts';
import type { ExploreSqlOptions } from './explore-sql-options.ts';
import type { ExploreSqlResult } from './explore-sql-result.ts';
import { withJudgedAgain } from './exploration-judged-again.ts';
import { exploringRun } from './exploring-run.ts';
import { counting } from './prefix.ts';
import { mergedResults } from './merged-results.ts';
import {
  type OneCheckpoint,
  requireKind,
  type Saving,
  type SharedCheckpoint,
  type SqlCheckpoint,
} from './sql-checkpoint.ts';

/** What a thread is asked to do: plain data. */
export interface SqlJob {
  readonly prefix: readonly number[];
  /** `null`: any. */
  readonly timeMaxMs: number | null;
  /** Where an earlier exploration left it. */
  readonly resume?: SqlCheckpoint;
  /** Are checkpoints asked for? */
  readonly isSaved?: boolean;
}

/** What came of it: plain data. */
export interface SqlPart {
  readonly result: ExploreSqlResult;
  /** Keys of what was seen. */
  readonly histories: readonly string[];
  readonly outcomes: readonly string[];
  /** Where it stands; `null`: it was not asked for. */
  readonly checkpoint: SqlCheckpoint | null;
}

export interface SqlPartProgress {
  readonly schedules: number;
  readonly violations: number;
  readonly share: number;
  /** Where one is due. */
  readonly checkpoint?: SqlCheckpoint;
}

export type SqlThread = (job: SqlJob, onProgress: (progress: SqlPartProgress) => void) => Promise<SqlPart>;

const sentNames = ['profile', 'ways', 'historiesMax', 'schedulesMax', 'timeoutMs', 'failsFast', 'reduces'] as const;

/** Options of a thread: plain data. */
export type SqlPartOptions = Pick<ExploreSqlOptions, (typeof sentNames)[number]>;

export function sqlPartOptions(options: SharedSqlOptions): SqlPartOptions {
  return pickGiven(options, sentNames);
}

type Alone = 'prefix' | 'replay' | keyof Saving<unknown>;

export interface SharedSqlOptions extends Omit<ExploreSqlOptions, Alone>, Saving<OneCheckpoint> {
  /** Schedules to run before the work is shared: fewer are done before a thread could begin. Default 200. */
  readonly schedulesAlone?: number;
}

/** Does a job: for threads. @throws as `exploreSql` does */
export async function exploreSqlPart(
  program: SqlProgram,
  options: SqlPartOptions,
  { prefix, timeMaxMs, resume, isSaved = false }: SqlJob,
  onProgress: (progress: SqlPartProgress) => void,
  signal?: AbortSignal,
): Promise<SqlPart> {
  const histories = new Set<string>();
  const outcomes = new Set<string>();
  let checkpoint: SqlCheckpoint | null = null;
  let progress: SqlPartProgress = { schedules: 0, violations: 0, share: 0 };
  const onCheckpoint = (made: SqlCheckpoint): void => {
    checkpoint = made;
    onProgress({ ...progress, checkpoint: made });
  };
  const result = await exploreSql(program, {
    ...options,
    prefix,
    ...(resume === undefined ? {} : { resume }),
    ...(isSaved ? { onCheckpoint } : {}),
    ...(timeMaxMs === null ? {} : { timeMaxMs }),
    ...(signal === undefined ? {} : { signal }),
    failuresMax: Infinity,
    onProgress: ({ schedules, violations, share }) => {
      progress = { schedules, violations, share };
      onProgress(progress);
    },
    onSeen: (seen) => {
      for (const history of seen.histories) histories.add(history);
      for (const outcome of seen.outcomes) outcomes.add(outcome);
    },
  });
  return { result, histories: [...histories], outcomes: [...outcomes], checkpoint };
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
  requireWorkers(threads);
  const budget = new Budget(options);
  const { schedulesMax = Infinity, schedulesAlone = 200, onStart, resume, onCheckpoint, ...same } = options;
  const saved = resume === undefined ? null : requireKind('shared', resume);
  const parts = saved?.parts ?? [];
  let made: SqlCheckpoint | null = null;
  const alone = await exploreSql(program, {
    ...same,
    schedulesMax: Math.min(schedulesMax, schedulesAlone),
    ...(saved === null ? {} : { resume: saved.alone }),
    onStart: (soFar, underWay, standing) =>
      onStart?.(soFar, underWay, standing && (() => ({ kind: 'shared', alone: standing(), parts }))),
    ...(onCheckpoint === undefined
      ? {}
      : {
          onCheckpoint: (checkpoint) => {
            made = checkpoint;
            onCheckpoint({ kind: 'shared', alone: checkpoint, parts });
          },
        }),
  });
  if (alone.stopped !== 'schedules' || schedulesMax <= schedulesAlone) return alone;
  const jobs = await prefixes(program, options, budget);
  if (parts.length > 0 && parts.length !== jobs.length && budget.over === null)
    throw otherExploration('the program begins otherwise');
  // Beginnings that were cut off are none to continue.
  const standing = made === null || budget.over !== null ? null : { kind: 'shared' as const, alone: made, parts };
  const result = await new Sharing(options, jobs, budget, alone, standing).run(threads);
  return Object.keys(options.ways ?? {}).length > 0 ? result : withJudgedAgain(program, { ...options, budget }, result);
}

class Sharing {
  readonly #options: SharedSqlOptions;
  readonly #jobs: readonly Prefix[];
  readonly #budget: Budget;
  /** What one thread found before the work was shared: those who share it find it again. */
  readonly #alone: ExploreSqlResult;
  readonly #parts: (SqlPart | undefined)[];
  readonly #progress: (SqlPartProgress | undefined)[];
  readonly #histories = new Set<string>();
  /** `null`: none are asked for. */
  readonly #saved: { readonly alone: SqlCheckpoint; readonly parts: (SqlCheckpoint | null)[] } | null;
  #next = 0;
  #stopped: ExploreSqlResult['stopped'] = null;

  constructor(
    options: SharedSqlOptions,
    jobs: readonly Prefix[],
    budget: Budget,
    alone: ExploreSqlResult,
    saved: SharedCheckpoint | null,
  ) {
    this.#options = options;
    this.#saved = saved && { alone: saved.alone, parts: jobs.map((_, i) => saved.parts[i] ?? null) };
    this.#jobs = jobs;
    this.#budget = budget;
    this.#alone = alone;
    this.#parts = jobs.map(() => undefined);
    this.#progress = jobs.map(() => undefined);
  }

  async run(threads: readonly SqlThread[]): Promise<ExploreSqlResult> {
    const { onStart } = this.#options;
    onStart?.(
      () => ({ ...this.#result(), complete: false }),
      () => 'the exploration',
      ...(this.#saved === null ? [] : [() => this.#standing()]),
    );
    const workers = threads.map((thread) => (index: number) => this.#explore(thread, index));
    const late = await shareJobs(
      workers,
      { next: () => this.#takeNext(), done: (index, part) => this.#add(index, part) },
      this.#budget,
    );
    // Threads stop by the budget, too, and give back what they found; one in which a run does not end is left alone.
    if (late.length > 0) this.#stopped ??= this.#budget.over;
    return this.#result();
  }

  /** The index of a job. */
  #takeNext(): number | null {
    if (this.#next === this.#jobs.length) return null;
    this.#stopped ??= this.#budget.over;
    if (this.#stopped !== null) return null;
    this.#next += 1;
    return this.#next - 1;
  }

  #explore(thread: SqlThread, index: number): Promise<SqlPart> {
    const timeMaxMs = this.#budget.deadlineMs === Infinity ? null : this.#budget.leftMs;
    const { positions } = this.#jobs[index] as Prefix;
    const resume = this.#saved?.parts[index] ?? null;
    const saving = this.#saved === null ? {} : { isSaved: true, ...(resume === null ? {} : { resume }) };
    return thread({ prefix: positions, timeMaxMs, ...saving }, (progress) => this.#report(index, progress));
  }

  #add(index: number, part: SqlPart): void {
    this.#parts[index] = part;
    this.#save(index, part.checkpoint);
    for (const history of part.histories) this.#histories.add(history);
    this.#options.onSeen?.(part);
    this.#stopped ??= part.result.stopped ?? this.#limitReached();
  }

  #save(index: number, checkpoint: SqlCheckpoint | null): void {
    if (this.#saved === null || checkpoint === null) return;
    this.#saved.parts[index] = checkpoint;
    this.#options.onCheckpoint?.(this.#standing());
  }

  #standing(): SharedCheckpoint {
    assert(this.#saved !== null, 'checkpoints were not asked for');
    return { kind: 'shared', alone: this.#saved.alone, parts: [...this.#saved.parts] };
  }

  #limitReached(): ExploreSqlResult['stopped'] {
    const { historiesMax = Infinity, schedulesMax = Infinity } = this.#options;
    if (this.#next === this.#jobs.length) return null;
    if (this.#histories.size >= historiesMax) return 'histories';
    const schedules = this.#parts.reduce((sum, part) => sum + (part?.result.schedules ?? 0), 0);
    return schedules >= schedulesMax ? 'schedules' : null;
  }

  #report(index: number, progress: SqlPartProgress): void {
    this.#progress[index] = progress;
    this.#save(index, progress.checkpoint ?? null);
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
      estimate: this.#alone.estimate,
    });
  }

  /** In the order of the prefixes, whichever was done first. */
  #result(): ExploreSqlResult {
    const parts = this.#parts.filter((part) => part !== undefined);
    const [first, ...rest] = parts.map(({ result }) => result);
    const violations = parts.reduce((sum, { result }) => sum + result.violations, 0);
    // Too early for the threads to have found again what is known.
    if (first === undefined || (violations < this.#alone.violations && this.#stopped !== null))
      return { ...this.#alone, complete: false, stopped: this.#stopped };
    return {
      ...mergedResults([first, ...rest], { stopped: this.#stopped, failuresMax: this.#options.failuresMax }),
      histories: this.#histories.size,
      outcomes: new Set(parts.flatMap(({ outcomes }) => outcomes)).size,
      estimate: this.#alone.estimate,
    };
  }
}

interface Prefix {
  readonly positions: readonly number[];
  /** Its share of the tree if every branch were of the same size. */
  readonly mass: number;
}

/** All first decisions, one level after the other, until there are enough of them. One run for each. */
async function prefixes(program: SqlProgram, options: SharedSqlOptions, budget: Budget): Promise<readonly Prefix[]> {
  const sources = new ControlledSources(program);
  sources.begin('now');
  try {
    return await prefixesOf(sources.program, options, budget);
  } finally {
    sources.end();
  }
}

async function prefixesOf(program: SqlProgram, options: SharedSqlOptions, budget: Budget): Promise<readonly Prefix[]> {
  let level: readonly Prefix[] = [{ positions: [], mass: 1 }];
  for (let depth = 0; depth < DEPTH_MAX && level.length < PREFIXES; depth += 1) {
    const next: Prefix[] = [];
    for (const { positions, mass } of level) {
      if (budget.over !== null) return level;
      options.onRun?.();
      const decisions = counting((i) => positions[i] ?? 0);
      await checkedRun(program, exploringRun(decisions, { ...options, budget }));
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
