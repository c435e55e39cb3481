/** The one clock below the command line. Milliseconds that only go forward: for limits, never for results. */
export function monotonicMs(): number {
  return now();
}

/**
 * Microseconds since 1970: what `now()` in SQL is where no other clock is given. Those below a millisecond are made up, for the process has none;
 * a server's are rarely zero, and clients that cut them off should find that out.
 */
export function wallClockMicroseconds(): bigint {
  return BigInt(wallNow()) * 1_000n + 457n;
}

/** Taken once: programs under test are run with clocks that are forced, and limits must not follow those. */
const now = performance.now.bind(performance);
const wallNow = Date.now;

/** Nanoseconds of the machine's monotonic clock: processes on one machine share it, machines do not. */
export function monotonicNanoseconds(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e9 + nanoseconds;
}
