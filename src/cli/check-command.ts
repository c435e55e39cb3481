/** `moirai check`: at which levels is a history, or are many? */
import { InputError } from '../base/index.ts';
import { formatCount, formatDot, formatMermaid, formatTable } from '../report/index.ts';
import { type CheckedFile, checkFile, type CheckFileOptions, type HistoryPath } from './check-file.ts';
import { checkOnThreads } from './check-threads.ts';
import { historyPaths } from './history-paths.ts';
import type { ExitCode, Host } from './host.ts';

export interface CheckCommandOptions extends CheckFileOptions {
  readonly json: boolean;
  /** Instead of a report: the cycle of each violation. */
  readonly drawing?: 'dot' | 'mermaid' | undefined;
  /** Threads. Absent: 1. */
  readonly jobs?: number;
}

/** Of more histories than this, those of which there is nothing to show are in the summary only. */
const fullReportsMax = 10;

export async function checkCommand(
  files: readonly string[],
  options: CheckCommandOptions,
  host: Host,
): Promise<ExitCode> {
  const paths = await historyPaths(files, host, options.format);
  const isOne = paths.length === 1;
  const print = printer(paths.length, options, host);
  const checked = await checkAll(paths, options, host, (file) => {
    if (isOne && file.kind === 'refused') throw new InputError(file.code, file.message, file.place);
    print(file);
  });
  if (options.drawing !== undefined) {
    const drawings = checked.flatMap((file) =>
      file.kind === 'checked' && file.drawing !== null ? [file.drawing] : [],
    );
    host.out(options.drawing === 'dot' ? formatDot(drawings) : formatMermaid(drawings));
  } else if (options.json) {
    const objects = checked.map(jsonOf);
    host.out(`${JSON.stringify(isOne ? objects[0] : objects)}\n`);
  } else if (!isOne) host.out(`\n${summaryOf(checked, options).join('\n')}\n`);
  return exitCode(checked, options);
}

/** @param onDone in the order of the paths. @returns in that order */
async function checkAll(
  paths: readonly HistoryPath[],
  options: CheckCommandOptions,
  host: Host,
  onDone: (checked: CheckedFile) => void,
): Promise<CheckedFile[]> {
  const done: (CheckedFile | undefined)[] = paths.map(() => undefined);
  let [count, told] = [0, 0];
  const progress = await host.progress(paths.length === 1);
  const take = (index: number, checked: CheckedFile): void => {
    done[index] = checked;
    count += 1;
    progress.stop(); // a bar must not stand in the report
    for (let next = done[told]; next !== undefined; next = done[told]) {
      onDone(next);
      told += 1;
    }
    if (paths.length > 1 && count < paths.length) progress.update('check', count, paths.length, 'histories');
  };
  try {
    const { jobs = 1 } = options;
    if (jobs > 1 && paths.length > 1) {
      await checkOnThreads(paths, jobs, fileOptions(options), host, take);
    } else {
      for (const [index, path] of paths.entries()) take(index, await checkFile(path, options, host));
    }
  } finally {
    progress.stop();
  }
  return done.filter((checked) => checked !== undefined);
}

/** What goes to a thread. */
function fileOptions({ level, format, color, timeoutMs }: CheckCommandOptions): CheckFileOptions {
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  return { color, ...limit, ...(level === undefined ? {} : { level }), ...(format === undefined ? {} : { format }) };
}

/** Prints each report as it comes. */
function printer(
  count: number,
  { json, drawing, level }: CheckCommandOptions,
  host: Host,
): (file: CheckedFile) => void {
  let isFirst = true;
  return (file) => {
    if (json || drawing !== undefined) {
      if (file.kind === 'refused' && drawing !== undefined) host.err(`${refusal(file)}\n`);
      return;
    }
    if (file.kind === 'refused') host.err(`${refusal(file)}\n`);
    else if (count <= fullReportsMax || (level !== undefined && file.levels[level] !== 'satisfied')) {
      host.out(`${isFirst ? '' : '\n'}${file.text}\n`);
      isFirst = false;
    }
  };
}

type Refused = Extract<CheckedFile, { kind: 'refused' }>;

function refusal({ file, code, message, place }: Refused): string {
  const where = [place?.file ?? file, place?.line, place?.column].filter((part) => part !== undefined).join(':');
  return `${where}: ${message} [${code}]`;
}

function jsonOf(file: CheckedFile): object {
  if (file.kind === 'checked') return file.json;
  const { code, message, place } = file;
  return { file: file.file, error: { code, message, ...(place?.line === undefined ? {} : { line: place.line }) } };
}

/** How many have which answer. */
function summaryOf(checked: readonly CheckedFile[], { level }: CheckCommandOptions): string[] {
  const counts = new Map<string, number>();
  for (const file of checked) {
    const answer =
      file.kind === 'refused' ? 'bad input' : level === undefined ? (file.strongest ?? 'none') : file.levels[level];
    counts.set(answer ?? 'none', (counts.get(answer ?? 'none') ?? 0) + 1);
  }
  const rows = [...counts].toSorted(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  return [
    `${formatCount(checked.length)} histories, by ${level === undefined ? 'strongest level' : `answer at ${level}`}`,
    ...formatTable(rows.map(([answer, count]) => [answer, String(count)])),
  ];
}

/** The worst of all. Without a level that was asked for there is nothing to violate. */
function exitCode(checked: readonly CheckedFile[], { level }: CheckCommandOptions): ExitCode {
  if (checked.some(({ kind }) => kind === 'refused')) return 3;
  if (level === undefined) return 0;
  const kinds = new Set(checked.map((file) => (file.kind === 'checked' ? file.levels[level] : undefined)));
  if (kinds.has('violated')) return 1;
  return kinds.has('unknown') ? 2 : 0;
}
