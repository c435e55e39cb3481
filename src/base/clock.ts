/** The one clock below the command line. Milliseconds that only go forward: for limits, never for results. */
export function monotonicMs(): number {
  return performance.now();
}

/** Microseconds since 1970, in whole milliseconds: what `now()` in SQL is where no other clock is given. */
export function wallClockMicroseconds(): bigint {
  return BigInt(Date.now()) * 1_000n;
}
