/** One history of `moirai check`, up to what is shown of it: as data that goes from thread to thread. */
import type { CompactLevel } from '../check/index.ts';
import { InputError, type Place, settledWithin, stopText, TimeLimit, within } from '../base/index.ts';
import { monotonicMs } from '../base/clock.ts';
import { compactOf, type History, relationsOf, statusCode } from '../history/index.ts';
import { check, type IsolationLevel, isolationLevels, summarize, type Verdict } from '../isolation/index.ts';
import type { CycleDrawing } from '../report/index.ts';
import { judgeLarge, type LargeOptions } from './check-large.ts';
import { type CheckedLevel, type CheckedLevels, checkLevels, levelsOf } from './check-levels.ts';
import { type Answer, type FileReport, formatReport, reportJson, strongest, violationIn } from './check-report.ts';
import { assumedWhole, type HistoryInput, openHistory, openHistoryFolder, type SizedHistory } from './history-input.ts';
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
  /** For one history, with all its levels; what is open then is unknown. Default 5 minutes. */
  readonly timeoutMs?: number;
  /** Is the history judged as if reads of values that no transaction wrote were not in it? */
  readonly ignoreThinAirReads?: boolean;
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
      readonly drawing: CycleDrawing | null;
    }
  | {
      readonly kind: 'refused';
      readonly file: string;
      readonly code: string;
      readonly message: string;
      readonly place: Place | undefined;
    };

export type Checked = Extract<CheckedFile, { kind: 'checked' }>;

/** Bad input is an answer here: other histories may be good. @param onSoFar called with what is known so far when that has grown */
export async function checkFile(
  path: HistoryPath,
  options: CheckFileOptions,
  host: CheckHost,
  onSoFar: (soFar: () => Checked) => void = () => {},
): Promise<CheckedFile> {
  const shown = (report: FileReport): Checked => checkedOf(report, options, host);
  try {
    return shown(await judge(path, options, host, (report) => onSoFar(() => shown(report))));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { kind: 'refused', file: path.path, code: error.code, message: error.message, place: error.place };
  }
}

/** The user had enough before anything was known of it. */
export function notChecked({ path }: HistoryPath, options: CheckFileOptions, host: CheckHost): Checked {
  return checkedOf(unread(path, levelsOf(levelsUpTo(options.level), new Map())), options, host);
}

function checkedOf(found: FileReport, { color, level }: CheckFileOptions, host: CheckHost): Checked {
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
    drawing: violation === null ? null : { ...violation.drawing, title: `${report.file}: not ${violation.level}` },
  };
}

async function judge(
  { path, files }: HistoryPath,
  { level, format, ignoreThinAirReads = false, timeoutMs = checkDefaults.timeoutMs }: CheckFileOptions,
  host: CheckHost,
  onReport: (soFar: FileReport) => void,
): Promise<FileReport> {
  const endMs = monotonicMs() + timeoutMs;
  const limited: CheckHost = { ...host, openInput: (file) => readUntil(host.openInput(file), new TimeLimit(endMs)) };
  const opened = files === null ? openHistory(path, limited, format) : openHistoryFolder(path, files, limited, format);
  const input = await settledWithin<HistoryInput | null>(opened, null);
  if (input === null) return unread(path, sameAnswer(levelsUpTo(level), outOfTimeReading));
  const assumed = input.marksEnd ? [] : [assumedWhole];
  const judgeWith = (thinAirReads: 'forbidden' | 'ignored', on: typeof onReport): FileReport =>
    judgeInput(path, input, level, { thinAirReads, assumed, timeoutMs: endMs - monotonicMs(), onReport: on }, host);
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

const outOfTime: Answer = { kind: 'unknown', text: `unknown: ${stopText('time')}` };

/** The time was over before the whole file was read. */
const outOfTimeReading: Answer = { ...outOfTime, text: `${outOfTime.text} while the file was read` };
const nothingToJudge: Answer = { kind: 'unknown', text: 'unknown: no committed transaction read or wrote anything' };

function sameAnswer(levels: readonly CompactLevel[], answer: Answer): CheckedLevels {
  return { answers: new Map(levels.map((level) => [level, answer])), violation: null };
}

function unread(file: string, levels: CheckedLevels): FileReport {
  return { file, transactionCount: 0, operationCount: 0, ...levels, thinAirReads: 0, rest: null, assumed: [] };
}

function judgeInput(
  file: string,
  input: HistoryInput,
  level: CompactLevel | undefined,
  options: LargeOptions,
  host: CheckHost,
): FileReport {
  const levels = levelsUpTo(level);
  if (hasNothingToJudge(input)) return { ...unread(file, sameAnswer(levels, nothingToJudge)), ...sizeOf(input) };
  if (input.size === 'large') return judgeLarge(file, input.history, levels, host, options);
  if (level === 'pl-2') return judgeLarge(file, compactOf(input.history), levels, host, options);
  return judgeSmall(file, input.history, levels, options, host);
}

function sizeOf({ size, history }: SizedHistory): Pick<FileReport, 'transactionCount' | 'operationCount'> {
  if (size === 'large') return { transactionCount: history.transactionCount, operationCount: history.operationCount };
  const operationCount = history.transactions.reduce((sum, { operations }) => sum + operations.length, 0);
  return { transactionCount: history.transactions.length, operationCount };
}

/** No level forbids what did not commit, and what neither read nor wrote. */
function hasNothingToJudge({ size, history }: SizedHistory): boolean {
  if (size === 'small')
    return history.transactions.every(({ status, operations }) => status !== 'committed' || operations.length === 0);
  const { status, operationStart } = history;
  for (let t = 0; t < history.transactionCount; t += 1)
    if (status[t] === statusCode.committed && (operationStart[t + 1] as number) > (operationStart[t] as number))
      return false;
  return true;
}

/** PL-2 is on no chain with levels that ask for session order; it is checked where it is asked for. */
function levelsUpTo(asked?: CompactLevel): readonly CompactLevel[] {
  if (asked === 'pl-2') return ['read-uncommitted', 'pl-2'];
  return isolationLevels.slice(0, asked === undefined ? undefined : isolationLevels.indexOf(asked) + 1);
}

/** The checker of small histories shows more of a violation; where it gives up, that of large ones may not. */
function judgeSmall(
  file: string,
  history: History,
  levels: readonly CompactLevel[],
  options: LargeOptions,
  host: CheckHost,
): FileReport {
  const { thinAirReads, assumed, timeoutMs, onReport } = options;
  const endMs = monotonicMs() + timeoutMs;
  const limit = new TimeLimit(endMs);
  const { phenomena, ambiguous } = relationsOf(history);
  const reportOf = (found: CheckedLevels): FileReport => ({
    file,
    ...sizeOf({ size: 'small', history }),
    ...found,
    thinAirReads: phenomena.filter(({ kind }) => kind === 'thin-air-read').length,
    rest: null,
    assumed,
  });
  let gaveUp = false;
  const checkLevel = (level: CompactLevel): CheckedLevel => {
    const verdict = within<Verdict | null>(
      () => check(history, level as IsolationLevel, { thinAirReads, limit }),
      null,
    );
    if (verdict === null) return { answer: outOfTime, violation: null };
    gaveUp ||= verdict.kind === 'unknown' && verdict.reason === 'step-limit';
    const answer = { kind: verdict.kind, text: verdict.kind === 'unknown' ? summarize(verdict) : verdict.kind };
    return { answer, violation: verdict.kind === 'violated' ? violationIn(history, level, verdict) : null };
  };
  const order = ambiguous.length === 0 ? 'weakest-first' : 'strongest-first';
  const found = checkLevels(levels, order, checkLevel, (soFar) => onReport(reportOf(soFar)));
  if (gaveUp)
    return judgeLarge(file, compactOf(history), levels, host, { ...options, timeoutMs: endMs - monotonicMs() });
  return reportOf(found);
}
