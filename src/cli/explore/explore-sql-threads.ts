/** The worker threads of `moirai explore --jobs` for a SQL program. */
import type { Worker } from 'node:worker_threads';
import type { SqlProgram } from '../../program/index.ts';
import { askThread } from '../threads/program-thread.ts';
import type {
  ExploreSqlResult,
  SharedSqlOptions,
  SqlPart,
  SqlPartOptions,
  SqlPartProgress,
  SqlThread,
} from '../../explore/sql/index.ts';
import { startThread } from '../threads/start-thread.ts';

export interface SqlWorkerData {
  readonly file: string;
  readonly options: SqlPartOptions;
  /** Shared: 1 once the user has had enough. */
  readonly interrupted: Int32Array;
}

export type SqlAnswer =
  | { readonly kind: 'progress'; readonly progress: SqlPartProgress }
  | { readonly kind: 'part'; readonly part: SqlPart };

/** @throws InputError when the program or an option is at fault */
export async function exploreSqlOnThreads(
  file: string,
  program: SqlProgram,
  options: SharedSqlOptions,
  jobs: number,
): Promise<ExploreSqlResult> {
  const { profile, ways, historiesMax, schedulesMax, timeoutMs, failsFast, reduces } = options;
  const sent = { profile, ways, historiesMax, schedulesMax, timeoutMs, failsFast, reduces };
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as SqlPartOptions;
  const workers: Worker[] = [];
  const interrupted = new Int32Array(new SharedArrayBuffer(4));
  options.signal?.addEventListener('abort', () => void Atomics.store(interrupted, 0, 1));
  const threads = Array.from({ length: jobs }, (): SqlThread => {
    let worker: Worker | null = null;
    return (job, onProgress) => {
      // Programs that are done before the first job need no thread.
      if (worker === null)
        workers.push((worker = startThread('explore/explore-sql-worker', { file, options: given, interrupted })));
      return askThread(worker, job, (answer: SqlAnswer) => {
        if (answer.kind === 'part') return answer.part;
        onProgress(answer.progress);
        return null;
      });
    };
  });
  // Loading it costs time that other commands do without.
  const { exploreSqlShared } = await import('../sql-tools.ts');
  try {
    return await exploreSqlShared(program, options, threads);
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}
