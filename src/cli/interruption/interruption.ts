/**
 * Requests to end: Ctrl-C, a service manager, a terminal that is closed. The first aborts a signal, and commands end with what they have; the second
 * ends the process at once.
 */
import { endProcess } from './end-process.ts';

/** Exit codes as shells report them: 128 and the number of the signal. */
export const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** One Ctrl-C may arrive twice: from the terminal, and from npx, which passes it on. */
export const sameRequestMs = 200;

export function listenForInterruption(): AbortSignal {
  const interruption = new AbortController();
  let firstMs = Infinity;
  for (const [signal, code] of Object.entries(exitCodes)) {
    process.on(signal, () => {
      const nowMs = performance.now();
      if (nowMs - firstMs > sameRequestMs) endProcess(code);
      firstMs = Math.min(firstMs, nowMs);
      interruption.abort();
    });
  }
  return interruption.signal;
}
