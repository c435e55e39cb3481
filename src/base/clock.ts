/** The one clock below the command line: milliseconds that only go forward. For limits, never for results. */
export function monotonicMs(): number {
  return performance.now();
}
