/** `moirai test` for a SQL program: the database is an engine profile or a level of the axioms, behind the program's own driver. */
import { InputError } from '../../base/index.ts';
import { type Conclusion, conclusionJson, exitCodeOf } from '../../evidence/index.ts';
import type { RecordedOptions } from '../../failures/index.ts';
import type { RecordedRun, SqlProgram } from '../../program/index.ts';
import { printable, type ReportData } from '../../report/index.ts';
import type { SqlCampaignResult } from '../../campaign/sql/index.ts';
import { replayEarlier } from '../failures/earlier-failures.ts';
import { foundBySqlTest } from '../failures/found-failures.ts';
import type { Host, Ending } from '../host.ts';
import { answerJson } from '../output/json.ts';
import { keepFailures } from '../failures/kept-failures.ts';
import { withReports } from '../page/report-file.ts';
import type { Progress } from '../output/progress.ts';
import { invocation, shellWord } from '../options/invocation.ts';
import { appearance } from '../output/style.ts';
import type { TestOptions } from './test-options.ts';
import { type Cut, cutEvidence, type UserProgram, withEarlier, withKept } from '../modules/user-program.ts';

/** @throws InputError `option/...`, `program/schema` */
export async function testSqlProgram(
  file: string,
  options: TestOptions,
  host: Host,
  program: SqlProgram,
  progress: Progress,
  user: UserProgram,
): Promise<Ending> {
  const { sql = {} } = options;
  refuseAll(file, options);
  refusePlans(options);
  const tools = await import('../sql-tools.ts');
  const { conclusionOf, formatSqlFailure, formatSqlResult, sqlCampaignReport, sqlCampaignDefaults } = tools;
  const { parseProfile, profileText, recordedProfile } = await import('../../database/index.ts');
  const profile = parseProfile({
    ...sql,
    ...(sql.level === undefined ? { engine: sql.engine ?? program.dialect } : { dialect: program.dialect }),
  });
  const { seed, replay, abortRate, timeoutMs, timeMaxMs } = options;
  const onTurn = user.onTurn();
  const onRun = (): void => onTurn(null, () => 'a statement');
  const isAsked = (recorded: RecordedOptions): boolean =>
    replay === undefined &&
    'profile' in recorded &&
    profileText(recordedProfile(recorded.profile)) === profileText(profile);
  const earlier = await replayEarlier(host, file, program, isAsked, { timeoutMs, onTurn: onRun });
  const result = await tools.runSqlCampaign(program, {
    profile,
    runs: sql.runs ?? sqlCampaignDefaults.runs,
    seed,
    abortRate,
    timeoutMs,
    signal: host.interruption,
    ...(timeMaxMs === undefined ? {} : { timeMaxMs }),
    onRun,
    onStart: (soFar, underWay) => user.onCut((cut) => report(cutResult(soFar(), cut, underWay()))),
    onProgress: ({ runs, runsMax }) => progress.update(profileText(profile), runs, runsMax),
    ...(replay === undefined ? {} : { replay }),
    ...(sql.plans === undefined ? {} : { plans: sql.plans }),
  });
  const kept = await keepFailures(host, file, foundBySqlTest(program, result, options, tools.shapeOfSql));
  const ending = withKept(report(result), options.json ? null : kept);
  const reported = { page: () => pageOf(result), results: () => [pageOf(result)] };
  const asked = { files: options.files, prints: !options.json, host };
  return withEarlier(await withReports(ending, reported, asked), earlier, options);

  function commandOf({ failure }: SqlCampaignResult): string | null {
    return failure === null ? null : replayLine(file, options, failure.replay, host);
  }

  function pageOf(made: SqlCampaignResult): ReportData {
    return sqlCampaignReport(made, { heading: `moirai test ${shellWord(file)}`, replay: commandOf(made) });
  }

  function report(made: SqlCampaignResult): Ending {
    const { failure, timeout, waiting } = made;
    const conclusion = conclusionOf(made);
    const command = commandOf(made);
    const { recorded } = options;
    const look = { ...appearance(host, options.color), ...(recorded === undefined ? {} : { recorded }) };
    const remedies = profile.family === 'engine' ? { remedies: remediesLine(file, options, host) } : {};
    const text = (): string => {
      if (options.json)
        return `${JSON.stringify({ ...resultJson(made, conclusion, command, recorded), report: pageOf(made) })}\n`;
      if (failure !== null && command !== null)
        return `${formatSqlFailure(made, failure, { ...look, ...remedies, command })}\n`;
      return timeout === null ? `${formatSqlResult(made, look)}\n` : '';
    };
    const err =
      timeout === null
        ? ''
        : `${printable(`${timeout} did not end within ${timeoutMs / 1_000} s${waiting === null ? '' : `: ${waiting}`}`)}\n`;
    return { out: text(), err, code: exitCodeOf(conclusion) };
  }
}

/** @throws InputError `option/level`, `option/isolation` */
function refuseAll(file: string, { sql = {} }: TestOptions): void {
  const command = `moirai explore ${shellWord(file)} --isolation all`;
  const why = `a SQL program is tested on one database at a time; every level of the engine: ${command}`;
  if (sql.level === 'all') throw new InputError('option/level', `--level all is for key-value programs; ${why}`);
  if (sql.isolation === 'all') throw new InputError('option/isolation', why);
}

/** @throws InputError `option/plans` */
function refusePlans({ sql = {}, replay }: TestOptions): void {
  if (sql.plans === undefined) return;
  if (replay !== undefined)
    throw new InputError('option/plans', 'a replay takes the access paths of its token; leave out --plans');
  if (sql.level !== undefined)
    throw new InputError(
      'option/plans',
      '--plans is of an --engine: what a --level allows does not depend on access paths',
    );
}

/** The result so far of a campaign that was cut off; the verdict on its runs, where they were over. */
function cutResult(result: SqlCampaignResult, cut: Cut, underWay: string): SqlCampaignResult {
  if (result.evidence.invariant.again === 'under-way') return result;
  const evidence = cutEvidence(result.evidence, cut, underWay);
  if (cut.kind === 'interrupted') return { ...result, stopped: 'interrupted', evidence };
  return { ...result, timeout: underWay, waiting: null, evidence };
}

function replayLine(file: string, { sql = {}, abortRate, seed }: TestOptions, token: string, host: Host): string {
  const { engine, isolation, level, granularity } = sql;
  const words = [
    ...programWords(file, { engine, isolation, level, granularity }),
    ...(abortRate === 0 ? [] : ['--abort-rate', String(abortRate), '--seed', String(seed)]),
    '--replay',
    token,
  ];
  return `${invocation(host)} test ${words.map(shellWord).join(' ')}`;
}

function remediesLine(file: string, { sql = {} }: TestOptions, host: Host): string {
  const words = [...programWords(file, { engine: sql.engine, isolation: sql.isolation }), '--remedies'];
  return `${invocation(host)} explore ${words.map(shellWord).join(' ')}`;
}

/** The file, and the options that were given. */
function programWords(file: string, given: Readonly<Record<string, string | undefined>>): string[] {
  const options = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  return [file.startsWith('-') ? `./${file}` : file, ...options];
}

function resultJson(
  result: SqlCampaignResult,
  conclusion: Conclusion,
  command: string | null,
  recorded: RecordedRun | undefined,
): object {
  const { profile, runs, violations, invariantBroken, notRetried, distinctSchedules, seed, failure } = result;
  return {
    level: profile.family === 'engine' ? profile.isolation : profile.level,
    engine: profile.family === 'engine' ? profile.engine : null,
    runs,
    violations,
    invariantBroken,
    notRetried,
    distinctStates: distinctSchedules,
    plans: result.distinctPlans,
    plan: failure?.plan ?? [],
    seed,
    replay: failure?.replay ?? null,
    anomaly: failure?.anomaly ?? null,
    message: failure?.message ?? null,
    command,
    ...answerJson(result, recorded),
    ...conclusionJson(conclusion),
    unsupported: result.unsupported,
    stopped: result.stopped,
    timeout: result.timeout,
    waiting: result.waiting,
  };
}
