/** What a campaign of a SQL program found, as text. */
import { summarize } from '../isolation/index.ts';
import { counted, formatCount, formatCycle, plain, printable, type Styler, wrap } from '../report/index.ts';
import { profileText } from '../serve/index.ts';
import type { SqlCampaignResult, SqlFailure } from './sql-campaign.ts';
import { evidenceIn, isLarge } from './sql-evidence.ts';
import { formatStatements } from './statement-log.ts';

export interface SqlTextOptions {
  readonly width?: number;
  readonly style?: Styler;
  /** What replays the failing run. */
  readonly command?: string;
}

export function formatSqlResult(result: SqlCampaignResult, { style = plain, width = 80 }: SqlTextOptions = {}): string {
  const { runs, seed, distinctSchedules, marks } = result;
  const never = [...marks].filter(([, held]) => held === 0);
  return [
    `${style('good', `passed ${counted(runs, 'run')}`)} on ${profileText(result.profile)}: the invariant held in every run`,
    `seed ${seed}; ${counted(distinctSchedules, 'distinct schedule')}`,
    ...never.flatMap(([name]) =>
      wrap(`warning: sometimes "${printable(name)}" held in no run; what it stands for was not tested`, width),
    ),
  ].join('\n');
}

export function formatSqlFailure(result: SqlCampaignResult, failure: SqlFailure, options: SqlTextOptions = {}): string {
  const { style = plain, width = 80, command } = options;
  const { runs, violations, profile, seed } = result;
  const head = style('bad', `violated in ${formatCount(violations)} of ${counted(runs, 'run')}`);
  return [
    `${head} on ${profileText(profile)}: ${printable(failure.message)}`,
    runs === 1
      ? `seed ${seed}`
      : `seed ${seed}; the shortest of the failing runs, run ${formatCount(result.firstFailingRun ?? 1)}:`,
    '',
    ...formatStatements(failure.statements, width),
    '',
    ...anomalyText(failure, width, style),
    ...(command === undefined ? [] : ['', `replay: ${command}`]),
  ].join('\n');
}

/** What is wrong with the rows that a failing run read and wrote. */
export function anomalyText({ history }: SqlFailure, width: number, style: Styler): string[] {
  if (isLarge(history)) return [];
  const found = evidenceIn(history);
  if (found === null)
    return wrap(
      'The reads of single rows are serializable; what a condition did not find (a phantom) is not in the history.',
      width,
    );
  const { level, verdict } = found;
  return [
    ...wrap(`The rows that were read and written are not ${level}: ${summarize(verdict)}`, width),
    ...formatCycle(history, verdict, width).map((line) => style('faint', line)),
  ];
}
