/** Threads of a command: each does one job at a time, by the module that calls `answerJobs`. */
import type { Worker } from 'node:worker_threads';
import { InputError } from '../../base/index.ts';
import { uncaught } from '../modules/user-code.ts';
import type { ThreadAnswer, ThreadError } from './answer-jobs.ts';
import { startThread } from './start-thread.ts';

export interface ThreadModule {
  /** From `src/cli`, without its ending. */
  readonly module: string;
  /** Plain data for the module. */
  readonly data: unknown;
}

/** @throws InputError what the thread answered with, `program/uncaught`, `program/process-exit` */
export type Thread<Job, Made, News> = (job: Job, onNews: (news: News) => void) => Promise<Made>;

/** What `use` brings, with `count` threads that end with it. A thread starts with its first job: small work needs none. */
export async function withThreads<Job, Made, News, Result>(
  count: number,
  { module, data }: ThreadModule,
  use: (threads: readonly Thread<Job, Made, News>[]) => Promise<Result>,
): Promise<Result> {
  const started: Worker[] = [];
  const start = (): Worker => {
    const worker = startThread(module, data);
    started.push(worker);
    return worker;
  };
  const threads = Array.from({ length: count }, (): Thread<Job, Made, News> => {
    let worker: Worker | null = null;
    return (job, onNews) => ask((worker ??= start()), job, onNews);
  });
  try {
    return await use(threads);
  } finally {
    await Promise.all(started.map((worker) => worker.terminate()));
  }
}

/** @throws InputError as a `Thread` does */
export function ask<Made>(worker: Worker, job: unknown, onNews: (news: never) => void): Promise<Made> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      worker.off('message', onMessage);
      worker.off('error', onError);
      worker.off('exit', onExit);
      settle();
    };
    const onMessage = (answer: ThreadAnswer<Made, never>): void => {
      switch (answer.kind) {
        case 'made':
          return end(() => resolve(answer.made));
        case 'news':
          return onNews(answer.news);
        case 'error':
          return end(() => reject(errorOf(answer)));
      }
    };
    const onError = (error: unknown): void => end(() => reject(uncaught(error)));
    const onExit = (code: number): void => end(() => reject(exited(code)));
    worker.on('message', onMessage);
    worker.on('error', onError);
    worker.on('exit', onExit);
    // It has ended since its last job.
    if (worker.threadId === -1) onExit(0);
    else worker.postMessage(job, []);
  });
}

function errorOf({ name, code, text, place, stack }: ThreadError): Error {
  if (code !== null) return Object.assign(new InputError(code, text, place), { stack });
  return Object.assign(new Error(text), { name, stack });
}

function exited(code: number): InputError {
  return new InputError('program/process-exit', `the program called process.exit(${code}): there is no verdict`);
}
