/** The worker threads of `moirai protocol --jobs`. */
import type { Worker } from 'node:worker_threads';
import type { SearchThread } from '../../protocol/index.ts';
import { errorOf, type ThreadError } from '../threads/program-thread.ts';
import { startThread } from '../threads/start-thread.ts';

export interface ProtocolWorkerData {
  readonly file: string;
  readonly parameters: Readonly<Record<string, number>>;
  readonly symmetry: boolean;
}

export type WorkerAnswer = { readonly kind: 'report'; readonly report: unknown } | ThreadError;

export interface ProtocolThreads {
  readonly threads: readonly SearchThread[];
  readonly stop: () => Promise<void>;
}

export function startThreads(count: number, workerData: ProtocolWorkerData): ProtocolThreads {
  const workers = Array.from({ length: count }, () => startThread('protocol/protocol-worker', workerData));
  return {
    threads: workers.map(threadOf),
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

type Report = Awaited<ReturnType<SearchThread['receive']>>;

function threadOf(worker: Worker): SearchThread {
  return {
    send: (message) => worker.postMessage(message, []),
    receive: () =>
      new Promise<Report>((resolve, reject) => {
        const onMessage = (answer: WorkerAnswer): void => {
          worker.off('error', reject);
          if (answer.kind === 'report') resolve(answer.report as Report);
          else reject(errorOf(answer));
        };
        worker.once('message', onMessage);
        worker.once('error', reject);
      }),
  };
}
