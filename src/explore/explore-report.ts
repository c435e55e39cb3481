/** What explorations of a program of keys found, for the HTML report. */
import { conclude } from '../evidence/index.ts';
import {
  brokenLevels,
  counted,
  historyPicture,
  levelsText,
  marksTable,
  plain,
  type ReportData,
  type RunPicture,
} from '../report/index.ts';
import type { Counterexample, ExploreResult } from './explore-result.ts';
import { explorationTable, gapLines, verdict } from './explore-text.ts';

export interface ExplorationReport {
  readonly heading: string;
  readonly commandOf: (result: ExploreResult, token: string) => string;
}

/** @param results of one level, or of all of them, weakest first */
export function explorationReport(
  results: readonly ExploreResult[],
  { heading, commandOf }: ExplorationReport,
): ReportData {
  const [only] = results;
  const isOne = results.length === 1 && only !== undefined;
  const table = explorationTable(results);
  const [text = '', ...notes] = isOne
    ? verdict(only, plain, Infinity).split('\n')
    : [levelsText(brokenLevels(results), table.note), ...gapLines(results)];
  return {
    heading,
    database: isOne ? only.level : counted(results.length, 'level'),
    verdict: { kind: kindOf(results), text },
    notes,
    tables: isOne ? marksTable(only.marks, 'histories') : [table],
    runs: results.flatMap((result) =>
      result.counterexamples.map((example) =>
        pictureOf(example, commandOf(result, example.replay), isOne ? null : `at ${result.level}`),
      ),
    ),
  };
}

function pictureOf({ message, history, olderReads }: Counterexample, replay: string, count: string | null): RunPicture {
  return { ...historyPicture({ message, history, older: olderReads, replay }), count };
}

function kindOf(results: readonly ExploreResult[]): ReportData['verdict']['kind'] {
  if (results.some(({ violations }) => violations > 0)) return 'violated';
  const isProof = ({ evidence, complete }: ExploreResult): boolean =>
    complete && conclude(evidence).kind === 'satisfied';
  return results.length > 0 && results.every(isProof) ? 'satisfied' : 'unknown';
}
