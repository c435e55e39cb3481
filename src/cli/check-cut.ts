/** A history of which the end is missing: what is left of it may violate a level, and then the whole does. */
import { InputError } from '../base/index.ts';
import { monotonicMs } from '../base/clock.ts';
import { type CompactLevel, readsOf } from '../check/index.ts';
import { type CompactHistory, type CutHistoryError } from '../history/index.ts';
import { judgeHistory } from './check-history.ts';
import type { Answer, FileReport } from './check-report.ts';
import { bySize } from './history-input.ts';
import type { Host } from './host.ts';

const wasCut: Answer = { kind: 'unknown', text: 'unknown: the history was cut' };

/**
 * Reads of what is missing are no evidence, and where values repeat, a read may have seen a write that is missing.
 * @returns `null`: what is left violates nothing
 */
export function judgeCut(
  file: string,
  error: CutHistoryError,
  level: CompactLevel | undefined,
  endMs: number,
  host: Pick<Host, 'err'>,
): FileReport | null {
  const rest = restOf(error);
  if (rest === null || hasRepeatedValues(rest)) return null;
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
  const { line, column } = error.place ?? {};
  const where = [line, column].filter((part) => part !== undefined).join(':');
  const cut = `${where === '' ? '' : `${where}: `}${error.message}`;
  return { ...report, answers: new Map(answers), thinAirReads: 0, cut };
}

/** `null`: it is bad input, apart from its end, or there is nothing in it. */
function restOf(error: CutHistoryError): CompactHistory | null {
  try {
    const rest = error.rest();
    return rest.transactionCount === 0 ? null : rest;
  } catch (other) {
    if (other instanceof InputError) return null;
    throw other;
  }
}

function hasRepeatedValues(history: CompactHistory): boolean {
  const { writers, firstAmbiguous } = readsOf(history);
  return firstAmbiguous >= 0 || writers.hasRepeatedValues;
}
