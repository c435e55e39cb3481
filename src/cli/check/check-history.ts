/** Every level of one history. */
import { type CompactLevel, levelCheckerOf, type LevelChecker, type SizedHistory } from '../../check/index.ts';
import { monotonicMs, stopText } from '../../base/index.ts';
import { type History, statusCode } from '../../history/index.ts';
import { isolationLevels, summarize, type Verdict } from '../../isolation/index.ts';
import { formatCount } from '../../report/index.ts';
import { shownOfLarge } from './check-large.ts';
import { type CheckedLevel, type CheckedLevels, checkLevels } from './check-levels.ts';
import { shownOfLists } from './check-lists.ts';
import { type Answer, type FileReport, violationIn } from './check-report.ts';
import type { Host } from '../host.ts';

export const outOfTime: Answer = { kind: 'unknown', text: `unknown: ${stopText('time')}` };

const nothingToJudge: Answer = { kind: 'unknown', text: 'unknown: no committed transaction read or wrote anything' };

export interface JudgeOptions {
  readonly thinAirReads: 'forbidden' | 'ignored';
  /** As in the report. */
  readonly assumed: readonly string[];
  /** Of all levels together. */
  readonly timeoutMs: number;
  /** What is known so far, before each level and after the last. */
  readonly onReport: (soFar: FileReport) => void;
}

/** From so many operations on, a check takes seconds, and shows what is under way. */
const operationsReported = 2_000_000;

/** @param level absent: all levels */
export function judgeHistory(
  file: string,
  input: SizedHistory,
  level: CompactLevel | undefined,
  { thinAirReads, assumed, timeoutMs, onReport }: JudgeOptions,
  host: Pick<Host, 'err'>,
): FileReport {
  const levels = levelsUpTo(level);
  const size = sizeOf(input);
  if (hasNothingToJudge(input)) return { ...unread(file, sameAnswer(levels, nothingToJudge)), ...size };
  const progress = (what: string): void => {
    if (size.operationCount >= operationsReported) host.err(`${file}: ${what}\n`);
  };
  progress(`${formatCount(size.transactionCount)} transactions, ${formatCount(size.operationCount)} operations read`);
  const endMs = monotonicMs() + timeoutMs;
  const checker = levelCheckerOf(input, levels, { thinAirReads });
  const reportOf = (found: CheckedLevels): FileReport => ({
    file,
    ...size,
    ...found,
    thinAirReads: checker.thinAirReads,
    rest: null,
    cut: null,
    assumed,
  });
  const checkLevel = (each: CompactLevel, left: number): CheckedLevel => {
    progress(`checking ${each}`);
    return shown(checker, each, Math.max(0, endMs - monotonicMs()) / left);
  };
  return reportOf(
    checkLevels(levels, checker.order(), checkLevel, (soFar) => onReport(reportOf(soFar)), checker.above),
  );
}

function shown(checker: LevelChecker, level: CompactLevel, timeoutMs: number): CheckedLevel {
  switch (checker.kind) {
    case 'whole':
      return shownOfWhole(checker.history, level, checker.check(level, timeoutMs));
    case 'columns':
      return shownOfLarge(checker.history, level, checker.check(level, timeoutMs));
    case 'lists':
      return shownOfLists(checker.history, level, checker.check(level), checker.lists);
  }
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
export function levelsUpTo(asked?: CompactLevel): readonly CompactLevel[] {
  if (asked === 'pl-2') return ['read-uncommitted', 'pl-2'];
  return isolationLevels.slice(0, asked === undefined ? undefined : isolationLevels.indexOf(asked) + 1);
}

/** Shows the violation in the whole history. */
function shownOfWhole(history: History, level: CompactLevel, verdict: Verdict): CheckedLevel {
  if (verdict.kind === 'unknown' && verdict.reason === 'time-limit') return { answer: outOfTime, violation: null };
  const answer: Answer =
    verdict.kind === 'unknown'
      ? { kind: 'unknown', text: summarize(verdict), lacksTimes: verdict.reason === 'missing-times' }
      : { kind: verdict.kind, text: verdict.kind };
  return { answer, violation: verdict.kind === 'violated' ? violationIn(history, level, verdict) : null };
}

export function sameAnswer(levels: readonly CompactLevel[], answer: Answer): CheckedLevels {
  return { answers: new Map(levels.map((level) => [level, answer])), violation: null };
}

export function unread(file: string, levels: CheckedLevels): FileReport {
  return {
    file,
    transactionCount: 0,
    operationCount: 0,
    ...levels,
    thinAirReads: 0,
    rest: null,
    cut: null,
    assumed: [],
  };
}
