/** A thread of `moirai explore --jobs` for a SQL program: it loads the program for itself. */
import { workerData } from 'node:worker_threads';
import { InputError, monotonicNanoseconds } from '../../base/index.ts';
import { isSqlProgram } from '../../program/index.ts';
import { exploreSqlPart, type SqlPartProgress, type SqlThread } from '../../explore/sql/index.ts';
import { loadProgram } from '../modules/load-program.ts';
import { answerJobs } from '../threads/answer-jobs.ts';
import { interruptionOf } from '../threads/shared-interruption.ts';
import type { SqlWorkerData } from './explore-sql-threads.ts';

answerJobs(load(workerData as SqlWorkerData));

async function load({ file, options, interrupted }: SqlWorkerData): Promise<SqlThread> {
  const signal = interruptionOf(interrupted);
  const program = await loadProgram(file);
  if (!isSqlProgram(program))
    throw new InputError('program/sql', 'the module made a SQL program before, and does not now');
  return (job, report) => exploreSqlPart(program, options, job, atIntervals(report), signal);
}

function atIntervals(report: (progress: SqlPartProgress) => void): (progress: SqlPartProgress) => void {
  let reportedAt = -Infinity;
  return (progress) => {
    const now = monotonicNanoseconds();
    if (now - reportedAt < REPORT_NS) return;
    reportedAt = now;
    report(progress);
  };
}

const REPORT_NS = 2e8;
