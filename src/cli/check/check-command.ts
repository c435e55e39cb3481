/** `moirai check`: at which levels is a history, or are many? */
import { InputError, stopText } from '../../base/index.ts';
import { type Checked, type CheckedFile, checkFile, type CheckFileOptions, type HistoryPath } from './check-file.ts';
import { CheckReports, type CheckReportOptions } from './check-reports.ts';
import { checkOnThreads } from './check-threads.ts';
import { historyPaths } from './history-paths.ts';
import type { ExitCode, Host } from '../host.ts';
import { noProgress, type Progress } from '../output/progress.ts';
import { runInterruptibly } from '../interruption/run-interruptibly.ts';
import { printEnding } from '../modules/user-program.ts';
import type { Ending } from '../interruption/watchdog.ts';

export interface CheckCommandOptions extends CheckReportOptions {
  /** Threads. Absent: 1. */
  readonly jobs?: number;
}

export async function checkCommand(
  files: readonly string[],
  options: CheckCommandOptions,
  host: Host,
): Promise<ExitCode> {
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
    return printEnding(reports.ending(), quiet);
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
        done(index, await checkFile(path, options, host, soFar.bind(null, index)));
    }
  } finally {
    progress.stop();
  }
}

/** What goes to a thread. */
function fileOptions({
  level,
  format,
  color,
  timeoutMs,
  ignoreThinAirReads = false,
}: CheckCommandOptions): CheckFileOptions {
  const limit = { ignoreThinAirReads, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  return { color, ...limit, ...(level === undefined ? {} : { level }), ...(format === undefined ? {} : { format }) };
}
