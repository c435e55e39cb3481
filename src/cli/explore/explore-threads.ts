/** The worker threads of `moirai explore --jobs`. */
import type { Worker } from 'node:worker_threads';
import {
  type ExploreOptions,
  type ExplorePart,
  type ExploreResult,
  exploreShared,
  type ExploreThread,
} from '../../explore/index.ts';
import type { Program } from '../../program/index.ts';
import { askThread } from '../threads/program-thread.ts';
import { startThread } from '../threads/start-thread.ts';

/** Options that can be sent: no functions. */
export type SentOptions = Pick<
  ExploreOptions,
  'level' | 'base' | 'stepsMax' | 'timeoutMs' | 'turnsMax' | 'violationsMax' | 'failsFast' | 'reruns' | 'samplesFirst'
>;

export interface ExploreWorkerData {
  readonly file: string;
  readonly options: SentOptions;
}

export interface ExploreAnswer {
  readonly kind: 'part';
  readonly part: ExplorePart;
}

/** @throws InputError when the program or an option is at fault */
export async function exploreOnThreads(
  file: string,
  program: Program,
  options: ExploreOptions,
  jobs: number,
): Promise<ExploreResult> {
  const { level, base, stepsMax, timeoutMs, turnsMax, violationsMax, failsFast, reruns, samplesFirst, onTurn } =
    options;
  const sent = { level, base, stepsMax, timeoutMs, turnsMax, violationsMax, failsFast, reruns, samplesFirst };
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as SentOptions;
  const workers: Worker[] = [];
  const threads = Array.from({ length: jobs }, (): ExploreThread => {
    let worker: Worker | null = null;
    return async (job) => {
      // Programs that are done before the first job need no thread.
      if (worker === null) workers.push((worker = startThread('explore/explore-worker', { file, options: given })));
      const part = await askThread(worker, job, ({ part: made }: ExploreAnswer) => made);
      onTurn?.(0, () => 'the work of a thread');
      return part;
    };
  });
  try {
    return await exploreShared(program, options, threads);
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}
