/** Lines of a report that a campaign and an exploration have in common. */
import { type RecordedRun, type Replayed, replayVerdict } from '../program/index.ts';
import { formatAnswer, printable, type Styler, wrap } from '../report/index.ts';
import type { SqlFailure } from './sql-failure.ts';

/** How a failing run is put into words. */
export interface SqlTextOptions {
  readonly width?: number;
  readonly style?: Styler;
  /** What replays the failing run. */
  readonly command?: string;
  /** What explores remedies. */
  readonly remedies?: string;
  /** Of a replay: the recorded run, where it is known. */
  readonly recorded?: RecordedRun;
}

/** Under which access paths it fails, where they are not the likely ones. */
export function planLines({ plan }: Pick<SqlFailure, 'plan'>, width: number): string[] {
  return plan.length === 0 ? [] : [...plan.flatMap((clause) => wrap(`with ${printable(clause)}`, width)), ''];
}

/** Of a replay: its answer. */
export function answerLines(
  { replayed, violations }: { readonly replayed: Replayed | null; readonly violations: number },
  options: SqlTextOptions,
): string[] {
  return replayed === null ? [] : formatAnswer(replayVerdict(replayed, violations, options.recorded), options);
}
