/** What explorations of a SQL program found, for the HTML report. */
import { conclude } from '../../evidence/index.ts';
import { assumedText } from '../../program/index.ts';
import { counted, type LevelsThatFail, levelsText, marksTable, type ReportData } from '../../report/index.ts';
import { profileText } from '../../database/index.ts';
import { sqlRunPicture } from '../../sql-program/index.ts';
import { sqlExplorationTable, summary } from './explore-sql-levels.ts';
import type { ExploreSqlResult } from './explore-sql-result.ts';
import { scope, verdict } from './explore-sql-text.ts';

export interface SqlExplorationReport {
  readonly heading: string;
  readonly commandOf: (result: ExploreSqlResult, token: string) => string;
}

const kinds = { bad: 'violated', good: 'satisfied', warning: 'unknown' } as const;

/** @param results of one level, or of all of them, weakest first */
export function sqlExplorationReport(
  results: readonly ExploreSqlResult[],
  { heading, commandOf }: SqlExplorationReport,
): ReportData {
  const verdicts = results.map((result) => verdict(result, conclude(result.evidence)));
  const [only] = results;
  const isOne = results.length === 1 && only !== undefined;
  const table = sqlExplorationTable(results);
  const [first = '', ...others] = summary(results);
  const [text = '', ...notes] = isOne
    ? [verdicts[0]?.[1], scope(only), ...assumedIn(only)]
    : [levelsText(failingIn(results), first), ...others];
  return {
    heading,
    database: isOne ? profileText(only.profile) : counted(results.length, 'level'),
    verdict: { kind: kinds[worstOf(verdicts.map(([kind]) => kind))], text },
    notes: notes.flatMap((note) => note ?? []),
    tables: isOne ? marksTable(only.marks, 'schedules') : [table],
    runs: results.flatMap((result) =>
      result.failures.map((failure) => {
        const schedules = counted(failure.schedules, 'schedule');
        const count = isOne ? schedules : `${schedules} on ${profileText(result.profile)}`;
        return sqlRunPicture(failure, { profile: result.profile, count, replay: commandOf(result, failure.replay) });
      }),
    ),
  };
}

function failingIn(results: readonly ExploreSqlResult[]): LevelsThatFail {
  const where = (found: readonly ExploreSqlResult[]) => found.map(({ profile }) => profileText(profile));
  return {
    broken: where(results.filter(({ invariantBroken }) => invariantBroken > 0)),
    failed: where(results.filter(({ notRetried }) => notRetried > 0)),
    all: results.length,
  };
}

function worstOf(kindsOfLevels: readonly (keyof typeof kinds)[]): keyof typeof kinds {
  if (kindsOfLevels.includes('bad')) return 'bad';
  return kindsOfLevels.includes('warning') || kindsOfLevels.length === 0 ? 'warning' : 'good';
}

function assumedIn({ evidence }: ExploreSqlResult): string[] {
  const conclusion = conclude(evidence);
  return conclusion.kind === 'satisfied' ? conclusion.assumed.map(assumedText) : [];
}
