/** What explorations of histories and of schedules come to, for scripts. */
import type { ExitCode } from './host.ts';

export interface Explored {
  readonly violations: number;
  readonly complete: boolean;
}

export function verdictOf({ violations, complete }: Explored): 'violated' | 'satisfied' | 'unknown' {
  return violations > 0 ? 'violated' : complete ? 'satisfied' : 'unknown';
}

/** Of several levels: 1 where one is violated, 2 where one is not known. */
export function exitCodeOf(results: readonly Explored[]): ExitCode {
  const verdicts = new Set(results.map(verdictOf));
  return verdicts.has('violated') ? 1 : verdicts.has('unknown') ? 2 : 0;
}
