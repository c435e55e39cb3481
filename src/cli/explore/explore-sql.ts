/** `moirai explore` for a SQL program: every schedule of an engine profile, or every behaviour of a level, behind the program's own driver. */
import { Budget, InputError } from '../../base/index.ts';
import { type Conclusion, conclusionJson, exitCodeOf } from '../../evidence/index.ts';
import type { RecordedRun, SqlProgram } from '../../program/index.ts';
import { formatDot, formatMermaid, type ReportData } from '../../report/index.ts';
import type { Profile } from '../../database/index.ts';
import type {
  AnySqlCheckpoint,
  ExploreProfileOptions,
  ExploreSqlResult,
  SharedSqlOptions,
  TriedRemedy,
} from '../../explore/sql/index.ts';
import type * as sqlTools from '../sql-tools.ts';
import type { SavedExploration } from './explore-checkpoint.ts';
import type { ExploreCommandOptions } from './explore-options.ts';
import { remediesOf } from './explore-remedies.ts';
import { isOfAll, profilesOf } from './explore-sql-options.ts';
import { exploreSqlOnThreads } from './explore-sql-threads.ts';
import { foundBySqlExplore } from '../failures/found-failures.ts';
import type { ExitCode, Host, Ending } from '../host.ts';
import { answerJson } from '../output/json.ts';
import { keepFailures } from '../failures/kept-failures.ts';
import { withReports } from '../page/report-file.ts';
import type { Progress } from '../output/progress.ts';
import { invocation, shellWord } from '../options/invocation.ts';
import { appearance } from '../output/style.ts';
import { type Cut, cutEvidence, type UserProgram, withKept } from '../modules/user-program.ts';

/** @throws InputError `option/...`, `program/schema`, `program/nondeterministic` */
export async function exploreSqlProgram(
  file: string,
  options: ExploreCommandOptions,
  host: Host,
  program: SqlProgram,
  progress: Progress,
  user: UserProgram,
  saved: SavedExploration,
): Promise<Ending> {
  refuseOptions(options);
  // Loading these costs time that other commands do without.
  const campaign = await import('../sql-tools.ts');
  const { profileText } = await import('../../database/index.ts');
  const budget = new Budget({ timeMaxMs: options.timeMaxMs ?? Infinity, signal: host.interruption });
  const onTurn = user.onTurn();
  const profiles = await profilesOf(options, program);
  const saving = new campaign.LevelsSaving(program, profiles, isOfAll(options), saved.options<AnySqlCheckpoint>());
  const { results } = saving;
  let current: ((cut: Cut) => ExploreSqlResult) | null = null;
  let checkpoint: () => AnySqlCheckpoint | null = () => null;
  let tried: readonly TriedRemedy[] | null = null;
  const ending = (all: readonly ExploreSqlResult[]): Ending => {
    return {
      out: `${shown(file, all, tried, options, host, campaign)}\n`,
      err: '',
      code: exitCodeOfAll(all.map(campaign.conclusionOf)),
    };
  };
  user.onCut((cut) => {
    saved.write(checkpoint());
    return saved.ended(ending([...results, ...(current === null ? [] : [current(cut)])]));
  });
  for (const profile of profiles.slice(results.length)) {
    const isLast = profile === profiles.at(-1) && options.plans !== 'all';
    const { jobs, replay, plans } = options;
    const asked: ExploreProfileOptions = {
      ...saving.options(),
      ...limitsOf(options, profile),
      plans,
      ...(replay === null ? {} : { replay }),
      signal: host.interruption,
      timeMaxMs: budget.leftMs,
      estimateAfterMs: ESTIMATE_AFTER_MS,
      onStart: (soFar, underWay, standing) => {
        current = (cut) => cutResult(soFar(), cut, underWay(), isLast);
        if (standing !== undefined) checkpoint = () => saving.standing(standing());
      },
      onRun: () => onTurn(0, () => 'a statement'),
      onProgress: ({ schedules, estimate }) =>
        progress.update(profileText(profile), schedules, { atMost: estimate?.schedules ?? null }, 'schedules'),
    };
    const shared = (given: SharedSqlOptions) => exploreSqlOnThreads(file, program, given, jobs);
    const result = await campaign.exploreSqlProfile(program, asked, jobs === 1 ? null : shared);
    current = null;
    saving.add(result);
  }
  const onTried = (found: readonly TriedRemedy[]): void => void (tried = found);
  tried = await remediesOf(program, results, options, { budget, progress, onTurn, onTried });
  const kept = await keepFailures(host, file, foundBySqlExplore(program, results, options, campaign.shapeOfSql));
  const prints = options.drawing === null && !options.json;
  const reportOf = (some: readonly ExploreSqlResult[]): ReportData =>
    pageOf(file, some, tried, options, host, campaign);
  const reported = { page: () => reportOf(results), results: () => results.map((result) => reportOf([result])) };
  const asked = { files: options.files, prints, host };
  return saved.ended(await withReports(withKept(ending(results), prints ? kept : null), reported, asked));
}

/** For the HTML report. */
function pageOf(
  file: string,
  results: readonly ExploreSqlResult[],
  tried: readonly TriedRemedy[] | null,
  options: ExploreCommandOptions,
  host: Host,
  { sqlExplorationReport, remediesTable }: typeof sqlTools,
): ReportData {
  const commandOf = ({ profile }: ExploreSqlResult, token: string): string =>
    replayLine(file, options, profile, token, host);
  const page = sqlExplorationReport(results, { heading: `moirai explore ${shellWord(file)}`, commandOf });
  return tried === null ? page : { ...page, tables: [...page.tables, remediesTable(tried)] };
}

/** Of several levels: 1 where one is violated, 2 where one is not known. */
function exitCodeOfAll(conclusions: readonly Conclusion[]): ExitCode {
  const codes = new Set(conclusions.map(exitCodeOf));
  return codes.has(1) ? 1 : codes.has(2) ? 2 : 0;
}

/** What takes longer is worth an estimate. */
const ESTIMATE_AFTER_MS = 2_000;

/** The result so far of an exploration that was cut off. @param isLast whether nothing comes after its schedules */
function cutResult(result: ExploreSqlResult, cut: Cut, underWay: string, isLast: boolean): ExploreSqlResult {
  if (isLast && result.evidence.invariant.again === 'under-way') return result;
  const stopped = cut.kind === 'interrupted' ? 'interrupted' : { late: underWay, waiting: null };
  return { ...result, complete: false, stopped, evidence: cutEvidence(result.evidence, cut, underWay) };
}

/** @throws InputError `option/max-steps`, `option/rerun`, `option/plans` */
function refuseOptions({ stepsMax, reruns, plans, sql }: ExploreCommandOptions): void {
  if (stepsMax !== null)
    throw new InputError(
      'option/max-steps',
      '--max-steps limits the search for a commit order of a history of keys; a SQL program runs on a database, where there is none',
    );
  if (plans === 'all' && sql.level !== undefined && sql.level !== 'all')
    throw new InputError(
      'option/plans',
      '--plans is of an --engine: what a --level allows does not depend on access paths',
    );
  if (reruns)
    throw new InputError(
      'option/rerun',
      '--rerun is for programs that read and write keys; SQL programs always run again',
    );
}

function limitsOf(options: ExploreCommandOptions, profile: Profile): ExploreProfileOptions {
  const { historiesMax, timeoutMs, violationsMax, failsFast } = options;
  return {
    profile,
    timeoutMs,
    failuresMax: violationsMax,
    failsFast,
    ...(historiesMax === null ? {} : { historiesMax }),
  };
}

function shown(
  file: string,
  results: readonly ExploreSqlResult[],
  tried: readonly TriedRemedy[] | null,
  options: ExploreCommandOptions,
  host: Host,
  campaign: typeof sqlTools,
): string {
  const commandOf = (profile: Profile) => (token: string) => replayLine(file, options, profile, token, host);
  if (options.json) {
    const shapes = results.map((result) => ({
      ...resultJson(result, campaign.conclusionOf(result), commandOf(result.profile), options.recorded),
      ...(options.remedies ? { remedies: tried ?? [] } : {}),
      report: pageOf(file, [result], tried, options, host, campaign),
    }));
    return JSON.stringify(isOfAll(options) ? shapes : shapes[0]);
  }
  if (options.drawing !== null) {
    const drawings = results.flatMap((result) => campaign.drawSqlFailures(result, file));
    return (options.drawing === 'dot' ? formatDot : formatMermaid)(drawings).trimEnd();
  }
  const look = appearance(host, options.color);
  const [result] = results;
  if (isOfAll(options) || result === undefined) return campaign.formatSqlExplorations(results, look);
  const recorded = options.recorded === null ? {} : { recorded: options.recorded };
  const found = campaign.formatSqlExploration(result, { ...look, ...recorded, commandOf: commandOf(result.profile) });
  return tried === null ? found : `${found}\n\n${campaign.formatRemedies(tried, look)}`;
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

function resultJson(
  result: ExploreSqlResult,
  conclusion: Conclusion,
  commandOf: (token: string) => string,
  recorded: RecordedRun | null,
): object {
  const { profile, schedules, repetitions, histories, outcomes, violations, complete, stopped, marks } = result;
  const { invariantBroken, notRetried, unsupported, plans } = result;
  return {
    level: profile.family === 'engine' ? profile.isolation : profile.level,
    engine: profile.family === 'engine' ? profile.engine : null,
    ...conclusionJson(conclusion),
    plans,
    schedules,
    repetitions,
    histories,
    outcomes,
    violations,
    invariantBroken,
    notRetried,
    complete,
    stopped,
    ...answerJson(result, recorded),
    unsupported,
    marks: Object.fromEntries(marks),
    estimate: result.estimate,
    failures: result.failures.map(({ kind, message, anomaly, plan, schedules: count, replay }) => ({
      kind,
      message,
      anomaly,
      plan,
      schedules: count,
      replay,
      command: commandOf(replay),
    })),
  };
}
