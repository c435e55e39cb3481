/** `moirai test`: campaigns of a user's program, told to a person or as JSON. */
import {
  type CampaignOptions,
  type CampaignResult,
  formatFailure,
  formatLevels,
  formatResult,
  formatTimeout,
  runAtEveryLevel,
  runCampaign,
  weakestPassingLevel,
} from '../campaign/index.ts';
import { InputError } from '../base/index.ts';
import type { ConstrainingLevel } from '../isolation/index.ts';
import { isSqlProgram, type Program } from '../program/index.ts';
import type { ExitCode, Host } from './host.ts';
import { testJson } from './json.ts';
import type { Progress } from './progress.ts';
import { replayCommand, testCommandLine } from './replay-command.ts';
import { appearance } from './style.ts';
import type { TestOptions } from './test-options.ts';
import { testSqlProgram } from './test-sql.ts';
import { placed } from './user-code.ts';
import { UserProgram } from './user-program.ts';

export async function testCommand(file: string, options: TestOptions, host: Host): Promise<ExitCode> {
  if (options.level === 'all' && options.replay !== undefined) {
    throw new InputError(
      'option/replay',
      'a run is replayed at the level at which it failed: --replay needs one --level',
    );
  }
  const user = new UserProgram(file, options.timeoutMs, host);
  const progress = await host.progress(options.json);
  try {
    const program = await user.load();
    if (program === null) return user.late();
    const onTurn = user.onTurn();
    if (isSqlProgram(program)) {
      const show = await testSqlProgram(file, options, host, program, progress, () => onTurn(null, () => 'nothing'));
      progress.stop();
      return show();
    }
    refuseSqlOptions(options);
    const campaign = campaignOptions(options, progress, onTurn);
    const show =
      options.level === 'all'
        ? await testEveryLevel(file, options, host, program, campaign)
        : await testOneLevel(file, options, host, program, { ...campaign, level: options.level });
    await uncaughtErrors();
    progress.stop();
    return show();
  } catch (error) {
    throw error instanceof InputError ? placed(error, file) : error;
  } finally {
    progress.stop();
    user.stop();
  }
}

function refuseSqlOptions({ sql = {} }: TestOptions): void {
  for (const option of ['engine', 'isolation', 'granularity'] as const) {
    if (sql[option] !== undefined)
      throw new InputError(`option/${option}`, `--${option} is for SQL programs; this program reads and writes keys`);
  }
}

function campaignOptions(options: TestOptions, progress: Progress, onTurn: CampaignOptions['onTurn']): CampaignOptions {
  const { runs, seed, replay, strategy, conflicts, abortRate, timeoutMs } = options;
  return {
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

/** Lets the process hear of promises that were rejected and that nobody awaits, before a result is printed. */
function uncaughtErrors(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Prints what was found. */
type Show = () => ExitCode;

async function testOneLevel(
  file: string,
  options: TestOptions,
  host: Host,
  program: Program,
  campaign: CampaignOptions & { readonly level: ConstrainingLevel },
): Promise<Show> {
  const result = await runCampaign(program, campaign);
  // A replay is to look at one run; other runs would only be in the way of what the program prints.
  const isCompared = result.failure !== null && options.replay === undefined;
  const weakestPassing = isCompared
    ? { weakestPassing: await weakestPassingLevel(program, campaign.level, campaign) }
    : {};
  return () => {
    const command = result.failure === null ? null : replayCommand(file, options, result, host);
    if (options.json) {
      host.out(`${JSON.stringify(testJson(result, { ...weakestPassing, command }))}\n`);
    } else if (command !== null) {
      const look = appearance(host, options.color);
      host.out(`${formatFailure(result, { ...look, ...weakestPassing, command, runsAtOtherLevels: options.runs })}\n`);
    } else if (result.timeout === null) {
      host.out(`${formatResult(result, appearance(host, options.color))}\n`);
    }
    return exitCode([result], options, host);
  };
}

async function testEveryLevel(
  file: string,
  options: TestOptions,
  host: Host,
  program: Program,
  campaign: CampaignOptions,
): Promise<Show> {
  const results = await runAtEveryLevel(program, campaign);
  const command = (result: CampaignResult): string | null =>
    result.failure === null ? null : replayCommand(file, options, result, host);
  return () => {
    if (options.json) {
      host.out(`${JSON.stringify(results.map((result) => testJson(result, { command: command(result) })))}\n`);
    } else {
      host.out(`${formatLevels(results, appearance(host, options.color))}\n${hint(file, options, host, results)}`);
    }
    return exitCode(results, options, host);
  };
}

/** The way from the table to a run that fails, at the strongest level at which one does. */
function hint(file: string, options: TestOptions, host: Host, results: readonly CampaignResult[]): string {
  const failing = results.findLast(({ failure }) => failure !== null);
  if (failing === undefined) return '';
  return `\nto see a failing run: ${testCommandLine(file, { ...options, level: failing.level }, host)}\n`;
}

/** A violation that was found stays found when a later run does not end. */
function exitCode(results: readonly CampaignResult[], { timeoutMs }: TestOptions, host: Host): ExitCode {
  const timeout = results.find((result) => result.timeout !== null)?.timeout ?? null;
  if (timeout !== null) host.err(`${formatTimeout(timeout, timeoutMs)}\n`);
  if (results.some(({ violations }) => violations > 0)) return 1;
  return timeout === null ? 0 : 2;
}
