/** What the exploration of a SQL program found, as text: the verdict with its scope first, then each kind of failure with a run. */
import { type Conclusion, conclude } from '../../evidence/index.ts';
import { counted, formatCount, formatMarks, plain, printable, type Styler, wrap } from '../../report/index.ts';
import { profileText } from '../../database/index.ts';
import {
  anomalyText,
  answerLines,
  conclusionLines,
  formatStatements,
  planLines,
  type SqlTextOptions,
  stoppedText,
  toldGap,
} from '../../sql-program/index.ts';
import type { ExploreSqlResult } from './explore-sql-result.ts';

/** How an exploration is put into words. */
export interface SqlExplorationText extends Omit<SqlTextOptions, 'command'> {
  /** What replays a failing run. */
  readonly commandOf?: (replay: string) => string;
}

/** The text of one exploration, without a final line break. */
export function formatSqlExploration(result: ExploreSqlResult, options: SqlExplorationText = {}): string {
  const { style = plain, width = 80, commandOf } = options;
  const { failures, marks, replayed } = result;
  const answer = answerLines(result, options);
  if (replayed !== null && failures.length === 0) return answer.join('\n');
  const lines = [...answer, ...headline(result, conclude(result.evidence), { width, style }), scope(result)];
  if (failures.length === 0) return [...lines, ...formatMarks(marks, 'schedule')].join('\n');
  failures.forEach((failure, i) => {
    const number = failures.length === 1 ? '' : `${i + 1}. `;
    const count = failures.length === 1 ? '' : ` (${counted(failure.schedules, 'schedule')})`;
    lines.push('', ...wrap(`${number}${printable(failure.message)}${count}`, width).map((line) => style('name', line)));
    lines.push(...formatStatements(failure.statements, width), '', ...planLines(failure, width));
    lines.push(...anomalyText(failure, { profile: result.profile, width, style }));
    if (commandOf !== undefined) lines.push('', `replay: ${commandOf(failure.replay)}`);
  });
  return lines.join('\n');
}

/** The verdict; what it lacks, on lines of its own. */
function headline(
  result: ExploreSqlResult,
  conclusion: Conclusion,
  { width, style }: { readonly width: number; readonly style: Styler },
): string[] {
  const [kind, text] = verdict(result, conclusion);
  const said = result.stopped === null ? toldGap(conclusion) : [stoppedText(result.stopped)];
  // A gap names sessions and statements: it is one line, however long.
  const lines = kind === 'warning' && result.stopped === null ? [text] : wrap(text, width);
  return [...lines.map((line) => style(kind, line)), ...conclusionLines(conclusion, { width, style, said })];
}

export function verdict(
  result: ExploreSqlResult,
  conclusion: Conclusion,
): readonly ['good' | 'bad' | 'warning', string] {
  const { profile, schedules, violations, stopped, plans } = result;
  const where = `on ${profileText(profile)}`;
  const all = counted(schedules, 'schedule');
  if (violations > 0) return ['bad', failing(result, where)];
  const satisfy = schedules === 1 ? 'satisfies' : 'satisfy';
  if (stopped !== null)
    return [
      'warning',
      `unknown ${where}: ${all} ${satisfy} the invariant, and there are more (${printable(stoppedText(stopped))})`,
    ];
  if (conclusion.kind === 'unknown') return ['warning', `unknown ${where}: ${printable(toldGap(conclusion).join(''))}`];
  const these = schedules === 1 ? 'the only schedule to be run satisfies' : `all ${all} satisfy`;
  const paths =
    plans === 1 ? '' : ` and whichever of ${formatCount(plans)} combinations of access paths the server takes`;
  return ['good', `${these} the invariant ${where}: whatever the timing of statements${paths}, this program holds`];
}

/** `4 of 6 schedules violate the invariant ...; error not retried in 2 of 6 schedules`. */
function failing({ schedules, invariantBroken, notRetried, stopped }: ExploreSqlResult, where: string): string {
  const all = counted(schedules, 'schedule');
  const cut = stopped === null ? '' : ` (${printable(stoppedText(stopped))})`;
  const retries = `error not retried in ${formatCount(notRetried)} of ${all}`;
  if (invariantBroken === 0) return `${retries} ${where}; no schedule violates the invariant${cut}`;
  const verb = invariantBroken === 1 ? 'violates' : 'violate';
  const broken = `${formatCount(invariantBroken)} of ${all} ${verb} the invariant ${where}${cut}`;
  return notRetried === 0 ? broken : `${broken}; ${retries}`;
}

export function scope({ plans, histories, outcomes, repetitions }: ExploreSqlResult): string {
  const paths = plans === 1 ? '' : `combinations of access paths ${formatCount(plans)}, `;
  const seen = `${paths}distinct histories ${formatCount(histories)}, distinct outcomes ${formatCount(outcomes)}`;
  return repetitions === 0 ? seen : `${seen}; runs that only swapped independent steps ${formatCount(repetitions)}`;
}
