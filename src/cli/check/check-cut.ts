/** A history of which the end is missing: what is left of it may violate a level, and then the whole does. */
import { monotonicMs, InputError } from '../../base/index.ts';
import { type CompactLevel, readsOf } from '../../check/index.ts';
import { type CompactHistory, type CutHistoryError } from '../../history/index.ts';
import { judgeHistory } from './check-history.ts';
import type { Answer, FileReport } from './check-report.ts';
import { bySize } from '../files/history-input.ts';
import type { Host } from '../host.ts';

const wasCut: Answer = { kind: 'unknown', text: 'unknown: the history was cut' };

/** @returns `null`: what is left violates nothing */
export function judgeCut(
  file: string,
  error: CutHistoryError,
  level: CompactLevel | undefined,
  endMs: number,
  host: Pick<Host, 'err'>,
): FileReport | null {
  const rest = restToJudge(error);
  if (rest === null) return null;
  const options = {
    thinAirReads: 'ignored',
    assumed: [],
    timeoutMs: endMs - monotonicMs(),
    onReport: () => {},
  } as const;
  const report = judgeHistory(file, bySize(rest), level, options, host);
  if (report.violation === null) return null;
  const answers = [...report.answers].map(
    ([at, answer]) => [at, answer.kind === 'violated' ? answer : wasCut] as const,
  );
  return { ...report, answers: new Map(answers), thinAirReads: 0, cut: cutText(error) };
}

/** Where and how a history was cut. */
export function cutText({ message, place: { line, column } = {} }: CutHistoryError): string {
  const where = [line, column].filter((part) => part !== undefined).join(':');
  return `${where === '' ? '' : `${where}: `}${message}`;
}

/**
 * What is left of a history. Its reads out of thin air may be of what is missing.
 * @returns `null`: it is bad input, apart from its end, there is nothing in it, or its values repeat, and a read may have seen a missing write
 */
export function restToJudge(error: CutHistoryError): CompactHistory | null {
  try {
    const rest = error.rest();
    return rest.transactionCount === 0 || hasRepeatedValues(rest) ? null : rest;
  } catch (other) {
    if (other instanceof InputError) return null;
    throw other;
  }
}

function hasRepeatedValues(history: CompactHistory): boolean {
  const { writers, firstAmbiguous } = readsOf(history);
  return firstAmbiguous >= 0 || writers.hasRepeatedValues;
}
