/** A thread of `moirai explore --jobs`: it loads the program for itself. */
import { parentPort, workerData } from 'node:worker_threads';
import { type ExploreJob, type ExploreThread, exploreThread } from '../../explore/index.ts';
import { checkProgram } from '../../program/index.ts';
import type { ExploreAnswer, ExploreWorkerData } from './explore-threads.ts';
import { loadDefault } from '../modules/load-program.ts';
import { type ThreadError, threadError } from '../threads/program-thread.ts';

const { file, options } = workerData as ExploreWorkerData;
const loading = load();
// Each job that awaits it reports the error.
loading.catch(() => {});
parentPort?.on('message', (job: ExploreJob) => void answer(job));

async function load(): Promise<ExploreThread> {
  return exploreThread(checkProgram(await loadDefault(file, 'program')), options);
}

async function answer(job: ExploreJob): Promise<void> {
  let message: ExploreAnswer | ThreadError;
  try {
    const thread = await loading;
    message = { kind: 'part', part: await thread(job) };
  } catch (error) {
    message = threadError(error);
  }
  parentPort?.postMessage(message, []);
}
