/** In a thread: each message is a job, and its answers are what the job makes, news on the way there, or the error that ended it. */
import { parentPort } from 'node:worker_threads';
import { InputError, type Place } from '../../base/index.ts';

export type ThreadAnswer<Made, News> =
  | { readonly kind: 'made'; readonly made: Made }
  | { readonly kind: 'news'; readonly news: News }
  | ThreadError;

/** An error loses its class on its way between threads. */
export interface ThreadError {
  readonly kind: 'error';
  readonly name: string;
  readonly code: string | null;
  readonly text: string;
  readonly place: Place | undefined;
  /** Where the error is the program's, its stack names the place. */
  readonly stack: string;
}

type DoJob<Job, Made, News> = (job: Job, report: (news: News) => void) => Made | Promise<Made>;

/** @param loading brings the function that does a job; where it rejects, each job is answered by that error */
export function answerJobs<Job, Made, News = never>(loading: Promise<DoJob<Job, Made, News>>): void {
  // Each job that awaits it reports the error.
  loading.catch(() => {});
  const send = (answer: ThreadAnswer<Made, News>): void => parentPort?.postMessage(answer, []);
  const answer = async (job: Job): Promise<void> => {
    try {
      const doJob = await loading;
      send({ kind: 'made', made: await doJob(job, (news) => send({ kind: 'news', news })) });
    } catch (error) {
      send(threadError(error));
    }
  };
  parentPort?.on('message', (job: Job) => void answer(job));
}

function threadError(error: unknown): ThreadError {
  const { name, message, stack = '', cause } = error as Error;
  const { code, place } = error instanceof InputError ? error : { code: null, place: undefined };
  const ofProgram = cause instanceof Error ? cause.stack : undefined;
  return { kind: 'error', name, code, text: message, place, stack: ofProgram ?? stack };
}
