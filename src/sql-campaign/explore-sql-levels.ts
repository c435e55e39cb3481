/** Explorations of one SQL program at several levels as a table, kinds of failures as graphs, an estimate as a line. */
import {
  type CycleDrawing,
  drawHistory,
  formatEstimated,
  formatLevels,
  plain,
  printable,
  type Styler,
} from '../report/index.ts';
import { type Profile, profileText } from '../serve/index.ts';
import type { ScheduleEstimate } from './estimate-schedules.ts';
import type { ExploreSqlResult } from './explore-sql.ts';

/** A row a level, weakest first, and the weakest at which every schedule satisfies the invariant. */
export function formatSqlExplorations(
  results: readonly ExploreSqlResult[],
  { style = plain }: { readonly style?: Styler } = {},
): string {
  const levels = results.map(({ profile, schedules, histories, outcomes, violations, complete }) => ({
    level: profileText(profile),
    counts: { schedules, histories, outcomes },
    violations,
    complete,
  }));
  return formatLevels(levels, 'schedules', style);
}

/** Each kind of failure: its transactions, which read saw which write, and the cycle. */
export function drawSqlFailures({ failures, profile }: ExploreSqlResult, title: string): CycleDrawing[] {
  return failures.map(({ history, anomaly, message }) =>
    drawHistory(
      history,
      `${title}: ${anomaly ?? 'a violation'} on ${profileText(profile)}: ${printable(message)}`,
      'ignored',
    ),
  );
}

/** What the probes say, in one line. */
export function formatScheduleEstimate(
  profile: Profile,
  { schedules, error, probes, decisionsMax }: ScheduleEstimate,
): string {
  return (
    `${profileText(profile)}: about ${formatEstimated(schedules)} schedules if nothing is left out ` +
    `(+- ${formatEstimated(error)}; up to ${decisionsMax} decisions each; ${probes} random probes)`
  );
}
