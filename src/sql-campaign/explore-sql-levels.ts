/** Explorations of one SQL program at several levels as a table, kinds of failures as graphs, an estimate as a line. */
import {
  type CycleDrawing,
  drawHistory,
  formatCount,
  formatTable,
  plain,
  printable,
  type Styler,
} from '../report/index.ts';
import { profileText } from '../serve/index.ts';
import type { Profile } from '../serve/index.ts';
import type { ScheduleEstimate } from './estimate-schedules.ts';
import type { ExploreSqlResult } from './explore-sql.ts';

/** A row a level, weakest first, and the weakest at which every schedule satisfies the invariant. */
export function formatSqlExplorations(
  results: readonly ExploreSqlResult[],
  { style = plain }: { readonly style?: Styler } = {},
): string {
  const [head = '', ...rows] = formatTable([
    ['level', 'schedules', 'histories', 'outcomes', 'violations', 'complete'],
    ...results.map(({ profile, schedules, histories, outcomes, violations, complete }) => [
      profileText(profile),
      ...[schedules, histories, outcomes, violations].map(formatCount),
      complete ? 'yes' : 'no',
    ]),
  ]);
  const weakest = results.find(({ violations, complete }) => violations === 0 && complete);
  return [
    style('name', head),
    ...rows.map((row, i) => ((results[i]?.violations ?? 0) > 0 ? style('bad', row) : row)),
    weakest === undefined
      ? 'at no level do all schedules satisfy the invariant'
      : `the weakest level at which all schedules satisfy the invariant: ${profileText(weakest.profile)}`,
  ].join('\n');
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
  const about = (n: number): string => formatCount(Number(n.toPrecision(2)));
  return (
    `${profileText(profile)}: about ${about(schedules)} schedules if nothing is left out ` +
    `(+- ${about(error)}; up to ${decisionsMax} decisions each; ${probes} random probes)`
  );
}
