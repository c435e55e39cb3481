/** A promise that may never settle, for so long and no longer. */
import { monotonicMs } from './clock.ts';

/** It had not settled when the time was over. */
export const LATE = Symbol('late');

/** Timers of more milliseconds go off at once. */
const timerMsMax = 2 ** 31 - 1;

/** What `promise` brings, or `LATE`. @param deadlineMs in `monotonicMs` */
export async function before<T>(deadlineMs: number, promise: Promise<T>): Promise<T | typeof LATE> {
  if (deadlineMs === Infinity) return await promise;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), Math.min(Math.max(0, deadlineMs - monotonicMs()), timerMsMax));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
