/** What the exploration of a SQL program found, as text: the verdict with its scope first, then each kind of failure with a run. */
import { counted, formatCount, formatMarks, plain, printable, wrap } from '../report/index.ts';
import { profileText } from '../serve/index.ts';
import type { ExploreSqlResult } from './explore-sql.ts';
import { anomalyText, type SqlTextOptions } from './sql-text.ts';
import { formatStatements } from './statement-log.ts';

export interface SqlExplorationText extends Omit<SqlTextOptions, 'command'> {
  /** What replays a failing run. */
  readonly commandOf?: (replay: string) => string;
}

/** The text of one exploration, without a final line break. */
export function formatSqlExploration(result: ExploreSqlResult, options: SqlExplorationText = {}): string {
  const { style = plain, width = 80, commandOf } = options;
  const { failures, marks } = result;
  const lines = [...wrapStyled(verdict(result), width), scope(result)];
  if (failures.length === 0) return [...lines, ...formatMarks(marks, 'schedule')].join('\n');
  failures.forEach((failure, i) => {
    const number = failures.length === 1 ? '' : `${i + 1}. `;
    const count = failures.length === 1 ? '' : ` (${counted(failure.schedules, 'schedule')})`;
    lines.push('', ...wrap(`${number}${printable(failure.message)}${count}`, width).map((line) => style('name', line)));
    lines.push(...formatStatements(failure.statements, width), '', ...anomalyText(failure, width, style));
    if (commandOf !== undefined) lines.push('', `replay: ${commandOf(failure.replay)}`);
  });
  return lines.join('\n');

  function wrapStyled([kind, text]: readonly ['good' | 'bad' | 'warning', string], columns: number): string[] {
    return wrap(text, columns).map((line) => style(kind, line));
  }
}

function verdict(result: ExploreSqlResult): readonly ['good' | 'bad' | 'warning', string] {
  const { profile, schedules, violations, complete, stopped } = result;
  const where = `on ${profileText(profile)}`;
  const all = counted(schedules, 'schedule');
  if (violations > 0) {
    const verb = violations === 1 ? 'violates' : 'violate';
    return [
      'bad',
      `${formatCount(violations)} of ${all} ${verb} the invariant ${where}${complete ? '' : ` (${stoppedBy(result)})`}`,
    ];
  }
  if (stopped === 'replay')
    return ['warning', `the schedule that was replayed satisfies the invariant ${where}; of others nothing is known`];
  if (complete) {
    const satisfy = schedules === 1 ? 'the only schedule to be run satisfies' : `all ${all} satisfy`;
    return ['good', `${satisfy} the invariant ${where}: whatever the timing of statements, this program holds`];
  }
  const satisfy = schedules === 1 ? 'satisfies' : 'satisfy';
  return ['warning', `unknown ${where}: ${all} ${satisfy} the invariant, and there are more (${stoppedBy(result)})`];
}

function scope({ histories, outcomes, repetitions }: ExploreSqlResult): string {
  const seen = `distinct histories ${formatCount(histories)}, distinct outcomes ${formatCount(outcomes)}`;
  return repetitions === 0 ? seen : `${seen}; runs that only swapped independent steps ${formatCount(repetitions)}`;
}

function stoppedBy({ stopped }: ExploreSqlResult): string {
  if (typeof stopped === 'object' && stopped !== null)
    return `session "${printable(stopped.session)}" did not end in time`;
  switch (stopped) {
    case 'histories':
      return 'stopped by --max-histories';
    case 'schedules':
      return 'stopped after so many schedules';
    case 'time':
      return 'stopped by --max-time';
    case 'violation':
      return 'the first violation ends it';
    case 'replay':
      return 'one schedule was replayed';
    case null:
      return 'some are left';
  }
}
