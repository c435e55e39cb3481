/** `moirai check`: at which levels is a history? */
import { InputError } from '../base/index.ts';
import type { CompactLevel } from '../check/index.ts';
import { compactOf, type History } from '../history/index.ts';
import { check, isolationLevels, summarize, type Verdict } from '../isolation/index.ts';
import { judgeLarge } from './check-large.ts';
import { type Answer, type FileReport, formatReport, reportJson, type Violation, violationIn } from './check-report.ts';
import { openHistory } from './history-input.ts';
import type { ExitCode, Host } from './host.ts';
import { appearance } from './style.ts';

export interface CheckCommandOptions {
  /** Absent: all levels, and no level is asked for. */
  readonly level?: CompactLevel;
  /** Of the files; absent: each says it itself. */
  readonly format?: string;
  readonly json: boolean;
  readonly color: boolean;
}

export async function checkCommand(
  files: readonly string[],
  options: CheckCommandOptions,
  host: Host,
): Promise<ExitCode> {
  const reports: FileReport[] = [];
  for (const file of files) {
    const report = await judge(file, options, host);
    reports.push(report);
    if (!options.json)
      host.out(`${reports.length > 1 ? '\n' : ''}${formatReport(report, appearance(host, options.color))}\n`);
  }
  if (options.json) {
    const objects = reports.map(reportJson);
    host.out(`${JSON.stringify(objects.length === 1 ? objects[0] : objects)}\n`);
  }
  return exitCode(reports, options.level);
}

async function judge(file: string, { level, format }: CheckCommandOptions, host: Host): Promise<FileReport> {
  const input = await openHistory(file, host, format);
  try {
    if (input.size === 'large') return judgeLarge(file, input.history, levelsUpTo(level), host);
    if (level === 'pl-2') return judgeLarge(file, compactOf(input.history), levelsUpTo(level), host);
    return judgeSmall(file, input.history, level);
  } catch (error) {
    throw error instanceof InputError && error.place?.file === undefined ? error.in(file) : error;
  }
}

/** PL-2 is on no chain with levels that ask for session order; it is checked where it is asked for. */
function levelsUpTo(asked?: CompactLevel): readonly CompactLevel[] {
  if (asked === 'pl-2') return ['read-uncommitted', 'pl-2'];
  return isolationLevels.slice(0, asked === undefined ? undefined : isolationLevels.indexOf(asked) + 1);
}

/** A level forbids what all weaker ones forbid, so the first that is violated answers for those above it. */
function judgeSmall(file: string, history: History, asked?: CompactLevel): FileReport {
  const answers = new Map<CompactLevel, Answer>();
  let violation: Violation | null = null;
  for (const level of levelsUpTo(asked)) {
    const verdict: Verdict | null = violation === null && level !== 'pl-2' ? check(history, level) : null;
    if (verdict?.kind === 'violated') violation = violationIn(history, level, verdict);
    const kind = verdict?.kind ?? 'violated';
    answers.set(level, { kind, text: verdict?.kind === 'unknown' ? summarize(verdict) : kind });
  }
  const operationCount = history.transactions.reduce((sum, { operations }) => sum + operations.length, 0);
  return { file, transactionCount: history.transactions.length, operationCount, answers, violation };
}

/** Without a level that was asked for there is nothing to violate. */
function exitCode(reports: readonly FileReport[], asked?: CompactLevel): ExitCode {
  if (asked === undefined) return 0;
  const kinds = new Set(reports.map(({ answers }) => answers.get(asked)?.kind));
  if (kinds.has('violated')) return 1;
  return kinds.has('unknown') ? 2 : 0;
}
