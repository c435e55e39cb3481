/** The worker threads of `moirai protocol --jobs`. */
import { Worker } from 'node:worker_threads';
import { InputError } from '../../base/index.ts';
import type { SearchThread } from '../../protocol/index.ts';

export interface ProtocolWorkerData {
  readonly file: string;
  readonly parameters: Readonly<Record<string, number>>;
  readonly symmetry: boolean;
}

export type WorkerAnswer =
  | { readonly kind: 'report'; readonly report: unknown }
  | { readonly kind: 'error'; readonly code: string | null; readonly text: string; readonly stack: string };

export interface ProtocolThreads {
  readonly threads: readonly SearchThread[];
  readonly stop: () => Promise<void>;
}

export function startThreads(count: number, workerData: ProtocolWorkerData): ProtocolThreads {
  const workers = Array.from({ length: count }, () => startWorker(workerData));
  return {
    threads: workers.map(threadOf),
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

/** From sources a worker needs the loader that this thread has: it does not inherit it. */
function startWorker(workerData: ProtocolWorkerData): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./protocol-worker.js', import.meta.url), { workerData });
  }
  const loader = import.meta.resolve('tsx/esm/api');
  const worker = new URL('./protocol-worker.ts', import.meta.url).href;
  const code = `import('${loader}').then(({ register }) => { register(); return import('${worker}'); })`;
  return new Worker(code, { eval: true, workerData });
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

/** An error loses its class on its way between threads. */
function errorOf({ code, text, stack }: WorkerAnswer & { readonly kind: 'error' }): Error {
  const error = code === null ? new Error(text) : new InputError(code, text);
  error.stack = stack;
  return error;
}
