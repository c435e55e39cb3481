/** A promise that may never settle, for so long and no longer. */
import { monotonicMs } from './clock.ts';

/** It had not settled when the time was over, or the user had had enough. */
export const LATE = Symbol('late');

/** Timers of more milliseconds go off at once. */
const timerMsMax = 2 ** 31 - 1;

/** What `promise` brings, or `LATE`. @param deadlineMs in `monotonicMs` @param signal aborted: late at once */
export async function before<T>(
  deadlineMs: number,
  promise: Promise<T>,
  signal?: AbortSignal,
): Promise<T | typeof LATE> {
  if (deadlineMs === Infinity && signal === undefined) return await promise;
  if (signal?.aborted === true) return LATE;
  let timer: NodeJS.Timeout | undefined;
  let giveUp = (): void => {};
  const late = new Promise<typeof LATE>((resolve) => {
    giveUp = () => resolve(LATE);
    if (deadlineMs !== Infinity)
      timer = setTimeout(giveUp, Math.min(Math.max(0, deadlineMs - monotonicMs()), timerMsMax));
    signal?.addEventListener('abort', giveUp);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}
