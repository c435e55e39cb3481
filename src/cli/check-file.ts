/** One history of `moirai check`, up to what is shown of it: as data that goes from thread to thread. */
import type { CompactLevel } from '../check/index.ts';
import { InputError, type Place } from '../base/index.ts';
import { compactOf, type History } from '../history/index.ts';
import { check, isolationLevels, summarize, type Verdict } from '../isolation/index.ts';
import type { CycleDrawing } from '../report/index.ts';
import { judgeLarge } from './check-large.ts';
import {
  type Answer,
  type FileReport,
  formatReport,
  reportJson,
  strongest,
  type Violation,
  violationIn,
} from './check-report.ts';
import { openHistory, openHistoryFolder } from './history-input.ts';
import type { Host } from './host.ts';
import { appearance } from './style.ts';

/** What checking a history needs of the process around. */
export type CheckHost = Pick<Host, 'openInput' | 'listFolder' | 'err' | 'columns' | 'env'>;

export interface CheckFileOptions {
  /** Absent: all levels, and no level is asked for. */
  readonly level?: CompactLevel;
  /** Of the files; absent: each says it itself. */
  readonly format?: string;
  readonly color: boolean;
  /** For the search of one level of one history; then it is unknown. Default 5 minutes. */
  readonly timeoutMs?: number;
}

export const checkDefaults = { timeoutMs: 300_000 } as const;

/** A history: a file, or a folder of which these are the files that count. */
export interface HistoryPath {
  readonly path: string;
  readonly files: readonly string[] | null;
}

export type CheckedFile =
  | {
      readonly kind: 'checked';
      readonly file: string;
      readonly text: string;
      readonly json: object;
      readonly levels: Readonly<Partial<Record<CompactLevel, Answer['kind']>>>;
      readonly strongest: CompactLevel | null;
      readonly drawing: CycleDrawing | null;
    }
  | {
      readonly kind: 'refused';
      readonly file: string;
      readonly code: string;
      readonly message: string;
      readonly place: Place | undefined;
    };

/** Bad input is an answer here: other histories may be good. */
export async function checkFile(path: HistoryPath, options: CheckFileOptions, host: CheckHost): Promise<CheckedFile> {
  try {
    const report = await judge(path, options, host);
    const { violation } = report;
    return {
      kind: 'checked',
      file: report.file,
      text: formatReport(report, appearance(host, options.color)),
      json: reportJson(report),
      levels: Object.fromEntries([...report.answers].map(([level, { kind }]) => [level, kind])),
      strongest: strongest(report),
      drawing: violation === null ? null : { ...violation.drawing, title: `${report.file}: not ${violation.level}` },
    };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { kind: 'refused', file: path.path, code: error.code, message: error.message, place: error.place };
  }
}

async function judge(
  { path, files }: HistoryPath,
  { level, format, timeoutMs = checkDefaults.timeoutMs }: CheckFileOptions,
  host: CheckHost,
): Promise<FileReport> {
  const input =
    files === null ? await openHistory(path, host, format) : await openHistoryFolder(path, files, host, format);
  try {
    if (input.size === 'large') return judgeLarge(path, input.history, levelsUpTo(level), host, timeoutMs);
    if (level === 'pl-2') return judgeLarge(path, compactOf(input.history), levelsUpTo(level), host, timeoutMs);
    return judgeSmall(path, input.history, level);
  } catch (error) {
    throw error instanceof InputError && error.place?.file === undefined ? error.in(path) : error;
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
