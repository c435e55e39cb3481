/** A thread of `moirai explore --jobs`: it loads the program for itself. */
import { parentPort, workerData } from 'node:worker_threads';
import { type ExploreJob, exploreThread } from '../explore/index.ts';
import { checkProgram } from '../program/index.ts';
import type { ExploreAnswer, ExploreWorkerData } from './explore-threads.ts';
import { loadDefault } from './load-program.ts';

const { file, options } = workerData as ExploreWorkerData;
// Messages wait for the first listener, which is there when the program is.
const program = checkProgram(await loadDefault(file, 'program'));
const thread = exploreThread(program, options);
parentPort?.on('message', (job: ExploreJob) => void answer(job));

async function answer(job: ExploreJob): Promise<void> {
  let text: ExploreAnswer;
  try {
    text = { kind: 'part', part: await thread(job) };
  } catch (error) {
    const { code = null, message, stack = '', cause } = error as Error & { readonly code?: string };
    // Where it is the program's, the stack names the place.
    text = { kind: 'error', code, text: message, stack: (cause instanceof Error ? cause.stack : undefined) ?? stack };
  }
  parentPort?.postMessage(text, []);
}
