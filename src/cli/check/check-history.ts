/** Every level of one history. */
import { checkerOf, type CompactLevel } from '../../check/index.ts';
import { monotonicMs, stopText } from '../../base/index.ts';
import { compactOf, type History, relationsOf, statusCode } from '../../history/index.ts';
import { type IsolationLevel, isolationLevels, summarize } from '../../isolation/index.ts';
import { judgeLarge, type LargeOptions } from './check-large.ts';
import { type CheckedLevel, type CheckedLevels, checkLevels } from './check-levels.ts';
import { type Answer, type FileReport, violationIn } from './check-report.ts';
import type { SizedHistory } from '../files/history-input.ts';
import type { Host } from '../host.ts';

export const outOfTime: Answer = { kind: 'unknown', text: `unknown: ${stopText('time')}` };

const nothingToJudge: Answer = { kind: 'unknown', text: 'unknown: no committed transaction read or wrote anything' };

/** @param level absent: all levels */
export function judgeHistory(
  file: string,
  input: SizedHistory,
  level: CompactLevel | undefined,
  options: LargeOptions,
  host: Pick<Host, 'err'>,
): FileReport {
  const levels = levelsUpTo(level);
  if (hasNothingToJudge(input)) return { ...unread(file, sameAnswer(levels, nothingToJudge)), ...sizeOf(input) };
  if (input.size === 'large') return judgeLarge(file, input.history, levels, host, options);
  if (level === 'pl-2') return judgeLarge(file, compactOf(input.history), levels, host, options);
  return judgeSmall(file, input.history, levels, options);
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
function judgeSmall(
  file: string,
  history: History,
  levels: readonly CompactLevel[],
  { thinAirReads, assumed, timeoutMs, onReport }: LargeOptions,
): FileReport {
  const endMs = monotonicMs() + timeoutMs;
  const { check, order } = checkerOf(history, { thinAirReads });
  const { phenomena } = relationsOf(history);
  const reportOf = (found: CheckedLevels): FileReport => ({
    file,
    ...sizeOf({ size: 'small', history }),
    ...found,
    thinAirReads: phenomena.filter(({ kind }) => kind === 'thin-air-read').length,
    rest: null,
    cut: null,
    assumed,
  });
  const checkLevel = (level: CompactLevel, left: number): CheckedLevel => {
    const share = Math.max(0, endMs - monotonicMs()) / left;
    const verdict = check(level as IsolationLevel, share);
    if (verdict.kind === 'unknown' && verdict.reason === 'time-limit') return { answer: outOfTime, violation: null };
    const answer: Answer =
      verdict.kind === 'unknown'
        ? { kind: 'unknown', text: summarize(verdict), lacksTimes: verdict.reason === 'missing-times' }
        : { kind: verdict.kind, text: verdict.kind };
    return { answer, violation: verdict.kind === 'violated' ? violationIn(history, level, verdict) : null };
  };
  const above = levels.includes('serializable') ? null : 'serializable';
  return reportOf(checkLevels(levels, order(), checkLevel, (soFar) => onReport(reportOf(soFar)), above));
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
