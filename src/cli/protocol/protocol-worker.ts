/** A thread of `moirai protocol --jobs`: it loads the protocol for itself. */
import { parentPort, workerData } from 'node:worker_threads';
import { checkShape, searchThreadOf } from '../../protocol/index.ts';
import { loadDefault } from '../modules/load-program.ts';
import { threadError } from '../threads/program-thread.ts';
import type { ProtocolWorkerData, WorkerAnswer } from './protocol-threads.ts';

const { file, ...options } = workerData as ProtocolWorkerData;
// Messages wait for the first listener, which is there when the protocol is.
const handle = searchThreadOf(checkShape(await loadDefault(file, 'protocol')), options);
parentPort?.on('message', (message: unknown) => {
  let answer: WorkerAnswer | null = null;
  try {
    const report = handle(message);
    if (report !== null) answer = { kind: 'report', report };
  } catch (error) {
    answer = threadError(error);
  }
  if (answer !== null) parentPort?.postMessage(answer, []);
});
