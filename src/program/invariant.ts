/** Does the invariant hold at the end of a run? */
import { monotonicMs } from '../base/clock.ts';
import type { End, Program } from './program.ts';

export type InvariantVerdict =
  | { readonly kind: 'holds' }
  | { readonly kind: 'fails'; readonly message: string }
  | { readonly kind: 'late' };

/** @param deadlineMs when an invariant that is asynchronous must have settled, in `monotonicMs` */
export async function judge(program: Program, end: End, deadlineMs = Infinity): Promise<InvariantVerdict> {
  try {
    const judged = program.invariant(end);
    const verdict =
      judged instanceof Promise && deadlineMs !== Infinity ? await before(deadlineMs, judged) : await judged;
    if (verdict === LATE) return { kind: 'late' };
    if (verdict === false) return { kind: 'fails', message: 'the invariant does not hold' };
    return typeof verdict === 'string' ? { kind: 'fails', message: verdict } : { kind: 'holds' };
  } catch (error) {
    return { kind: 'fails', message: errorText(error) };
  }
}

const LATE = Symbol('the invariant did not settle in time');

/** What `promise` brings, or `LATE`. */
async function before<T>(deadlineMs: number, promise: Promise<T>): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), Math.max(0, deadlineMs - monotonicMs()));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What was thrown, in one line. */
export function errorText(error: unknown): string {
  return error instanceof Error
    ? `${error.name}: ${error.message.split('\n', 1)[0] ?? ''}`
    : `${String(error)} was thrown`;
}
