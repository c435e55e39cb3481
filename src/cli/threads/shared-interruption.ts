/** Ctrl-C, as threads see it: a signal does not pass between threads, memory does. */

/** For the data of threads: 1 once the signal is aborted. */
export function sharedInterruption(signal: AbortSignal | undefined): Int32Array {
  const interrupted = new Int32Array(new SharedArrayBuffer(4));
  const note = (): void => void Atomics.store(interrupted, 0, 1);
  if (signal?.aborted === true) note();
  else signal?.addEventListener('abort', note, { once: true });
  return interrupted;
}

/** In a thread. */
export function interruptionOf(interrupted: Int32Array): AbortSignal {
  const interruption = new AbortController();
  setInterval(() => {
    if (Atomics.load(interrupted, 0) === 1) interruption.abort();
  }, 50).unref();
  return interruption.signal;
}
