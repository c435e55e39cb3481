/** Nanoseconds of the machine's monotonic clock: processes on one machine share it, machines do not. */
export function monotonicNanoseconds(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e9 + nanoseconds;
}
