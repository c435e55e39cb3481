/** One history of `moirai check`, up to what is shown of it: as data that goes from thread to thread. */
import type { CompactLevel } from '../../check/index.ts';
import { monotonicMs, InputError, type Place, settledWithin, TimeLimit } from '../../base/index.ts';
import { CutHistoryError } from '../../history/index.ts';
import type { CycleDrawing, RunPicture } from '../../report/index.ts';
import { judgeCut } from './check-cut.ts';
import { judgeHistory, levelsUpTo, outOfTime, sameAnswer, unread } from './check-history.ts';
import { levelsOf } from './check-levels.ts';
import {
  type Answer,
  type FileReport,
  formatReport,
  notesOf,
  reportJson,
  sizeText,
  strongest,
} from './check-report.ts';
import { assumedWhole, type HistoryInput, openHistory, openHistoryFolder } from '../files/history-input.ts';
import type { Host } from '../host.ts';
import { appearance } from '../output/style.ts';

/** What checking a history needs of the process around. */
export type CheckHost = Pick<Host, 'openInput' | 'listFolder' | 'err' | 'columns' | 'env'>;

export interface CheckFileOptions {
  /** Absent: all levels, and no level is asked for. */
  readonly level?: CompactLevel;
  /** Of the files; absent: each says it itself. */
  readonly format?: string;
  readonly color: boolean;
  /** For one history, with all its levels; what is open then is unknown. Default 5 minutes. */
  readonly timeoutMs?: number;
  /** Is the history judged as if reads of values that no transaction wrote were not in it? */
  readonly ignoreThinAirReads?: boolean;
  /** Is a violation drawn, for the HTML report? */
  readonly draws?: boolean;
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
      readonly answers: Readonly<Partial<Record<CompactLevel, Answer>>>;
      readonly strongest: CompactLevel | null;
      readonly assumed: readonly string[];
      /** Where and how the file was cut; `null`: it is whole, as far as its end says. */
      readonly cut: string | null;
      readonly drawing: CycleDrawing | null;
      /** For the HTML report; `null`: none was asked for. */
      readonly page: CheckedPage | null;
    }
  | {
      readonly kind: 'refused';
      readonly file: string;
      readonly code: string;
      readonly message: string;
      readonly place: Place | undefined;
    };

/** What the HTML report shows of a history beside its levels. */
export interface CheckedPage {
  readonly size: string;
  readonly notes: readonly string[];
  /** The weakest level that is violated. */
  readonly violation: { readonly level: CompactLevel; readonly picture: RunPicture } | null;
}

export type Checked = Extract<CheckedFile, { kind: 'checked' }>;

/** Bad input is an answer here: other histories may be good. @param onSoFar called with what is known so far when that has grown */
export async function checkFile(
  path: HistoryPath,
  options: CheckFileOptions,
  host: CheckHost,
  onSoFar: (soFar: () => Checked) => void = () => {},
): Promise<CheckedFile> {
  const shown = (report: FileReport): Checked => checkedOf(report, options, host);
  const endMs = monotonicMs() + (options.timeoutMs ?? checkDefaults.timeoutMs);
  try {
    return shown(await judge(path, endMs, options, host, (report) => onSoFar(() => shown(report))));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const cut = error instanceof CutHistoryError ? judgeCut(path.path, error, options.level, endMs, host) : null;
    if (cut !== null) return shown(cut);
    return { kind: 'refused', file: path.path, code: error.code, message: error.message, place: error.place };
  }
}

/** The user had enough before anything was known of it. */
export function notChecked({ path }: HistoryPath, options: CheckFileOptions, host: CheckHost): Checked {
  return checkedOf(unread(path, levelsOf(levelsUpTo(options.level), new Map())), options, host);
}

function checkedOf(found: FileReport, { color, level, draws = false }: CheckFileOptions, host: CheckHost): Checked {
  const { violation } = found;
  const isGreen = level === undefined || found.answers.get(level)?.kind === 'satisfied';
  const report = isGreen ? found : { ...found, assumed: [] };
  return {
    kind: 'checked',
    file: report.file,
    text: formatReport(report, appearance(host, color)),
    json: reportJson(report),
    answers: Object.fromEntries(report.answers),
    strongest: strongest(report),
    assumed: report.assumed,
    cut: report.cut,
    drawing: violation === null ? null : { ...violation.drawing, title: `${report.file}: not ${violation.level}` },
    page: draws ? pageOf(report) : null,
  };
}

function pageOf(report: FileReport): CheckedPage {
  const { violation, transactionCount, operationCount } = report;
  return {
    size: sizeText(transactionCount, operationCount),
    notes: notesOf(report),
    violation: violation === null ? null : { level: violation.level, picture: violation.picture() },
  };
}

async function judge(
  { path, files }: HistoryPath,
  endMs: number,
  { level, format, ignoreThinAirReads = false }: CheckFileOptions,
  host: CheckHost,
  onReport: (soFar: FileReport) => void,
): Promise<FileReport> {
  const limited: CheckHost = { ...host, openInput: (file) => readUntil(host.openInput(file), new TimeLimit(endMs)) };
  const opened = files === null ? openHistory(path, limited, format) : openHistoryFolder(path, files, limited, format);
  const input = await settledWithin<HistoryInput | null>(opened, null);
  if (input === null) return unread(path, sameAnswer(levelsUpTo(level), outOfTimeReading));
  const assumed = input.marksEnd ? [] : [assumedWhole];
  const judgeWith = (thinAirReads: 'forbidden' | 'ignored', on: typeof onReport): FileReport =>
    judgeHistory(path, input, level, { thinAirReads, assumed, timeoutMs: endMs - monotonicMs(), onReport: on }, host);
  try {
    const report = judgeWith(ignoreThinAirReads ? 'ignored' : 'forbidden', onReport);
    if (report.thinAirReads === 0 || ignoreThinAirReads) return report;
    return { ...report, rest: judgeWith('ignored', () => {}) };
  } catch (error) {
    throw error instanceof InputError && error.place?.file === undefined ? error.in(path) : error;
  }
}

async function* readUntil(chunks: AsyncIterable<Uint8Array>, limit: TimeLimit): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    limit.checkNow();
    yield chunk;
  }
}

/** The time was over before the whole file was read. */
const outOfTimeReading: Answer = { ...outOfTime, text: `${outOfTime.text} while the file was read` };
