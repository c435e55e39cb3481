/** Who explores for `moirai analyze --jobs`: this thread and others, each one program at a time. */
import type { Explored, Explorer, WitnessJob } from '../../analyze/index.ts';
import { sharedInterruption } from '../threads/shared-interruption.ts';
import { withThreads } from '../threads/with-threads.ts';

export interface WitnessWorkerData {
  /** Of `sharedInterruption`. */
  readonly interrupted: Int32Array;
}

/** @param use gets one explorer for each job: this thread is the last, so that what one can do starts no other */
export async function withExplorers<Result>(
  jobs: number,
  signal: AbortSignal,
  use: (explorers: readonly Explorer[]) => Promise<Result>,
): Promise<Result> {
  // Loading it costs time that other commands do without.
  const { exploringHere, exploringIn } = await import('../../analyze/index.ts');
  const data: WitnessWorkerData = { interrupted: sharedInterruption(signal) };
  return withThreads<WitnessJob, Explored, never, Result>(
    jobs - 1,
    { module: 'analyze/witness-worker', data },
    (threads) => use([...threads.map((thread) => exploringIn((job) => thread(job, () => undefined))), exploringHere()]),
  );
}
