/** Threads that run the user's program: what they answer, and what is said where the program ends one. */
import type { Worker } from 'node:worker_threads';
import { InputError, type Place } from '../../base/index.ts';
import { uncaught } from '../modules/user-code.ts';

/** An error loses its class on its way between threads. */
export interface ThreadError {
  readonly kind: 'error';
  readonly code: string | null;
  readonly text: string;
  readonly place: Place | undefined;
  /** Where the error is the program's, its stack names the place. */
  readonly stack: string;
}

/** In the thread. */
export function threadError(error: unknown): ThreadError {
  const { message, stack = '', cause } = error as Error;
  const { code, place } = error instanceof InputError ? error : { code: null, place: undefined };
  const ofProgram = cause instanceof Error ? cause.stack : undefined;
  return { kind: 'error', code, text: message, place, stack: ofProgram ?? stack };
}

/**
 * Has a thread do a job.
 * @param madeOf what an answer of this kind of thread brings; `null`: another answer follows
 * @throws InputError what it answered with, `program/uncaught`, `program/process-exit`
 */
export function askThread<Made>(worker: Worker, job: unknown, madeOf: (answer: never) => Made | null): Promise<Made> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      worker.off('message', onMessage);
      worker.off('error', onError);
      worker.off('exit', onExit);
      settle();
    };
    const onMessage = (answer: { readonly kind: string }): void => {
      if (isError(answer)) return end(() => reject(errorOf(answer)));
      const made = madeOf(answer as never);
      if (made !== null) end(() => resolve(made));
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

function isError(answer: { readonly kind: string }): answer is ThreadError {
  return answer.kind === 'error';
}

/** In the thread that asked. */
export function errorOf({ code, text, place, stack }: ThreadError): Error {
  const error = code === null ? new Error(text) : new InputError(code, text, place);
  error.stack = stack;
  return error;
}

function exited(code: number): InputError {
  return new InputError('program/process-exit', `the program called process.exit(${code}): there is no verdict`);
}
