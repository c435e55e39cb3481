/** What a campaign of a SQL program found, for the HTML report. */
import { conclude, gapText } from '../../evidence/index.ts';
import { assumedText } from '../../program/index.ts';
import { counted, marksTable, type ReportData } from '../../report/index.ts';
import { sqlRunPicture } from '../../sql-program/index.ts';
import { profileText } from '../../database/index.ts';
import type { SqlCampaignResult } from './sql-campaign-result.ts';
import { failureTexts, passedText } from './sql-text.ts';

/** @param replay the command that repeats the failing run */
export function sqlCampaignReport(
  result: SqlCampaignResult,
  { heading, replay }: { readonly heading: string; readonly replay: string | null },
): ReportData {
  const { profile, failure, seed, distinctSchedules, marks } = result;
  const conclusion = conclude(result.evidence);
  const gaps = conclusion.kind === 'unknown' ? conclusion.gaps.map(gapText) : [];
  const assumed = conclusion.kind === 'satisfied' ? conclusion.assumed.map(assumedText) : [];
  const { verdict, where, besides } = failureTexts(result);
  const text =
    failure !== null
      ? `${verdict} ${where}: ${failure.message}`
      : conclusion.kind === 'unknown'
        ? `unknown on ${profileText(profile)}: ${gaps[0] ?? ''}`
        : passedText(result);
  return {
    heading,
    database: profileText(profile),
    verdict: { kind: conclusion.kind === 'at-fault' ? 'unknown' : conclusion.kind, text },
    notes: [
      ...(failure === null ? [] : besides),
      ...gaps.slice(1),
      ...assumed,
      `seed ${seed}; ${counted(distinctSchedules, 'distinct schedule')}`,
    ],
    tables: marksTable(marks, 'runs'),
    runs: failure === null ? [] : [sqlRunPicture(failure, { profile, count: null, replay })],
  };
}
