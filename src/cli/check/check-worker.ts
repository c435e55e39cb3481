/** A thread of `moirai check --jobs`. */
import { workerData } from 'node:worker_threads';
import { answerJobs } from '../threads/answer-jobs.ts';
import { listFolder, openInput } from '../files/input-files.ts';
import { type CheckedFile, checkFile, type HistoryPath } from './check-file.ts';
import type { CheckNews, CheckWorkerData } from './check-threads.ts';

const { options, columns, env } = workerData as CheckWorkerData;

answerJobs(
  Promise.resolve((path: HistoryPath, report: (news: CheckNews) => void): Promise<CheckedFile> => {
    const host = { openInput, listFolder, columns, env, err: (text: string) => report({ kind: 'message', text }) };
    return checkFile(path, options, host, (soFar) => report({ kind: 'so-far', checked: soFar() }));
  }),
);
