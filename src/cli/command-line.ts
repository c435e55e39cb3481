/** The commands and their options. What is wrong with them is one line, as for every other bad input. */
import { Command, CommanderError, Option } from '@commander-js/extra-typings';
import { formatInputError, InputError, isTruncated } from '../base/index.ts';
import { historyFormats } from '../history/index.ts';
import { defaults } from './options/invocation.ts';
import { constrainingLevels, isolationLevels } from '../isolation/index.ts';
import { strategyNames } from '../mockdb/index.ts';
import { parseCommitTestLevel } from '../states/index.ts';
import { checkByCommitTests } from './check/check-by-commit-tests.ts';
import { checkCommand } from './check/check-command.ts';
import { checkDefaults } from './check/check-file.ts';
import { convertCommand } from './convert-command.ts';
import { demoCommand } from './demo-command.ts';
import { addAnalyze } from './analyze/analyze-command.ts';
import { addExplore } from './explore/explore-command.ts';
import type { ExitCode, Host } from './host.ts';
import { moiraiVersion } from './own-files.ts';
import { checkedLevel, oneOf, rate, seconds, storeLevel, strategy, wholeNumber } from './options/option-values.ts';
import { addProtocol } from './protocol/protocol-command.ts';
import { addClock } from './record/clock-command.ts';
import { addRecord } from './record/record-command.ts';
import { addServe } from './serve-command.ts';
import { addReplay } from './failures/replay-command.ts';
import { testCommand } from './test/test-command.ts';
import { addWorkload } from './record/workload-command.ts';
import { addVerify } from './verify/verify-command.ts';

/** Runs one command. Errors become a line on standard error and an exit code; nothing is thrown. */
export async function runCommandLine(args: readonly string[], host: Host): Promise<ExitCode> {
  try {
    return await parseAndRun(args, host);
  } catch (error) {
    return reportError(error, args.includes('--debug'), host);
  }
}

/** @returns the exit code */
export function reportError(error: unknown, isDebugging: boolean, host: Pick<Host, 'err'>): ExitCode {
  const details = isDebugging ? `${stacks(error).join('\ncaused by ')}\n` : '';
  if (error instanceof InputError) {
    host.err(`${oneLine(formatInputError(error))}\n${details}`);
    return isTruncated(error) ? 2 : 3;
  }
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  host.err(
    `moirai failed, which is a bug in it: ${oneLine(what)}${isDebugging ? '' : '; --debug for the stack'}\n${details}`,
  );
  return 4;
}

/** Of the error, of its cause, of the cause of that. */
function stacks(error: unknown): string[] {
  return error instanceof Error ? [error.stack ?? '', ...stacks(error.cause)] : [];
}

async function parseAndRun(args: readonly string[], host: Host): Promise<ExitCode> {
  let code: ExitCode = 0;
  const commands = commandsFor(host, (result) => {
    code = result;
  });
  if (args.length === 0) {
    commands.outputHelp();
    return 0;
  }
  try {
    await commands.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0; // help and version are printed and thrown
    throw new InputError('option/usage', oneLine(error.message.replace(/^error: /, '')));
  }
  return code;
}

function commandsFor(host: Host, end: (code: ExitCode) => void): Command {
  const moirai = new Command('moirai')
    .description('Finds the bugs that transaction isolation hides.')
    .version(moiraiVersion(), '--version', 'print the version')
    .helpOption('--help', 'show what a command does and takes')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut: host.out, writeErr: () => {}, getOutHelpWidth: () => 100 })
    .addHelpText('after', generalHelp);
  addTest(moirai, host, end);
  addExplore(moirai, host, end);
  addReplay(moirai, host, end);
  addAnalyze(moirai, host, end);
  addCheck(moirai, host, end);
  addVerify(moirai, host, end);
  addConvert(moirai, host, end);
  addProtocol(moirai, host, end);
  addServe(moirai, host, end);
  addRecord(moirai, host, end);
  addClock(moirai, host, end);
  addWorkload(moirai, host, end);
  addDemo(moirai, host, end);
  return moirai;
}

function addTest(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
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
    .option('--replay <token>', 'only the run that printed this token')
    .option('--no-failures', 'neither replay nor keep failing runs in .moirai/failures')
    .option(
      '--strategy <name>',
      `how a read chooses among what it may see: ${strategyNames.join(', ')}`,
      strategy,
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
          json = false,
          level,
          runs,
          engine,
          isolation,
          granularity,
          plans,
          ...options
        },
      ) => {
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
        end(await testCommand(file, { ...options, ...given, ...resolved, json }, keeping));
      },
    );
}

function addCheck(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('check')
    .description(
      'Says at which levels recorded histories are, and shows the cycle that rules out the first level that is violated.',
    )
    .argument('<files...>', 'histories in any format that is known, or folders of them; - is standard input')
    .option('--level <level>', `the level that the histories should have: ${isolationLevels.join(', ')}, or pl-2`)
    .option('--format <name>', `of the files: ${formatNames}; without it each file says it itself`)
    .addOption(
      new Option('--by <definition>', 'axioms on commit orders, or commit-tests on executions, which have other levels')
        .argParser(oneOf('by', ['axioms', 'commit-tests']))
        .default('axioms' as const),
    )
    .option('--jobs <n>', 'threads, for many histories', wholeNumber('jobs', 1), 1)
    .addOption(
      new Option('--max-time <seconds>', 'for one history; the levels that are open then are unknown')
        .argParser(seconds('max-time'))
        .default(checkDefaults.timeoutMs, String(checkDefaults.timeoutMs / 1_000)),
    )
    .option('--ignore-thin-air-reads', 'judge as if reads of values that no transaction wrote were not there')
    .option('--dot', 'print the cycle of each violation for Graphviz, and nothing else')
    .option('--mermaid', 'print the cycle of each violation for Mermaid, and nothing else')
    .option('--json', 'print one JSON object (an array for several files) and nothing else')
    .option('--no-color', 'no colour, even on a terminal')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', checkHelp)
    .action(
      async (
        files,
        { json = false, color, level, by, format, jobs, maxTime, ignoreThinAirReads = false, ...drawn },
      ) => {
        const { dot = false, mermaid = false } = drawn;
        const drawing = drawingOption({ dot, mermaid, json, by });
        const given = {
          jobs,
          timeoutMs: maxTime,
          ignoreThinAirReads,
          ...(format === undefined ? {} : { format }),
          ...(drawing === null ? {} : { drawing }),
        };
        const levelBy = <L>(parse: (text: string) => L) => (level === undefined ? {} : { level: parse(level) });
        const code =
          by === 'commit-tests'
            ? await checkByCommitTests(
                files,
                { json, color, ignoreThinAirReads, timeoutMs: maxTime, ...levelBy(parseCommitTestLevel) },
                host,
              )
            : await checkCommand(files, { json, color, ...levelBy(checkedLevel), ...given }, host);
        end(code);
      },
    );
}

/** What is printed instead of a report, if anything. @throws InputError `option/drawing` */
function drawingOption(asked: {
  readonly dot: boolean;
  readonly mermaid: boolean;
  readonly json: boolean;
  readonly by: string;
}): 'dot' | 'mermaid' | null {
  const { dot, mermaid, json, by } = asked;
  if (!dot && !mermaid) return null;
  if ([dot, mermaid, json].filter(Boolean).length > 1)
    throw new InputError('option/drawing', 'of --json, --dot and --mermaid only one can be printed');
  if (by !== 'axioms')
    throw new InputError('option/drawing', `--dot and --mermaid draw cycles, and --by ${by} gives none`);
  return dot ? 'dot' : 'mermaid';
}

function addConvert(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('convert')
    .description('Writes a history in another format.')
    .argument('<input>', 'a history; - is standard input')
    .argument('<output>', 'the file to write; - is standard output')
    .option('--from <name>', `format of the input: ${formatNames}; without it the input says it itself`)
    .option('--to <name>', `format of the output: ${writtenFormatNames}; without it the name of the file says it`)
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', convertHelp)
    .action(async (input, output, { from, to }) => {
      const given = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      end(await convertCommand(input, output, given, host));
    });
}

function addDemo(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('demo')
    .description('The five-minute tour: a shopping cart that loses a removal, and why.')
    .option('--no-color', 'no colour, even on a terminal')
    .option('--debug', 'print the stack of an error')
    .action(async ({ color }) => {
      end(await demoCommand({ color }, host));
    });
}

const formatNames = historyFormats.map(({ name }) => name).join(', ');
const writtenFormatNames = historyFormats.flatMap(({ name, write }) => (write === undefined ? [] : [name])).join(', ');

const exitCodes = `
Exit codes: 0 nothing found, 1 violation found, 2 not known (out of time or budget), 3 bad input or usage,
4 a failure of moirai itself.`;

const generalHelp = `
Examples:
  moirai demo                          the five-minute tour
  moirai test cart.ts                  1,000 runs at causal
  moirai test cart.ts --level all      a table of all levels
  moirai explore cart.ts               every history, each exactly once
  moirai replay FILE                   a failing run that was kept: does it still fail?
  moirai check run.history.jsonl       at which levels is this history?
  moirai serve --engine postgres       a mock PostgreSQL under the worst timing
  moirai record --upstream URL         a proxy that records what clients of a server read and write
  moirai test --help                   what a command takes
${exitCodes}`;

const testHelp = `
Ctrl-C and --max-time end it with what was found so far; a second Ctrl-C ends at once.

Examples:
  moirai test cart.ts
  moirai test cart.ts --level snapshot-isolation --runs 100000 --seed 7
  moirai test cart.ts --abort-rate 0.2 --conflicts abort
${exitCodes}`;

const convertHelp = `
Examples:
  moirai convert run.history.jsonl run.moirai         the binary form, for large histories
  moirai convert run.moirai - --to jsonl | head
${exitCodes}`;

const checkHelp = `
moirai recognizes each file by its content. Histories of more than 100 transactions are checked by algorithms for millions of
operations; above causal they search, within limits, and may answer unknown.
A folder of T1.log, T2.log, ... (Cobra) or J1.log, ... (Viper) is one history; any other folder holds one a file. Lists (append) are
checked at every level.
Without --level every level is checked and none is asked for: the exit code is 0 whatever is found, and 2 where a level is unknown, unless only
because the history has no times. Ctrl-C and --max-time end it with the levels decided so far; the others are unknown. A second Ctrl-C ends at once.
A read of a value that no transaction wrote violates read-committed; the report says what the rest is at.

Examples:
  moirai check run.history.jsonl
  moirai check --level serializable *.history
  moirai check --level serializable --jobs 4 runs/
  moirai check --format cobra --level serializable logs/
  moirai check --dot run.history.jsonl | dot -Tsvg > cycle.svg
  moirai check --by commit-tests --level preread run.history.jsonl
  echo 'r x _, w x 1' | moirai check -
${exitCodes}`;

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').trim();
}
