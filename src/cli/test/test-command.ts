/** `moirai test`: campaigns of a user's program, as text or as JSON. */
import type { Command } from '@commander-js/extra-typings';
import { Option } from '../commander.ts';
import { strategyNames } from '../../mockdb/index.ts';
import { exitCodes } from '../options/exit-codes.ts';
import { defaults } from '../options/invocation.ts';
import { oneOf, rate, seconds, storeLevel, storeStrategy, wholeNumber } from '../options/option-values.ts';
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
import { type ConstrainingLevel, constrainingLevels } from '../../isolation/index.ts';
import { isSqlProgram, type Program, requireUsed } from '../../program/index.ts';
import type { ReportData } from '../../report/index.ts';
import { type EarlierFailures, replayEarlier } from '../failures/earlier-failures.ts';
import { foundByTest } from '../failures/found-failures.ts';
import type { ExitCode, Host, Ending } from '../host.ts';
import { keepFailures, recordedRun } from '../failures/kept-failures.ts';
import { reportFiles, withReports } from '../page/report-file.ts';
import type { Progress } from '../output/progress.ts';
import type { TestOptions } from './test-options.ts';
import { cutResult, pageOf, reportLevels, reportOne } from './test-report.ts';
import { testSqlProgram } from './test-sql.ts';
import { exploreOnCommand, refuseWithServer } from '../explore/explore-on.ts';
import { placed } from '../modules/user-code.ts';
import { printEnding, UserProgram, withEarlier, withKept } from '../modules/user-program.ts';

export function addTest(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('test')
    .description(
      'Runs a program many times against a store that shows every behaviour of a level, and explains the first run that fails.',
    )
    .argument('<file>', 'a module whose default export is a program: TypeScript or JavaScript')
    .option(
      '--level <level>',
      `what the store guarantees: ${constrainingLevels.join(', ')}, or all (default: ${defaults.level})`,
      storeLevel,
    )
    .option(
      '--engine <name>',
      'for SQL programs: behave as postgres, mysql or mariadb-11.6 does (default: as the program speaks)',
    )
    .option('--isolation <level>', "for SQL programs: the engine's level where a transaction names none")
    .option('--granularity <what>', 'for SQL programs with --level: what one read reads, row (default) or cell')
    .addOption(
      new Option(
        '--plans <which>',
        'for SQL programs on an engine: the access paths that a server is likely to take, or drawn for each run of those that it may take',
      )
        .choices(['likely', 'all'] as const)
        .default('likely' as const),
    )
    .option('--runs <n>', `how many runs (default: ${defaults.runs}; of SQL programs 100)`, wholeNumber('runs', 1))
    .option(
      '--seed <n>',
      'run i of a seed is always the same run',
      wholeNumber('seed', Number.MIN_SAFE_INTEGER),
      defaults.seed,
    )
    .option(
      '--on <url>',
      'random orders of statements on a real server: postgres://USER:PASSWORD@HOST:PORT or mysql://...',
    )
    .option('--replay <token>', 'only the run that printed this token')
    .option('--no-failures', 'neither replay nor keep failing runs in .moirai/failures')
    .option(
      '--strategy <name>',
      `how a read chooses among what it may see: ${strategyNames.join(', ')}`,
      storeStrategy,
      defaults.strategy,
    )
    .option(
      '--conflicts <what>',
      'what a session does when its commit fails: retry or abort (default: as the program says)',
      oneOf('conflicts', ['retry', 'abort']),
    )
    .option(
      '--abort-rate <share>',
      'share of commits that fail although they could succeed, to test retries',
      rate,
      defaults.abortRate,
    )
    .addOption(
      new Option('--timeout <seconds>', 'for one run')
        .argParser(seconds('timeout'))
        .default(defaults.timeoutMs, String(defaults.timeoutMs / 1_000)),
    )
    .option('--max-time <seconds>', 'for all runs; prints what it has found by then', seconds('max-time'))
    .option('--report <file>', 'write what was found as one HTML page: the failing runs, drawn, step by step')
    .option(
      '--summary <file>',
      'add what was found to a Markdown file, such as the job summary of GitHub ($GITHUB_STEP_SUMMARY)',
    )
    .option('--junit <file>', 'write what was found as JUnit XML: a test case for each level')
    .option('--json', 'print one JSON object (an array for --level all) and nothing else')
    .option('--no-color', 'no colour, even on a terminal')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', testHelp)
    .action(
      async (
        file,
        {
          timeout,
          maxTime,
          replay,
          conflicts,
          failures,
          report,
          summary,
          junit,
          json = false,
          level,
          runs,
          engine,
          isolation,
          granularity,
          plans,
          on,
          ...options
        },
      ) => {
        if (on !== undefined) {
          refuseWithServer({ level, engine, granularity, replay, conflicts, report, summary, junit });
          refuseWithServer({ plans: plans === 'all', 'abort-rate': options.abortRate > 0 });
          const search = { kind: 'random', runs: runs ?? 100, seed: options.seed } as const;
          const asked = { isolation, search, timeMaxMs: maxTime ?? null, timeoutMs: timeout, failsFast: true, json };
          end(await exploreOnCommand(file, on, { ...asked, color: options.color }, host));
          return;
        }
        const given = {
          ...(replay === undefined ? {} : { replay }),
          ...(conflicts === undefined ? {} : { conflicts }),
          ...(maxTime === undefined ? {} : { timeMaxMs: maxTime }),
        };
        const sql = {
          ...(engine === undefined ? {} : { engine }),
          ...(isolation === undefined ? {} : { isolation }),
          ...(granularity === undefined ? {} : { granularity }),
          ...(level === undefined ? {} : { level }),
          ...(runs === undefined ? {} : { runs }),
          ...(plans === 'all' ? { plans } : {}),
        };
        const resolved = { level: level ?? defaults.level, runs: runs ?? defaults.runs, sql, timeoutMs: timeout };
        const keeping = failures ? host : { ...host, failures: null };
        const asked = { ...options, ...given, ...resolved, files: reportFiles({ report, summary, junit }), json };
        end(await testCommand(file, asked, keeping));
      },
    );
}

async function testCommand(file: string, asked: TestOptions, host: Host): Promise<ExitCode> {
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
  const ending = withKept(reportOne(file, options, result, host, weakestPassing), options.json ? null : kept);
  return withCampaignReport(ending, [result], file, options, host, weakestPassing);
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
  const ending = withKept(reportLevels(file, options, results, host), options.json ? null : kept);
  return withCampaignReport(ending, results, file, options, host);
}

function withCampaignReport(
  ending: Ending,
  results: readonly CampaignResult[],
  file: string,
  options: TestOptions,
  host: Host,
  weakestPassing?: ConstrainingLevel | null,
): Promise<Ending> {
  const { files, json } = options;
  const reportOf = (some: readonly CampaignResult[]): ReportData => pageOf(file, options, some, host, weakestPassing);
  const reported = { page: () => reportOf(results), results: () => results.map((result) => reportOf([result])) };
  return withReports(ending, reported, { files, prints: !json, host });
}

const testHelp = `
Ctrl-C and --max-time end it with what was found so far; a second Ctrl-C ends at once.

Examples:
  moirai test cart.ts
  moirai test cart.ts --level snapshot-isolation --runs 100000 --seed 7
  moirai test cart.ts --abort-rate 0.2 --conflicts abort
${exitCodes}`;
