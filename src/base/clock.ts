/** The one clock below the command line. Milliseconds that only go forward: for limits, never for results. */
export function monotonicMs(): number {
  return now();
}

/** Microseconds since 1970, in whole milliseconds: what `now()` in SQL is where no other clock is given. */
export function wallClockMicroseconds(): bigint {
  return BigInt(wallNow()) * 1_000n;
}

/** Taken once: programs under test are run with clocks that are forced, and limits must not follow those. */
const now = performance.now.bind(performance);
const wallNow = Date.now;
