/** `moirai explore` for a SQL program: every schedule of an engine profile, or every behaviour of a level, behind the program's own driver. */
import { InputError } from '../base/index.ts';
import type { SqlProgram } from '../program/index.ts';
import type { ExploreSqlResult } from '../sql-campaign/index.ts';
import type { ExploreCommandOptions } from './explore-options.ts';
import type { ExitCode, Host } from './host.ts';
import type { Progress } from './progress.ts';
import { invocation, shellWord } from './replay-command.ts';
import { appearance } from './style.ts';

/** @throws InputError `option/...`, `program/schema`, `program/nondeterministic` */
export async function exploreSqlProgram(
  file: string,
  options: ExploreCommandOptions,
  host: Host,
  program: SqlProgram,
  progress: Progress,
  onRun: () => void,
): Promise<ExitCode> {
  const { sql, historiesMax, timeMaxMs, timeoutMs, replay, violationsMax, failsFast } = options;
  if (sql.level === 'all')
    throw new InputError(
      'option/level',
      '--level all is for key-value programs; a SQL program is explored on one database at a time',
    );
  if (options.jobs > 1) throw onlyKeys('jobs', '--jobs');
  if (options.drawing !== null) throw onlyKeys('drawing', `--${options.drawing}`);
  if (options.estimates) throw onlyKeys('estimate', '--estimate');
  if (options.stepsMax !== null) throw onlyKeys('max-steps', '--max-steps');
  // Loading these costs time that other commands do without.
  const { exploreSql, formatSqlExploration } = await import('../sql-campaign/index.ts');
  const { parseProfile, profileText } = await import('../serve/index.ts');
  const profile = parseProfile({
    ...sql,
    ...(sql.level === undefined ? { engine: sql.engine ?? program.dialect } : { dialect: program.dialect }),
  });
  const result = await exploreSql(program, {
    profile,
    timeoutMs,
    failuresMax: violationsMax,
    failsFast,
    ...(historiesMax === null ? {} : { historiesMax }),
    ...(timeMaxMs === null ? {} : { timeMaxMs }),
    ...(replay === null ? {} : { replay }),
    onRun,
    onProgress: ({ schedules, share }) => {
      const expected = share > 0 ? Math.round(schedules / share) : schedules;
      progress.update(profileText(profile), schedules, Math.max(schedules, expected), 'schedules');
    },
  });
  progress.stop();
  const commandOf = (token: string): string => replayLine(file, options, token, host);
  host.out(
    options.json
      ? `${JSON.stringify(resultJson(result, commandOf))}\n`
      : `${formatSqlExploration(result, { ...appearance(host, options.color), commandOf })}\n`,
  );
  if (result.violations > 0) return 1;
  return result.complete ? 0 : 2;
}

function onlyKeys(option: string, text: string): InputError {
  return new InputError(
    `option/${option}`,
    `${text} is for programs that read and write keys; this program speaks SQL`,
  );
}

function replayLine(file: string, { sql }: ExploreCommandOptions, token: string, host: Host): string {
  const words = [
    file.startsWith('-') ? `./${file}` : file,
    ...Object.entries(sql).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value])),
    '--replay',
    token,
  ];
  return `${invocation(host)} explore ${words.map(shellWord).join(' ')}`;
}

function resultJson(result: ExploreSqlResult, commandOf: (token: string) => string): unknown {
  const { profile, schedules, repetitions, histories, outcomes, violations, complete, stopped, marks } = result;
  return {
    level: profile.family === 'engine' ? profile.isolation : profile.level,
    engine: profile.family === 'engine' ? profile.dialect : null,
    verdict: violations > 0 ? 'violated' : complete ? 'satisfied' : 'unknown',
    schedules,
    repetitions,
    histories,
    outcomes,
    violations,
    complete,
    stopped,
    marks: Object.fromEntries(marks),
    failures: result.failures.map(({ message, anomaly, schedules: count, replay }) => ({
      message,
      anomaly,
      schedules: count,
      replay,
      command: commandOf(replay),
    })),
  };
}
