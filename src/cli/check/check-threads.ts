/** The worker threads of `moirai check --jobs`: each takes the next history when it has done one. */
import type { Worker } from 'node:worker_threads';
import type { Checked, CheckedFile, CheckFileOptions, HistoryPath } from './check-file.ts';
import type { Host } from '../host.ts';
import { startThread } from '../threads/start-thread.ts';

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
  const workers = Array.from({ length: Math.min(jobs, paths.length) }, () =>
    startThread('check/check-worker', workerData),
  );
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
