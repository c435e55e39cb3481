/** `moirai explore` for a SQL program: every schedule of an engine profile, or every behaviour of a level, behind the program's own driver. */
import { InputError, seeded } from '../base/index.ts';
import type { SqlProgram } from '../program/index.ts';
import { formatDot, formatMermaid } from '../report/index.ts';
import type { Profile } from '../serve/index.ts';
import type * as sqlCampaign from '../sql-campaign/index.ts';
import type { ExploreSqlResult, SharedSqlOptions } from '../sql-campaign/index.ts';
import type { ExploreCommandOptions } from './explore-options.ts';
import { exploreSqlOnThreads } from './explore-sql-threads.ts';
import { exitCodeOf, verdictOf } from './explore-verdict.ts';
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
  refuseKeyOptions(options);
  // Loading these costs time that other commands do without.
  const campaign = await import('../sql-campaign/index.ts');
  const { profileText } = await import('../serve/index.ts');
  const results: ExploreSqlResult[] = [];
  for (const profile of await profilesOf(options, program)) {
    if (options.estimates) {
      const probing = { profile, timeoutMs: options.timeoutMs, chooser: seeded(1), onRun };
      const estimate = await campaign.estimateSchedules(program, probing);
      host.err(`${campaign.formatScheduleEstimate(profile, estimate)}\n`);
    }
    const limits: SharedSqlOptions = {
      ...limitsOf(options, profile),
      onRun,
      onProgress: ({ schedules, share }) => {
        const expected = share > 0 ? Math.round(schedules / share) : schedules;
        progress.update(profileText(profile), schedules, Math.max(schedules, expected), 'schedules');
      },
    };
    const { jobs, replay } = options;
    results.push(
      jobs === 1
        ? await campaign.exploreSql(program, replay === null ? limits : { ...limits, replay })
        : await exploreSqlOnThreads(file, program, limits, jobs),
    );
  }
  progress.stop();
  host.out(`${shown(file, results, options, host, campaign)}\n`);
  return exitCodeOf(results);
}

/** @throws InputError `option/max-steps`, `option/rerun` */
function refuseKeyOptions({ stepsMax, reruns }: ExploreCommandOptions): void {
  if (stepsMax !== null)
    throw new InputError(
      'option/max-steps',
      '--max-steps limits the search for a commit order of a history of keys; a SQL program runs on a database, where there is none',
    );
  if (reruns)
    throw new InputError(
      'option/rerun',
      '--rerun is for programs that read and write keys; SQL programs always run again',
    );
}

/** Of `--isolation all`, and of `--level all`, the engine's levels, weakest first. */
async function profilesOf(options: ExploreCommandOptions, program: SqlProgram): Promise<readonly Profile[]> {
  const { parseProfile, engineLevels } = await import('../serve/index.ts');
  const { sql } = options;
  const engine = sql.engine ?? program.dialect;
  if (!isOfAll(options)) {
    const named = sql.level === undefined ? { engine } : { dialect: program.dialect };
    return [parseProfile({ ...sql, ...named })];
  }
  if (options.replay !== null)
    throw new InputError('option/replay', 'a schedule is replayed at the level at which it was found: name that level');
  if (sql.level !== undefined && sql.level !== 'all')
    throw new InputError('option/isolation', '--isolation is of an --engine; --level already says the level');
  if (sql.isolation !== undefined && sql.isolation !== 'all')
    throw new InputError('option/level', '--level all is all levels of the engine, and --isolation names one');
  const { dialect } = parseProfile({ engine, granularity: sql.granularity });
  return engineLevels[dialect].map((isolation) => parseProfile({ engine, isolation }));
}

function isOfAll({ sql }: ExploreCommandOptions): boolean {
  return sql.level === 'all' || sql.isolation === 'all';
}

function limitsOf(options: ExploreCommandOptions, profile: Profile): SharedSqlOptions {
  const { historiesMax, timeMaxMs, timeoutMs, violationsMax, failsFast } = options;
  return {
    profile,
    timeoutMs,
    failuresMax: violationsMax,
    failsFast,
    ...(historiesMax === null ? {} : { historiesMax }),
    ...(timeMaxMs === null ? {} : { timeMaxMs }),
  };
}

function shown(
  file: string,
  results: readonly ExploreSqlResult[],
  options: ExploreCommandOptions,
  host: Host,
  campaign: typeof sqlCampaign,
): string {
  const commandOf = (profile: Profile) => (token: string) => replayLine(file, options, profile, token, host);
  if (options.json) {
    const shapes = results.map((result) => resultJson(result, commandOf(result.profile)));
    return JSON.stringify(isOfAll(options) ? shapes : shapes[0]);
  }
  if (options.drawing !== null) {
    const drawings = results.flatMap((result) => campaign.drawSqlFailures(result, file));
    return (options.drawing === 'dot' ? formatDot : formatMermaid)(drawings).trimEnd();
  }
  const look = appearance(host, options.color);
  const [result] = results;
  if (isOfAll(options) || result === undefined) return campaign.formatSqlExplorations(results, look);
  return campaign.formatSqlExploration(result, { ...look, commandOf: commandOf(result.profile) });
}

/** The options as they were given; the level by its name where it was one of all. */
function replayLine(file: string, options: ExploreCommandOptions, profile: Profile, token: string, host: Host): string {
  const { engine, isolation, level, granularity } = options.sql;
  const given =
    isOfAll(options) && profile.family === 'engine'
      ? { engine, isolation: profile.isolation }
      : { engine, isolation, level, granularity };
  const words = [
    file.startsWith('-') ? `./${file}` : file,
    ...Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value])),
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
    verdict: verdictOf(result),
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
