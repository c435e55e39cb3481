/** A thread of `moirai protocol --jobs`: it loads the protocol for itself. */
import { workerData } from 'node:worker_threads';
import { checkShape, type SearchMessage, type SearchReport, searchThreadOf } from '../../protocol/index.ts';
import { loadDefault } from '../modules/load-program.ts';
import { answerJobs } from '../threads/answer-jobs.ts';
import type { ProtocolWorkerData } from './protocol-threads.ts';

answerJobs(load(workerData as ProtocolWorkerData));

async function load({ file, ...options }: ProtocolWorkerData): Promise<(message: SearchMessage) => SearchReport> {
  return searchThreadOf(checkShape(await loadDefault(file, 'protocol')), options);
}
