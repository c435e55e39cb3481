/** `moirai check`: at which levels is a history, or are many? */
import type { Command } from '@commander-js/extra-typings';
import { Option } from '../commander.ts';
import { InputError, stopText } from '../../base/index.ts';
import { isolationLevels } from '../../isolation/index.ts';
import { parseCommitTestLevel } from '../../states/index.ts';
import { exitCodes } from '../options/exit-codes.ts';
import { checkedLevel, formatNames, oneOf, seconds, wholeNumber } from '../options/option-values.ts';
import { checkByCommitTests } from './check-by-commit-tests.ts';
import {
  type Checked,
  checkDefaults,
  type CheckedFile,
  checkFile,
  type CheckFileOptions,
  type HistoryPath,
} from './check-file.ts';
import { CheckReports, type CheckReportOptions } from './check-reports.ts';
import { checkOnThreads } from './check-threads.ts';
import { historyPaths } from './history-paths.ts';
import type { ExitCode, Host, Ending } from '../host.ts';
import { type ReportFiles, reportFiles, withReports } from '../page/report-file.ts';
import { noProgress, type Progress } from '../output/progress.ts';
import { runInterruptibly } from '../interruption/run-interruptibly.ts';
import { printEnding } from '../modules/user-program.ts';

export function addCheck(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
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
    .option(
      '--report <file>',
      'write what was found as one HTML page: the levels, and the violation drawn, step by step',
    )
    .option(
      '--summary <file>',
      'add what was found to a Markdown file, such as the job summary of GitHub ($GITHUB_STEP_SUMMARY)',
    )
    .option('--junit <file>', 'write what was found as JUnit XML: a test case for each history')
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
        const reports = reportFiles(drawn);
        const asked = Object.entries(reports).find(([, path]) => path !== null);
        if (asked !== undefined && by !== 'axioms')
          throw new InputError(`option/${asked[0]}`, `--${asked[0]} shows cycles, and --by ${by} gives none`);
        const given = {
          jobs,
          timeoutMs: maxTime,
          ignoreThinAirReads,
          reports,
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

interface CheckCommandOptions extends CheckReportOptions {
  /** Threads. Absent: 1. */
  readonly jobs?: number;
  readonly reports: ReportFiles;
}

async function checkCommand(files: readonly string[], options: CheckCommandOptions, host: Host): Promise<ExitCode> {
  let reports: CheckReports | null = null;
  let progress = noProgress;
  const soFar = (): Ending => {
    progress.stop();
    return reports?.ending() ?? { out: '', err: `${stopText('interrupted')}\n`, code: 2 };
  };
  return runInterruptibly(host, soFar, async (quiet) => {
    const paths = await historyPaths(files, quiet, options.format);
    reports = new CheckReports(paths, options, quiet);
    progress = await quiet.progress(paths.length === 1);
    await checkAll(paths, options, quiet, reports, progress);
    const { json, drawing } = options;
    const asked = { files: options.reports, prints: !json && drawing === undefined, host: quiet };
    const made = reports;
    const reported = { page: () => made.page(files), results: () => made.pages() };
    return printEnding(await withReports(made.ending(), reported, asked), quiet);
  });
}

async function checkAll(
  paths: readonly HistoryPath[],
  options: CheckCommandOptions,
  host: Host,
  reports: CheckReports,
  progress: Progress,
): Promise<void> {
  const done = (index: number, checked: CheckedFile): void => {
    if (paths.length === 1 && checked.kind === 'refused')
      throw new InputError(checked.code, checked.message, checked.place);
    progress.stop(); // a bar must not stand in the report
    const { out, err } = reports.take(index, checked);
    if (out !== '') host.out(out);
    if (err !== '') host.err(err);
    if (paths.length > 1 && reports.count < paths.length)
      progress.update('check', reports.count, paths.length, 'histories');
  };
  const soFar = (index: number, checked: () => Checked): void => reports.begin(index, checked);
  try {
    const { jobs = 1 } = options;
    if (jobs > 1 && paths.length > 1) {
      await checkOnThreads(paths, jobs, fileOptions(options), host, { soFar, done });
    } else {
      for (const [index, path] of paths.entries())
        done(index, await checkFile(path, fileOptions(options), host, soFar.bind(null, index)));
    }
  } finally {
    progress.stop();
  }
}

/** What one file needs; it goes to a thread. */
function fileOptions({
  level,
  format,
  color,
  timeoutMs,
  ignoreThinAirReads = false,
  reports,
  json,
}: CheckCommandOptions): CheckFileOptions {
  const draws = json || Object.values(reports).some((path) => path !== null);
  const limit = {
    ignoreThinAirReads,
    draws,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  return { color, ...limit, ...(level === undefined ? {} : { level }), ...(format === undefined ? {} : { format }) };
}

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
