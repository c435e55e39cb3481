/** What explorations of histories and of schedules come to, for scripts. */
import { conclude, type Evidence } from '../../evidence/index.ts';
import { answerOf, type Replayed } from '../../program/index.ts';
import type { ExitCode } from '../host.ts';

export interface Explored {
  readonly violations: number;
  readonly complete: boolean;
  readonly replayed: Replayed | null;
  readonly evidence?: Evidence;
}

/** A replay is satisfied where it is fixed: nothing is said of other runs. */
export function verdictOf({
  violations,
  complete,
  replayed,
  evidence,
}: Explored): 'violated' | 'satisfied' | 'unknown' {
  if (replayed !== null)
    return ({ 'still-fails': 'violated', fixed: 'satisfied', incompatible: 'unknown' } as const)[
      answerOf(replayed, violations)
    ];
  const concluded = evidence === undefined ? null : conclude(evidence).kind;
  if (concluded !== null) return concluded === 'at-fault' ? 'unknown' : concluded;
  return violations > 0 ? 'violated' : complete ? 'satisfied' : 'unknown';
}

/** Of several levels: 1 where one is violated, 2 where one is not known. */
export function exitCodeOf(results: readonly Explored[]): ExitCode {
  const verdicts = new Set(results.map(verdictOf));
  return verdicts.has('violated') ? 1 : verdicts.has('unknown') ? 2 : 0;
}
