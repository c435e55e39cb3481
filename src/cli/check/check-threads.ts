/** The worker threads of `moirai check --jobs`: each takes the next history when it has done one. */
import { shareJobs } from '../../base/index.ts';
import type { Host } from '../host.ts';
import { withThreads } from '../threads/with-threads.ts';
import type { Checked, CheckedFile, CheckFileOptions, HistoryPath } from './check-file.ts';

export interface CheckWorkerData {
  readonly options: CheckFileOptions;
  readonly columns: number | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type CheckNews =
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
  { soFar, done }: CheckListener,
): Promise<void> {
  const { NO_COLOR, FORCE_COLOR } = host.env;
  const data: CheckWorkerData = { options, columns: host.columns, env: { NO_COLOR, FORCE_COLOR } };
  const onNews = (index: number, news: CheckNews): void => {
    if (news.kind === 'message') host.err(news.text);
    else soFar(index, () => news.checked);
  };
  let count = 0;
  const next = (): number | null => (count < paths.length ? count++ : null);
  await withThreads<HistoryPath, CheckedFile, CheckNews, unknown>(
    Math.min(jobs, paths.length),
    { module: 'check/check-worker', data },
    (threads) => {
      const workers = threads.map(
        (thread) => (index: number) => thread(paths[index] as HistoryPath, (news) => onNews(index, news)),
      );
      return shareJobs(workers, { next, done });
    },
  );
}
