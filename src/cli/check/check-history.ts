/** Every level of one history, by the checker of small histories or that of large ones. */
import type { CompactLevel } from '../../check/index.ts';
import { monotonicMs, stopText, TimeLimit, within } from '../../base/index.ts';
import { compactOf, type History, relationsOf, statusCode } from '../../history/index.ts';
import { check, type IsolationLevel, isolationLevels, summarize, type Verdict } from '../../isolation/index.ts';
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
export function levelsUpTo(asked?: CompactLevel): readonly CompactLevel[] {
  if (asked === 'pl-2') return ['read-uncommitted', 'pl-2'];
  return isolationLevels.slice(0, asked === undefined ? undefined : isolationLevels.indexOf(asked) + 1);
}

/** The checker of small histories shows more of a violation; where it gives up, that of large ones may not. */
function judgeSmall(
  file: string,
  history: History,
  levels: readonly CompactLevel[],
  options: LargeOptions,
  host: Pick<Host, 'err'>,
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
    cut: null,
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
    const answer: Answer =
      verdict.kind === 'unknown'
        ? { kind: 'unknown', text: summarize(verdict), lacksTimes: verdict.reason === 'missing-times' }
        : { kind: verdict.kind, text: verdict.kind };
    return { answer, violation: verdict.kind === 'violated' ? violationIn(history, level, verdict) : null };
  };
  const order = ambiguous.length === 0 ? 'weakest-first' : 'strongest-first';
  const found = checkLevels(levels, order, checkLevel, (soFar) => onReport(reportOf(soFar)));
  if (gaveUp)
    return judgeLarge(file, compactOf(history), levels, host, { ...options, timeoutMs: endMs - monotonicMs() });
  return reportOf(found);
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
