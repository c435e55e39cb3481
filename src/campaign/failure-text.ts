/** What a campaign found, as text for the person who wrote the program: within one screen, the next step last. */
import { stopText } from '../base/index.ts';
import { type ConstrainingLevel, summarize, explainNoViolation } from '../isolation/index.ts';
import { conclude, gapText } from '../evidence/index.ts';
import {
  counted,
  formatAnswer,
  formatCount,
  formatCycle,
  formatReportTable,
  formatSessions,
  formatTable,
  plain,
  printable,
  type ReportTable,
  type Styler,
  toneOf,
  wrap,
} from '../report/index.ts';
import { assumedText, type RecordedRun, replayVerdict, withoutInvariant } from '../program/index.ts';
import type { CampaignResult } from './campaign-options.ts';
import type { Failure } from './failure.ts';
import type { Timeout } from './single-run.ts';

/** How a result is put into words. */
export interface ResultText {
  /** Columns of the terminal. Default 80. */
  readonly width?: number;
  readonly style?: Styler;
  /** Of a replay: the recorded run, where it is known. */
  readonly recorded?: RecordedRun;
}

/** How a failing run is put into words. */
export interface FailureText extends ResultText {
  /** What replays the reduced run. Default: the option for `testProgram`. */
  readonly command?: string;
  /** The weakest level at which the program passes; `null` when it fails at all of them. Absent: not searched for. */
  readonly weakestPassing?: ConstrainingLevel | null | undefined;
  /** How many runs were made at each of the other levels to say so. */
  readonly runsAtOtherLevels?: number;
}

/** The text of a campaign in which a run failed, without a final line break. */
export function formatFailure(result: CampaignResult, context: FailureText = {}): string {
  const { failure, runs } = result;
  const { style = plain, width = 80 } = context;
  if (failure === null) return formatResult(result, context);
  const cut = cutOf(result);
  const verdict = style('bad', violatedText(result)) + (cut === null ? '' : ` (${cut})`);
  const first = `first in run ${formatCount(result.firstFailingRun ?? 1)}; the smallest that was found:`;
  const remedy = remedyText(failure, context);
  const command = context.command ?? replayInTest(result);
  return [
    ...replayLines(result, context),
    `${verdict}: ${printable(failure.message)}`,
    runs === 1 ? `seed ${result.seed}` : `seed ${result.seed}; ${first}`,
    '',
    ...formatSessions(failure.history, { width, style, older: failure.olderReadPlaces }),
    '',
    ...wrap(olderReadsText(failure), width),
    ...anomalyText(failure, width, style),
    ...(remedy === '' ? [] : wrap(remedy, width)),
    '',
    `replay: ${command}`,
  ].join('\n');
}

/** The call that replays the failing run in a test; `null`: none failed. */
export function replayInTest({ level, failure }: CampaignResult): string | null {
  return failure === null ? null : `testProgram(..., { level: '${level}', replay: '${failure.replay}' })`;
}

export function violatedText({ level, runs, violations }: CampaignResult): string {
  return `violated in ${formatCount(violations)} of ${counted(runs, 'run')} at ${level}`;
}

/** Why fewer runs were made than were asked for, as a clause; `null` where all were. */
export function cutOf({ stopped }: Pick<CampaignResult, 'stopped'>): string | null {
  return stopped === null || stopped === 'violation' ? null : stopText(stopped);
}

/** The text of a campaign in which no run failed: what was tried, and whether it could have found anything. */
export function formatResult(result: CampaignResult, options: ResultText = {}): string {
  const { runs, seed, distinctStates, marks } = result;
  const { style = plain, width = 80 } = options;
  if (result.replayed !== null) return replayLines(result, options).join('\n');
  const counters = [...marks].filter(([, held]) => held > 0);
  const never = [...marks].filter(([, held]) => held === 0);
  const warn = (text: string): string[] => wrap(`warning: ${text}`, width).map((line) => style('warning', line));
  return [
    ...verdictLines(result, options),
    `seed ${seed}; ${counted(distinctStates, 'distinct state')}`,
    ...formatTable(counters.map(([name, held]) => [`sometimes "${printable(name)}"`, `in ${counted(held, 'run')}`])),
    ...never.flatMap(([name]) =>
      warn(`sometimes "${printable(name)}" held in no run; what it stands for was not tested`),
    ),
    ...(runs > 1 && distinctStates === 1 ? warn('every run read the same values') : []),
  ].join('\n');
}

export function verdictLines(
  { level, runs, evidence }: CampaignResult,
  { style = plain, width = 80 }: ResultText,
): string[] {
  const conclusion = conclude(evidence);
  const held = `the invariant held in ${counted(runs, 'run')}`;
  switch (conclusion.kind) {
    case 'satisfied':
      return [
        `${style('good', `passed ${counted(runs, 'run')} at ${level}`)}: ${conclusion.assumed.includes(withoutInvariant) ? 'no run failed' : 'the invariant held in every run'}`,
        ...conclusion.assumed.flatMap((each) => wrap(printable(assumedText(each)), width)),
      ];
    case 'unknown': {
      const { cut } = evidence;
      const [first = '', ...others] = conclusion.gaps.map((gap) => printable(gapText(gap)));
      const unknown = style('warning', `unknown at ${level}`);
      if (others.length === 0 && cut.length === 1) return [`${unknown}: ${held} (${first})`];
      return [`${unknown}: ${first}`, ...others.flatMap((each) => wrap(each, width)), held];
    }
    case 'at-fault':
      return wrap(conclusion.message, width);
    case 'violated':
      return [style('bad', `violated at ${level}`)];
  }
}

/** Of a replay: its answer. */
function replayLines({ replayed, violations }: CampaignResult, options: ResultText): string[] {
  return replayed === null ? [] : formatAnswer(replayVerdict(replayed, violations, options.recorded), options);
}

/** The table of several levels, weakest first. */
export function formatLevels(results: readonly CampaignResult[], options: ResultText = {}): string {
  const { style = plain } = options;
  const cuts = [...new Set(results.map(cutOf))].filter((cut) => cut !== null);
  const seeds = [...new Set(results.map(({ seed }) => seed))];
  return [
    ...formatReportTable(campaignTable(results), style),
    `seed ${seeds.join(', ')}`,
    ...cuts.map((cut) => style('warning', cut)),
  ].join('\n');
}

export function campaignTable(results: readonly CampaignResult[]): ReportTable {
  return {
    title: 'Levels',
    head: ['level', 'runs', 'violated', 'distinct states', 'first failing run'],
    rows: results.map((result) => ({
      cells: [
        result.level,
        formatCount(result.runs),
        formatCount(result.violations),
        formatCount(result.distinctStates),
        result.firstFailingRun === null ? '-' : formatCount(result.firstFailingRun),
      ],
      tone: toneOf(result.violations, conclude(result.evidence).kind === 'satisfied'),
    })),
    note: null,
  };
}

/** One line about a run that did not end. */
export function formatTimeout({ session, lastOperation }: Timeout, timeoutMs: number): string {
  const within = `did not end within ${timeoutMs / 1_000} s`;
  if (session === null) return `the invariant ${within}`;
  return `session "${printable(session)}" ${within}; its last operation: ${printable(lastOperation)}`;
}

function olderReadsText({ olderReads, olderReadPlaces }: Failure): string {
  if (olderReads === 0) return 'every read saw the newest write that it could see';
  const unmarked = olderReads - olderReadPlaces.size;
  const note =
    unmarked === 0 ? '' : `; ${formatCount(unmarked)} of them in what was rolled back, or in the final state`;
  return `${counted(olderReads, 'read')} did not see the newest write (older)${note}`;
}

function anomalyText({ anomaly, history }: Failure, width: number, style: Styler): string[] {
  if (anomaly === null) return wrap(explainNoViolation(history, { abortedReads: 'constrained' }), width);
  const [title = '', ...meaning] = summarize(anomaly.verdict).split(':');
  const sentence = wrap(`${title}:${meaning.join(':')}`, width);
  return [
    '',
    ...sentence.map((line, i) => (i === 0 ? style('name', title) + line.slice(title.length) : line)),
    ...formatCycle(history, anomaly.verdict, width),
    '',
  ];
}

export function remedyText({ anomaly }: Failure, { weakestPassing, runsAtOtherLevels }: FailureText): string {
  const runs = runsAtOtherLevels === undefined ? 'all runs' : `all ${counted(runsAtOtherLevels, 'run')}`;
  const forbidden = anomaly === null ? '' : `${anomaly.level} and the levels above forbid this run`;
  if (weakestPassing === undefined) return forbidden;
  if (weakestPassing !== null && anomaly === null)
    return `at ${weakestPassing} the program passed ${runs}: rare there, not impossible`;
  if (weakestPassing !== null) return `the weakest level at which the program passes ${runs}: ${weakestPassing}`;
  return anomaly === null ? '' : `${forbidden}, but the program fails in others at every level`;
}
