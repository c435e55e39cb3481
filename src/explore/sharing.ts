/**
 * One exploration on several threads. Subtrees share nothing, so the boundary of a job is a prefix: plain data. A thread without work
 * takes some of what waits and gives back, after a moment, what it found and what is then left; so no thread keeps a large subtree to itself. The
 * result does not depend on which thread did what.
 */
import { Budget, monotonicMs, pickGiven, requireWorkers, shareJobs } from '../base/index.ts';
import type { Program } from '../program/index.ts';
import { Counterexamples } from './counterexamples.ts';
import { Exploration } from './exploration.ts';
import { requireResumable } from './resumable.ts';
import { begin, drained, estimate, finish } from './explore.ts';
import { RUNS_BEFORE_GROWTH, smallestViolation } from './growth.ts';
import { Runs } from './runs.ts';
import type { ExploreOptions } from './explore-options.ts';
import type { ExploreResult } from './explore-result.ts';
import type { Waiting } from './checkpoint.ts';
import type { ExploreJob, ExplorePart, ExploreThread } from './explore-part.ts';

const sentNames = [
  'level',
  'base',
  'stepsMax',
  'timeoutMs',
  'turnsMax',
  'violationsMax',
  'failsFast',
  'reruns',
  'samplesFirst',
] as const;

/** Options of a thread: plain data. */
export type ExploreThreadOptions = Pick<ExploreOptions, (typeof sentNames)[number]>;

export function exploreThreadOptions(options: ExploreOptions): ExploreThreadOptions {
  return pickGiven(options, sentNames);
}

/** Does jobs, one at a time: for threads. What it learned of the sessions in one job, it knows in the next. */
export function exploreThread(program: Program, options: ExploreThreadOptions): ExploreThread {
  const made = new Runs(program, options);
  const counterexamples = new Counterexamples(1);
  return async ({ waiting, timeMs }) => {
    const exploration = new Exploration(program, options, made, null, counterexamples);
    const end = monotonicMs() + timeMs;
    exploration.add(waiting);
    await made.watching(async () => {
      do await exploration.run({ runsMax: 64 });
      while (exploration.canContinue && monotonicMs() < end);
      if (!exploration.hasStopped) await made.drain();
    });
    const { doneMass } = exploration;
    const left = exploration.releaseWaiting();
    return {
      result: exploration.result([]),
      examples: counterexamples.releaseNew(),
      doneMass,
      assumed: exploration.assumed,
      keys: made.keys.seen(),
      waiting: left,
    };
  };
}

/**
 * `explore` with the work done by threads. With `historiesMax` it stops soon after so many.
 * @throws InputError when the program or an option is at fault, `option/threads` where there are none
 */
export async function exploreShared(
  program: Program,
  options: ExploreOptions,
  threads: readonly ExploreThread[],
): Promise<ExploreResult> {
  requireResumable(options, 'one history');
  requireWorkers(threads);
  const budget = new Budget(options);
  const made = new Runs(program, options, budget);
  return made.watching(() => drained(made, shareOut(program, options, threads, made)));
}

async function shareOut(
  program: Program,
  options: ExploreOptions,
  threads: readonly ExploreThread[],
  made: Runs,
): Promise<ExploreResult> {
  const { budget } = made;
  const whole = new Exploration(program, options, made);
  let sharing: Sharing | null = null;
  options.onStart?.(
    () => whole.soFar(),
    () => whole.checkpoint(sharing?.waiting()),
  );
  begin(whole, options);
  await whole.run({ runsMax: options.failsFast === true ? RUNS_BEFORE_GROWTH : RUNS_FIRST });
  const small = options.failsFast === true ? await smallestViolation(program, options, made, whole) : null;
  if (small !== null) return small;
  if (whole.canContinue && options.estimateAfterMs !== undefined)
    whole.setEstimate(await estimate(program, options, budget));
  if (whole.canContinue) {
    sharing = new Sharing(whole, budget, threads, options.onTurn);
    await sharing.run();
    sharing = null;
  }
  await finish(whole, options, made);
  return whole.result();
}

/** What waits, and what the threads work on. */
class Sharing {
  readonly #whole: Exploration;
  readonly #budget: Budget;
  readonly #threads: readonly ExploreThread[];
  readonly #onTurn: ExploreOptions['onTurn'];
  readonly #pool: Waiting[];
  readonly #underWay = new Set<ExploreJob>();

  constructor(whole: Exploration, budget: Budget, threads: readonly ExploreThread[], onTurn: ExploreOptions['onTurn']) {
    this.#whole = whole;
    this.#budget = budget;
    this.#threads = threads;
    this.#onTurn = onTurn;
    this.#pool = whole.releaseWaiting();
  }

  /** What is then left waits in the whole again. */
  async run(): Promise<void> {
    await shareJobs(
      this.#threads,
      { next: () => this.#next(), done: (job, part) => this.#done(job, part) },
      this.#budget,
    );
    if (this.#underWay.size > 0 || this.#pool.length > 0) this.#whole.stop(this.#budget.over);
    this.#whole.change(() => {
      this.#whole.add(this.waiting());
      this.#pool.length = 0;
      this.#underWay.clear();
    });
  }

  /** What is not in the whole: nothing is known yet of what the threads work on. */
  waiting(): readonly Waiting[] {
    return [...this.#pool, ...[...this.#underWay].flatMap(({ waiting }) => waiting)];
  }

  #next(): ExploreJob | null {
    const timeMs = Math.min(JOB_MS, this.#budget.leftMs);
    if (timeMs <= 0 && this.#pool.length > 0) this.#whole.stop(this.#budget.over);
    if (this.#whole.hasStopped || this.#pool.length === 0) return null;
    // What has waited longest leads to the largest subtrees.
    const count = Math.max(1, Math.ceil(this.#pool.length / (2 * this.#threads.length)));
    const job = { waiting: this.#pool.slice(0, count), timeMs };
    this.#whole.change(() => {
      this.#underWay.add(job);
      this.#pool.splice(0, count);
    });
    return job;
  }

  #done(job: ExploreJob, part: ExplorePart): void {
    this.#whole.change(() => {
      this.#underWay.delete(job);
      this.#whole.merge(part);
      this.#pool.push(...part.waiting);
    });
    this.#whole.checkpointIfDue(this.waiting());
    this.#onTurn?.(0, () => 'the work of a thread');
  }
}

/** Small programs are done before a thread could begin. */
const RUNS_FIRST = 200;
const JOB_MS = 100;
