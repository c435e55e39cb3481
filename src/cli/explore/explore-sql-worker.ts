/** A thread of `moirai explore --jobs` for a SQL program: it loads the program for itself. */
import { parentPort, workerData } from 'node:worker_threads';
import { InputError } from '../../base/index.ts';
import { isSqlProgram } from '../../program/index.ts';
import { exploreSqlPart, type SqlJob, type SqlPartProgress } from '../../explore/sql/index.ts';
import type { SqlAnswer, SqlWorkerData } from './explore-sql-threads.ts';
import { loadProgram } from '../modules/load-program.ts';
import { monotonicNanoseconds } from '../monotonic-clock.ts';
import { type ThreadError, threadError } from '../threads/program-thread.ts';

const { file, options, interrupted } = workerData as SqlWorkerData;
const loading = loadProgram(file);
// Each job that awaits it reports the error.
loading.catch(() => {});
parentPort?.on('message', (job: SqlJob) => void answer(job));

const interruption = new AbortController();
setInterval(() => {
  if (Atomics.load(interrupted, 0) === 1) interruption.abort();
}, 50).unref();

async function answer(job: SqlJob): Promise<void> {
  let toldAt = -Infinity;
  try {
    const program = await loading;
    if (!isSqlProgram(program))
      throw new InputError('program/sql', 'the module made a SQL program before, and does not now');
    const onProgress = (progress: SqlPartProgress): void => {
      const now = monotonicNanoseconds();
      if (now - toldAt < TELL_NS) return;
      toldAt = now;
      tell({ kind: 'progress', progress });
    };
    const part = await exploreSqlPart(program, options, job, onProgress, interruption.signal);
    tell({ kind: 'part', part });
  } catch (error) {
    tell(threadError(error));
  }
}

function tell(message: SqlAnswer | ThreadError): void {
  parentPort?.postMessage(message, []);
}

const TELL_NS = 2e8;
