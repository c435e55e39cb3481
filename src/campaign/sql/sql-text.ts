/** What a campaign of a SQL program found, as text. */
import {
  anomalyText,
  answerLines,
  conclusionLines,
  formatStatements,
  planLines,
  type SqlFailure,
  type SqlTextOptions,
  toldGap,
} from '../../sql-program/index.ts';
import { conclude } from '../../evidence/index.ts';
import { cutOf } from '../index.ts';
import { counted, formatCount, plain, printable, type Styler, wrap } from '../../report/index.ts';
import { profileText } from '../../database/index.ts';
import type { SqlCampaignResult } from './sql-campaign-result.ts';

/** The text of a campaign: its verdict first, with what it takes for granted. Without a final line break. */
export function formatSqlResult(result: SqlCampaignResult, options: SqlTextOptions = {}): string {
  const { style = plain, width = 80 } = options;
  if (result.replayed !== null) return answerLines(result, options).join('\n');
  const { seed, distinctSchedules, distinctPlans, marks } = result;
  const never = [...marks].filter(([, held]) => held === 0);
  const conclusion = conclude(result.evidence);
  const where = `on ${profileText(result.profile)}`;
  const said = toldGap(conclusion);
  const plans = distinctPlans <= 1 ? '' : `, ${formatCount(distinctPlans)} combinations of access paths`;
  return [
    conclusion.kind === 'unknown'
      ? `${style('warning', `unknown ${where}`)}: ${printable(said.join(''))}`
      : passedText(result, style),
    ...conclusionLines(conclusion, { width, style, said }),
    `seed ${seed}; ${counted(distinctSchedules, 'distinct schedule')}${plans}`,
    ...fewSchedules(result).flatMap((text) => wrap(`warning: ${text}`, width)),
    ...never.flatMap(([name]) =>
      wrap(`warning: sometimes "${printable(name)}" held in no run; what it stands for was not tested`, width),
    ),
  ].join('\n');
}

/** Many runs that were the same few: the sessions hardly overlap, or the program is small enough for `explore`. */
function fewSchedules({ runs, distinctSchedules, evidence: { sessions } }: SqlCampaignResult): string[] {
  if (sessions.length < 2 || runs < RUNS_MIN || distinctSchedules > sessions.length) return [];
  return [`${counted(runs, 'run')} were only ${counted(distinctSchedules, 'schedule')}: the sessions hardly overlap`];
}

/** Fewer runs may be few schedules by chance. */
const RUNS_MIN = 20;

export function passedText({ runs, profile }: SqlCampaignResult, style: Styler = plain): string {
  return `${style('good', `passed ${counted(runs, 'run')}`)} on ${profileText(profile)}: the invariant held in every run`;
}

/** The verdict of a campaign in which a run failed. */
export function failureTexts(result: SqlCampaignResult): {
  readonly verdict: string;
  readonly where: string;
  /** What else went wrong. */
  readonly besides: readonly string[];
} {
  const { runs, invariantBroken, notRetried, profile } = result;
  const cut = cutOf(result);
  const broken = `violated in ${formatCount(invariantBroken)} of ${counted(runs, 'run')}`;
  const retries = `error not retried in ${formatCount(notRetried)} of ${counted(runs, 'run')}`;
  return {
    verdict: invariantBroken > 0 ? broken : retries,
    where: `on ${profileText(profile)}${cut === null ? '' : ` (${cut})`}`,
    besides: invariantBroken > 0 && notRetried > 0 ? [retries] : [],
  };
}

/** The text of a campaign in which a run failed, without a final line break: the run, its statements and what they show. */
export function formatSqlFailure(result: SqlCampaignResult, failure: SqlFailure, options: SqlTextOptions = {}): string {
  const { style = plain, width = 80, command, remedies } = options;
  const { runs, profile, seed } = result;
  const { verdict, where, besides } = failureTexts(result);
  const next = [
    ...(remedies === undefined ? [] : [`remedies: ${remedies}`]),
    ...(command === undefined ? [] : [`replay: ${command}`]),
  ];
  return [
    ...answerLines(result, options),
    `${style('bad', verdict)} ${where}: ${printable(failure.message)}`,
    ...besides,
    runs === 1
      ? `seed ${seed}`
      : `seed ${seed}; the shortest of the failing runs, run ${formatCount(result.firstFailingRun ?? 1)}:`,
    '',
    ...formatStatements(failure.statements, width),
    '',
    ...planLines(failure, width),
    ...anomalyText(failure, { profile, width, style }),
    ...(next.length === 0 ? [] : ['', ...next]),
  ].join('\n');
}
