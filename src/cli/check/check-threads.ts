/** The worker threads of `moirai check --jobs`: each takes the next history when it has done one. */
import { Worker } from 'node:worker_threads';
import type { Checked, CheckedFile, CheckFileOptions, HistoryPath } from './check-file.ts';
import type { Host } from '../host.ts';

export interface CheckWorkerData {
  readonly options: CheckFileOptions;
  readonly columns: number | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type CheckAnswer =
  | { readonly kind: 'done'; readonly checked: CheckedFile }
  | { readonly kind: 'so-far'; readonly checked: Checked }
  | { readonly kind: 'message'; readonly text: string };

export interface CheckListener {
  /** What is known of a history that is not done. */
  readonly soFar: (index: number, soFar: () => Checked) => void;
  /** In the order in which they end. */
  readonly done: (index: number, checked: CheckedFile) => void;
}

export async function checkOnThreads(
  paths: readonly HistoryPath[],
  jobs: number,
  options: CheckFileOptions,
  host: Host,
  listener: CheckListener,
): Promise<void> {
  const { NO_COLOR, FORCE_COLOR } = host.env;
  const workerData: CheckWorkerData = { options, columns: host.columns, env: { NO_COLOR, FORCE_COLOR } };
  const workers = Array.from({ length: Math.min(jobs, paths.length) }, () => startWorker(workerData));
  let next = 0;
  try {
    await Promise.all(
      workers.map(async (worker) => {
        for (let index = next++; index < paths.length; index = next++) {
          const onSoFar = listener.soFar.bind(null, index);
          listener.done(index, await answerOf(worker, paths[index] as HistoryPath, host, onSoFar));
        }
      }),
    );
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

/** From sources a worker needs the loader that this thread has: it does not inherit it. */
function startWorker(workerData: CheckWorkerData): Worker {
  if (!import.meta.url.endsWith('.ts'))
    return new Worker(new URL('./check-worker.js', import.meta.url), { workerData });
  const loader = import.meta.resolve('tsx/esm/api');
  const worker = new URL('./check-worker.ts', import.meta.url).href;
  const code = `import('${loader}').then(({ register }) => { register(); return import('${worker}'); })`;
  return new Worker(code, { eval: true, workerData });
}

function answerOf(
  worker: Worker,
  path: HistoryPath,
  { err }: Host,
  onSoFar: (soFar: () => Checked) => void,
): Promise<CheckedFile> {
  return new Promise((resolve, reject) => {
    const onMessage = (answer: CheckAnswer): void => {
      if (answer.kind === 'message') return err(answer.text);
      if (answer.kind === 'so-far') return onSoFar(() => answer.checked);
      worker.off('message', onMessage);
      worker.off('error', reject);
      resolve(answer.checked);
    };
    worker.on('message', onMessage);
    worker.once('error', reject);
    worker.postMessage(path, []);
  });
}
