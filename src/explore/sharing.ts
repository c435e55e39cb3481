/**
 * One exploration on several threads. Subtrees share nothing, so the boundary of a job is a prefix: plain data. Whoever has nothing to do
 * takes some of what waits and gives back, after a moment, what it found and what is then left; so nobody sits on a large subtree alone. The
 * result does not depend on who did what.
 */
import { monotonicMs } from '../base/clock.ts';
import { InputError } from '../base/input-error.ts';
import type { Program } from '../program/index.ts';
import { Counterexamples, type Example } from './counterexamples.ts';
import { Exploration, type Waiting } from './exploration.ts';
import type { ExploreOptions, ExploreResult } from './explore.ts';
import { RUNS_BEFORE_GROWTH, smallestViolation } from './growth.ts';
import { Runs } from './runs.ts';

/** What a thread is asked to do: plain data. */
export interface ExploreJob {
  readonly waiting: readonly Waiting[];
  /** For the whole job, however much is left. */
  readonly timeMs: number;
}

/** What came of it: plain data. */
export interface ExplorePart {
  /** Without counterexamples. */
  readonly result: ExploreResult;
  /** Violations that the whole may not know yet. */
  readonly examples: readonly Example[];
  readonly doneMass: number;
  readonly waiting: readonly Waiting[];
}

export type ExploreThread = (job: ExploreJob) => Promise<ExplorePart>;

/** Does jobs, one at a time: for threads. What it learned of the sessions in one job, it knows in the next. */
export function exploreThread(program: Program, options: ExploreOptions): ExploreThread {
  const made = new Runs(program, options);
  const counterexamples = new Counterexamples(1);
  return async ({ waiting, timeMs }) => {
    const exploration = new Exploration(program, options, made, null, counterexamples);
    const end = monotonicMs() + timeMs;
    exploration.add(waiting);
    do await exploration.run(Infinity, 64);
    while (exploration.goesOn && monotonicMs() < end);
    const { doneMass } = exploration;
    const left = exploration.take();
    return { result: exploration.result(false), examples: counterexamples.takeNews(), doneMass, waiting: left };
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
  if (threads.length === 0) throw new InputError('option/threads', 'at least one thread has to do the work');
  const made = new Runs(program, options);
  const whole = new Exploration(program, options, made);
  const deadline = monotonicMs() + (options.timeMaxMs ?? Infinity);
  whole.add([{ prefix: [], mass: 1 }]);
  await whole.run(deadline, options.failsFast === true ? RUNS_BEFORE_GROWTH : RUNS_FIRST);
  const small = options.failsFast === true ? await smallestViolation(program, options, made, whole, deadline) : null;
  if (small !== null) return small;
  const pool: Waiting[] = whole.goesOn ? whole.take() : [];
  await new Promise<void>((resolve, reject) => {
    const idle = [...threads];
    const giveOut = (): void => {
      const timeMs = Math.min(JOB_MS, deadline - monotonicMs());
      if (timeMs <= 0 && pool.length > 0) whole.stop('time');
      while (!whole.hasStopped && pool.length > 0) {
        const thread = idle.pop();
        if (thread === undefined) return;
        // What has waited longest leads to the largest subtrees.
        const waiting = pool.splice(0, Math.max(1, Math.ceil(pool.length / (2 * threads.length))));
        void work(thread, { waiting, timeMs });
      }
      if (idle.length === threads.length) resolve();
    };
    const work = async (thread: ExploreThread, job: ExploreJob): Promise<void> => {
      try {
        const part = await thread(job);
        whole.merge(part);
        pool.push(...part.waiting);
        idle.push(thread);
        giveOut();
      } catch (error) {
        reject(error);
      }
    };
    giveOut();
  });
  whole.add(pool);
  return whole.result();
}

/** Small programs are done before a thread could begin. */
const RUNS_FIRST = 200;
const JOB_MS = 100;
