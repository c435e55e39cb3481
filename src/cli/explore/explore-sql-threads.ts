/** The worker threads of `moirai explore --jobs` for a SQL program. */
import type { SqlProgram } from '../../program/index.ts';
import type {
  ExploreSqlResult,
  SharedSqlOptions,
  SqlJob,
  SqlPart,
  SqlPartOptions,
  SqlPartProgress,
} from '../../explore/sql/index.ts';
import { sharedInterruption } from '../threads/shared-interruption.ts';
import { withThreads } from '../threads/with-threads.ts';

export interface SqlWorkerData {
  readonly file: string;
  readonly options: SqlPartOptions;
  /** Of `sharedInterruption`. */
  readonly interrupted: Int32Array;
}

/** @throws InputError when the program or an option is at fault */
export async function exploreSqlOnThreads(
  file: string,
  program: SqlProgram,
  options: SharedSqlOptions,
  jobs: number,
): Promise<ExploreSqlResult> {
  const interrupted = sharedInterruption(options.signal);
  // Loading it costs time that other commands do without.
  const { exploreSqlShared, sqlPartOptions } = await import('../sql-tools.ts');
  const data: SqlWorkerData = { file, options: sqlPartOptions(options), interrupted };
  return withThreads<SqlJob, SqlPart, SqlPartProgress, ExploreSqlResult>(
    jobs,
    { module: 'explore/explore-sql-worker', data },
    (threads) => exploreSqlShared(program, options, threads),
  );
}
