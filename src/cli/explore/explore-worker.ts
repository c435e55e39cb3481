/** A thread of `moirai explore --jobs`: it loads the program for itself. */
import { workerData } from 'node:worker_threads';
import { type ExploreThread, exploreThread } from '../../explore/index.ts';
import { checkProgram } from '../../program/index.ts';
import { loadDefault } from '../modules/load-program.ts';
import { answerJobs } from '../threads/answer-jobs.ts';
import type { ExploreWorkerData } from './explore-threads.ts';

answerJobs(load(workerData as ExploreWorkerData));

async function load({ file, options }: ExploreWorkerData): Promise<ExploreThread> {
  return exploreThread(checkProgram(await loadDefault(file, 'program')), options);
}
