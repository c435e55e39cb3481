/** What campaigns of a program of keys found, for the HTML report. */
import { conclude } from '../evidence/index.ts';
import {
  brokenLevels,
  counted,
  historyPicture,
  levelsText,
  marksTable,
  plain,
  type ReportData,
} from '../report/index.ts';
import type { ConstrainingLevel } from '../isolation/index.ts';
import type { CampaignResult } from './campaign-options.ts';
import { campaignTable, remedyText, verdictLines, violatedText } from './failure-text.ts';

export interface CampaignReport {
  readonly heading: string;
  /** What replays the failing run of a result. */
  readonly commandOf: (result: CampaignResult) => string | null;
  readonly weakestPassing?: ConstrainingLevel | null | undefined;
  readonly runsAtOtherLevels?: number;
}

/** @param results of one level, or of all of them, weakest first */
export function campaignReport(results: readonly CampaignResult[], context: CampaignReport): ReportData {
  const failing = results.findLast(({ failure }) => failure !== null);
  const shown = failing ?? results.at(-1);
  const table = campaignTable(results);
  const isOne = results.length === 1;
  const texts =
    shown === undefined ? [] : isOne ? textsOf(shown) : [levelsText(brokenLevels(results), passesText(results))];
  const failure = failing?.failure ?? null;
  const remedy = failure === null ? '' : remedyText(failure, context);
  const seeds = [...new Set(results.map(({ seed }) => seed))];
  return {
    heading: context.heading,
    database: isOne ? (shown?.level ?? '') : counted(results.length, 'level'),
    verdict: { kind: kindOf(results), text: texts[0] ?? '' },
    notes: [...texts.slice(1), ...(remedy === '' ? [] : [remedy]), `seed ${seeds.join(', ')}`],
    tables: isOne ? marksTable(shown?.marks ?? new Map(), 'runs') : [table],
    runs: results.flatMap((result) => {
      if (result.failure === null) return [];
      const { message, history, olderReadPlaces: older } = result.failure;
      const count = isOne ? null : `at ${result.level}`;
      return [{ ...historyPicture({ message, history, older, replay: context.commandOf(result) }), count }];
    }),
  };
}

/** The weakest level at which no run failed. */
function passesText(results: readonly CampaignResult[]): string | null {
  const weakest = results.find(({ evidence }) => conclude(evidence).kind === 'satisfied');
  return weakest === undefined ? null : `passed ${counted(weakest.runs, 'run')} at ${weakest.level}`;
}

function textsOf(result: CampaignResult): string[] {
  return result.failure === null
    ? verdictLines(result, { style: plain, width: Infinity })
    : [`${violatedText(result)}: ${result.failure.message}`];
}

/** A violation counts whatever the other levels say. */
function kindOf(results: readonly CampaignResult[]): ReportData['verdict']['kind'] {
  if (results.some(({ violations }) => violations > 0)) return 'violated';
  return results.every(({ evidence }) => conclude(evidence).kind === 'satisfied') ? 'satisfied' : 'unknown';
}
