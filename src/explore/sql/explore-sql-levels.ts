/** Explorations of one SQL program at several levels as a table, kinds of failures as graphs, an estimate as a line. */
import { cannotFail, conclude, gapText } from '../../evidence/index.ts';
import { assumedText } from '../../program/index.ts';
import {
  counted,
  type CycleDrawing,
  drawHistory,
  formatCount,
  formatEstimated,
  formatReportTable,
  plain,
  printable,
  type ReportTable,
  type Styler,
  toneOf,
  wrap,
} from '../../report/index.ts';
import { type Profile, profileText } from '../../database/index.ts';
import type { ExploreSqlResult, ScheduleEstimate } from './explore-sql-result.ts';

/** A row a level, weakest first; then where the invariant holds, and where a stricter level is not safer. */
export function formatSqlExplorations(
  results: readonly ExploreSqlResult[],
  { style = plain, width = 80 }: { readonly style?: Styler; readonly width?: number } = {},
): string {
  const lines = formatReportTable(sqlExplorationTable(results), style);
  return [...lines, ...summary(results).flatMap((text) => wrap(text, width))].join('\n');
}

/** A row a level; what follows from them is in `summary`. */
export function sqlExplorationTable(results: readonly ExploreSqlResult[]): ReportTable {
  return {
    title: 'Levels',
    head: ['level', 'schedules', 'histories', 'outcomes', 'invariant broken', 'error not retried', 'complete'],
    rows: results.map(({ profile, complete, violations, ...counts }) => ({
      cells: [
        profileText(profile),
        ...[counts.schedules, counts.histories, counts.outcomes, counts.invariantBroken, counts.notRetried].map(
          formatCount,
        ),
        complete ? 'yes' : 'no',
      ],
      tone: toneOf(violations, complete),
    })),
    note: null,
  };
}

export function summary(results: readonly ExploreSqlResult[]): string[] {
  const conclusions = results.map(({ evidence, invariantBroken }) =>
    conclude({ ...evidence, violations: invariantBroken }),
  );
  const weakest = conclusions.findIndex(({ kind }) => kind === 'satisfied');
  const gaps = new Set(conclusions.flatMap((each) => (each.kind === 'unknown' ? each.gaps.map(gapText) : [])));
  return [
    weakest === -1
      ? `at no level ${gaps.size > 0 ? 'is the invariant known to hold' : 'does the invariant hold'} in all schedules`
      : `the weakest level at which the invariant ${gaps.size > 0 ? 'is known to hold' : 'holds'} in all schedules: ${levelOf(results[weakest])}`,
    ...(weakest === -1 ? [] : notSafer(results.slice(weakest))),
    ...[...new Set(results.flatMap(({ evidence }) => cannotFail(evidence.invariant)))].map(assumedText),
    ...[...gaps].map((clause) => `unknown: ${printable(clause)}`),
  ];
}

/** Levels above the weakest at which the invariant holds, with what goes wrong there all the same. */
function notSafer([weakest, ...stricter]: readonly ExploreSqlResult[]): string[] {
  const lines = (each: ExploreSqlResult): string[] => {
    const { schedules, invariantBroken, notRetried } = each;
    const all = `${levelOf(each)}: `;
    return [
      ...(invariantBroken > 0 ? [`${all}the invariant is broken in ${portion(invariantBroken, schedules)}`] : []),
      ...(notRetried > 0
        ? [
            `${all}${portion(notRetried, schedules)} ${notRetried === 1 ? 'ends' : 'end'} with an error that is not retried`,
          ]
        : []),
    ];
  };
  if (weakest === undefined) return [];
  const isSafe = weakest.violations === 0;
  return [
    ...lines(weakest),
    ...stricter.flatMap(lines).map((line) => (isSafe ? `stricter is not safer here: ${line}` : line)),
  ];
}

function portion(count: number, all: number): string {
  return `${formatCount(count)} of ${counted(all, 'schedule')}`;
}

function levelOf(result: ExploreSqlResult | undefined): string {
  return result === undefined ? '' : profileText(result.profile);
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
