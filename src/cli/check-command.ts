/** `moirai check`: at which levels is a history? */
import { InputError } from '../base/index.ts';
import { type History, parseHistory, parseHistoryLines } from '../history/index.ts';
import {
  check,
  type IsolationLevel,
  isolationLevels,
  summarize,
  type Verdict,
  type Violated,
} from '../isolation/index.ts';
import {
  counted,
  formatCycle,
  formatSessions,
  formatTable,
  type Styler,
  transactionsOf,
  wrap,
} from '../report/index.ts';
import type { ExitCode, Host } from './host.ts';
import { violationJson } from './json.ts';
import { appearance } from './style.ts';

export interface CheckCommandOptions {
  /** Absent: all levels, and no level is asked for. */
  readonly level?: IsolationLevel;
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
    const report = judge(file, await readHistory(file, host), options.level);
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

interface FileReport {
  readonly file: string;
  readonly history: History;
  /** Weakest first. */
  readonly verdicts: ReadonlyMap<IsolationLevel, Verdict>;
}

/** @throws InputError with the file and the place in it */
export async function readHistory(file: string, host: Host): Promise<History> {
  const shown = file === '-' ? 'standard input' : file;
  try {
    const text = decode(await host.readInput(file));
    const history = /^\s*\{/.test(text) ? parseHistoryLines(text) : parseHistory(text);
    if (history.transactions.length > 0) return history;
    throw new InputError('history/empty', 'there is no transaction in it');
  } catch (error) {
    throw error instanceof InputError && error.place?.file === undefined ? error.in(shown) : error;
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new InputError('history/encoding', 'the text is not UTF-8');
  }
}

/** A level forbids what all weaker ones forbid, so the first that is violated answers for those above it. */
function judge(file: string, history: History, asked?: IsolationLevel): FileReport {
  const verdicts = new Map<IsolationLevel, Verdict>();
  let violated: Violated | null = null;
  for (const level of isolationLevels.slice(0, asked === undefined ? undefined : isolationLevels.indexOf(asked) + 1)) {
    const verdict: Verdict = violated ?? check(history, level);
    if (verdict.kind === 'violated') violated = verdict;
    verdicts.set(level, verdict);
  }
  return { file, history, verdicts };
}

function strongest({ verdicts }: FileReport): IsolationLevel | null {
  return [...verdicts].findLast(([, { kind }]) => kind === 'satisfied')?.[0] ?? null;
}

function weakestViolation({
  verdicts,
}: FileReport): { readonly level: IsolationLevel; readonly verdict: Violated } | null {
  for (const [level, verdict] of verdicts) if (verdict.kind === 'violated') return { level, verdict };
  return null;
}

function formatReport(
  report: FileReport,
  { style, width }: { readonly style: Styler; readonly width: number },
): string {
  const { file, history, verdicts } = report;
  const operations = history.transactions.reduce((sum, transaction) => sum + transaction.operations.length, 0);
  const levels = formatTable([...verdicts].map(([level, verdict]) => [level, answer(verdict)]));
  const violation = weakestViolation(report);
  return [
    `${style('name', file)}: ${counted(history.transactions.length, 'transaction')}, ${counted(operations, 'operation')}`,
    ...levels.map((line, i) => style(styles[[...verdicts.values()][i]?.kind ?? 'unknown'], line)),
    `strongest level: ${strongest(report) ?? 'none'}`,
    ...(violation === null ? [] : evidence(history, violation.verdict, style, width)),
  ].join('\n');
}

export const styles = { satisfied: 'good', violated: 'bad', unknown: 'warning' } as const;

function answer(verdict: Verdict): string {
  return verdict.kind === 'unknown' ? summarize(verdict) : verdict.kind;
}

/** Of a history with more transactions than this, only those of the evidence are shown. */
export const transactionsShownMax = 12;

function evidence(history: History, verdict: Violated, style: Styler, width: number): string[] {
  const { length } = history.transactions;
  const only = length > transactionsShownMax ? { only: new Set(transactionsOf(verdict)) } : {};
  return [
    '',
    ...formatSessions(history, { width, style, ...only }),
    '',
    ...wrap(summarize(verdict), width),
    ...formatCycle(history, verdict, width),
  ];
}

function reportJson(report: FileReport): object {
  const { file, history, verdicts } = report;
  const violation = weakestViolation(report);
  return {
    file,
    transactions: history.transactions.length,
    operations: history.transactions.reduce((sum, { operations }) => sum + operations.length, 0),
    levels: Object.fromEntries([...verdicts].map(([level, { kind }]) => [level, kind])),
    strongest: strongest(report),
    violations: violation === null ? [] : [violationJson(history, violation.level, violation.verdict)],
  };
}

/** Without a level that was asked for there is nothing to violate. */
function exitCode(reports: readonly FileReport[], asked?: IsolationLevel): ExitCode {
  if (asked === undefined) return 0;
  const kinds = new Set(reports.map(({ verdicts }) => verdicts.get(asked)?.kind));
  if (kinds.has('violated')) return 1;
  return kinds.has('unknown') ? 2 : 0;
}
