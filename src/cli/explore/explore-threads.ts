/** The worker threads of `moirai explore --jobs`. */
import {
  type ExploreJob,
  type ExploreOptions,
  type ExplorePart,
  type ExploreResult,
  exploreShared,
  type ExploreThreadOptions,
  exploreThreadOptions,
} from '../../explore/index.ts';
import type { Program } from '../../program/index.ts';
import { type Thread, withThreads } from '../threads/with-threads.ts';

export interface ExploreWorkerData {
  readonly file: string;
  readonly options: ExploreThreadOptions;
}

/** @throws InputError when the program or an option is at fault */
export function exploreOnThreads(
  file: string,
  program: Program,
  options: ExploreOptions,
  jobs: number,
): Promise<ExploreResult> {
  const data: ExploreWorkerData = { file, options: exploreThreadOptions(options) };
  const share = (threads: readonly Thread<ExploreJob, ExplorePart, never>[]): Promise<ExploreResult> =>
    exploreShared(
      program,
      options,
      threads.map((thread) => (job) => thread(job, () => {})),
    );
  return withThreads(jobs, { module: 'explore/explore-worker', data }, share);
}
