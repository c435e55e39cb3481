/** Hands out jobs to workers that do one at a time: threads, or functions that stand for them. */
import type { Budget } from './budget.ts';
import { monotonicMs } from './clock.ts';
import { before } from './deadline.ts';
import { InputError } from './input-error.ts';

/** Rejects where the job fails; then the whole work does. */
export type JobWorker<Job, Made> = (job: Job) => Promise<Made>;

export interface Jobs<Job, Made> {
  /** The next job; `null`: none waits now. Asked again after each job that is done. */
  readonly next: () => Job | null;
  readonly done: (job: Job, made: Made) => void;
}

/**
 * Until no job waits and none is under way, or until the budget is over: jobs are then still waited for, but not for long.
 * @returns the jobs that have not ended; what they bring is ignored
 * @throws InputError `option/threads` without a worker; what a worker rejects with
 */
export async function shareJobs<Job, Made>(
  workers: readonly JobWorker<Job, Made>[],
  { next, done }: Jobs<Job, Made>,
  { deadlineMs, signal }: Pick<Budget, 'deadlineMs' | 'signal'> = { deadlineMs: Infinity, signal: undefined },
): Promise<readonly Job[]> {
  requireWorkers(workers);
  const idle = [...workers];
  const underWay = new Set<Job>();
  let isOver = false;
  const allDone = new Promise<void>((resolve, reject) => {
    const handOut = (): void => {
      while (idle.length > 0) {
        const job = next();
        if (job === null) break;
        void work(idle.pop() as JobWorker<Job, Made>, job);
      }
      if (underWay.size === 0) resolve();
    };
    const work = async (worker: JobWorker<Job, Made>, job: Job): Promise<void> => {
      underWay.add(job);
      try {
        const made = await worker(job);
        if (isOver) return;
        underWay.delete(job);
        idle.push(worker);
        done(job, made);
        handOut();
      } catch (error) {
        reject(error);
      }
    };
    handOut();
  });
  try {
    await before(deadlineMs, allDone, signal);
    await before(monotonicMs() + GRACE_MS, allDone);
  } finally {
    isOver = true;
  }
  return [...underWay];
}

/** @throws InputError `option/threads` */
export function requireWorkers({ length }: readonly unknown[]): void {
  if (length === 0) throw new InputError('option/threads', 'at least one thread has to do the work');
}

/** After the budget is over. */
const GRACE_MS = 400;
