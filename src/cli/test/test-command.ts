/** `moirai test`: campaigns of a user's program, as text or as JSON. */
import {
  type CampaignOptions,
  type CampaignResult,
  cutOf,
  runAtEveryLevel,
  runCampaign,
  weakestPassingLevel,
} from '../../campaign/index.ts';
import { Budget, InputError } from '../../base/index.ts';
import type { RecordedOptions } from '../../failures/index.ts';
import type { ConstrainingLevel } from '../../isolation/index.ts';
import { isSqlProgram, type Program, requireUsed } from '../../program/index.ts';
import { type EarlierFailures, replayEarlier } from '../failures/earlier-failures.ts';
import { foundByTest } from '../failures/found-failures.ts';
import type { ExitCode, Host } from '../host.ts';
import { keepFailures, recordedRun } from '../failures/kept-failures.ts';
import type { Progress } from '../output/progress.ts';
import type { TestOptions } from './test-options.ts';
import { cutResult, reportLevels, reportOne } from './test-report.ts';
import { testSqlProgram } from './test-sql.ts';
import { placed } from '../modules/user-code.ts';
import { printEnding, UserProgram, withEarlier, withKept } from '../modules/user-program.ts';
import type { Ending } from '../interruption/watchdog.ts';

export async function testCommand(file: string, asked: TestOptions, host: Host): Promise<ExitCode> {
  if (asked.level === 'all' && asked.replay !== undefined) {
    throw new InputError(
      'option/replay',
      'a run is replayed at the level at which it failed: --replay needs one --level',
    );
  }
  const recorded = await recordedRun(host, file, asked.replay);
  const options: TestOptions = { ...asked, ...(recorded === null ? {} : { recorded }) };
  const user = new UserProgram(file, options, host);
  const progress = await host.progress(options.json);
  try {
    const program = await user.load();
    if (program === null) return user.late();
    const onTurn = user.onTurn();
    const ending = isSqlProgram(program)
      ? await testSqlProgram(file, options, host, program, progress, user)
      : await testKeyProgram(file, options, host, program, campaignOptions(options, progress, host, onTurn), user);
    await uncaughtErrors();
    progress.stop();
    user.stop();
    return printEnding(ending, host);
  } catch (error) {
    throw error instanceof InputError ? placed(error, file) : error;
  } finally {
    progress.stop();
    user.stop();
  }
}

/** Those at the level that is tested. A replay is of one run alone. */
function earlierFailures(
  file: string,
  { level, replay, timeoutMs }: TestOptions,
  host: Host,
  program: Program,
  onTurn: () => void,
): Promise<EarlierFailures> {
  const isAsked = (options: RecordedOptions): boolean =>
    replay === undefined && 'level' in options && (level === 'all' || options.level === level);
  return replayEarlier(host, file, program, isAsked, { timeoutMs, onTurn });
}

async function testKeyProgram(
  file: string,
  options: TestOptions,
  host: Host,
  program: Program,
  given: CampaignOptions,
  user: UserProgram,
): Promise<Ending> {
  refuseSqlOptions(options);
  const { level } = options;
  const begun: (() => CampaignResult)[] = [];
  const campaign: CampaignOptions = { ...given, onStart: (soFar) => void begun.push(soFar) };
  user.onCut((cut) => {
    const results = begun.map((soFar, i) => (i === begun.length - 1 ? cutResult(soFar(), cut) : soFar()));
    const [first] = results;
    if (level !== 'all' && first !== undefined) return reportOne(file, options, first, host);
    return reportLevels(file, options, results, host);
  });
  const onTurn = user.onTurn();
  const earlier = await earlierFailures(file, options, host, program, () => onTurn(null, () => 'nothing'));
  const ending =
    level === 'all'
      ? await testEveryLevel(file, options, host, program, campaign)
      : await testOneLevel(file, options, host, program, { ...campaign, level });
  return withEarlier(ending, earlier, options);
}

function refuseSqlOptions({ sql = {} }: TestOptions): void {
  for (const option of ['engine', 'isolation', 'granularity', 'plans'] as const) {
    if (sql[option] !== undefined)
      throw new InputError(`option/${option}`, `--${option} is for SQL programs; this program reads and writes keys`);
  }
}

function campaignOptions(
  options: TestOptions,
  progress: Progress,
  host: Host,
  onTurn: CampaignOptions['onTurn'],
): CampaignOptions {
  const { runs, seed, replay, strategy, conflicts, abortRate, timeoutMs, timeMaxMs } = options;
  return {
    signal: host.interruption,
    ...(timeMaxMs === undefined ? {} : { timeMaxMs }),
    runs,
    seed,
    strategy,
    abortRate,
    timeoutMs,
    onTurn,
    ...(replay === undefined ? {} : { replay }),
    ...(conflicts === undefined ? {} : { conflicts }),
    onProgress: (done) => progress.update(done.level, done.runs, done.runsMax),
  };
}

/** Lets the process hear of promises that were rejected and not awaited, before a result is printed. */
function uncaughtErrors(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function testOneLevel(
  file: string,
  options: TestOptions,
  host: Host,
  program: Program,
  campaign: CampaignOptions & { readonly level: ConstrainingLevel },
): Promise<Ending> {
  const budget = new Budget(campaign);
  const result = await runCampaign(program, campaign);
  requireUsed(result);
  // A replay is to look at one run; other runs would only be in the way of what the program prints.
  const isCompared = result.failure !== null && options.replay === undefined && cutOf(result) === null;
  const rest = { ...campaign, timeMaxMs: budget.leftMs };
  const weakestPassing = isCompared ? await weakestPassingLevel(program, campaign.level, rest) : undefined;
  const kept = await keepFailures(host, file, foundByTest(program, result, options));
  return withKept(reportOne(file, options, result, host, weakestPassing), options.json ? null : kept);
}

async function testEveryLevel(
  file: string,
  options: TestOptions,
  host: Host,
  program: Program,
  campaign: CampaignOptions,
): Promise<Ending> {
  const results = await runAtEveryLevel(program, campaign);
  results.forEach(requireUsed);
  const kept = await keepFailures(
    host,
    file,
    results.flatMap((result) => foundByTest(program, result, options)),
  );
  return withKept(reportLevels(file, options, results, host), options.json ? null : kept);
}
