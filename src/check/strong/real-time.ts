/**
 * Real time with a number of edges that is linear: moments that stand in a chain, each transaction before the moment of its end, and after the
 * last moment before its start. Two transactions are then ordered through moments exactly where one ended before the other started. (Elle
 * reduces the relation itself, with an edge for each transaction that runs at the same time.)
 */
import { type CompactHistory, statusCode } from '../../history/index.ts';

export interface EndTimes {
  /** Moments. */
  readonly count: number;
  /** By member: the moment at which it ended, if any starts after that; else -1. */
  readonly endsAt: Int32Array;
  /** By member: the last moment before it started, or -1. */
  readonly startsAfter: Int32Array;
  /** Has a member no start, or no end although its fate is known? Then real time refutes but does not confirm. */
  readonly isIncomplete: boolean;
}

/** O(n log n). */
export function endTimes(history: CompactHistory, transactionOf: Int32Array): EndTimes {
  const memberCount = transactionOf.length;
  const endsAt = new Int32Array(memberCount).fill(-1);
  const startsAfter = new Int32Array(memberCount).fill(-1);
  const isUnknown = (t: number): boolean => history.status[t] === statusCode.unknown;
  // A client without an answer does not know when its transaction ended.
  const end = Float64Array.from(transactionOf, (t) => (isUnknown(t) ? NaN : (history.end?.[t] ?? NaN)));
  const start = Float64Array.from(transactionOf, (t) => history.start?.[t] ?? NaN);
  const byEnd = sortedBy(end);
  const byStart = sortedBy(start);
  let count = 0;
  let next = 0;
  for (const m of byStart) {
    let isNew = true;
    while (next < byEnd.length && end[byEnd[next]] < start[m]) {
      if (isNew) count += 1;
      isNew = false;
      endsAt[byEnd[next]] = count - 1;
      next += 1;
    }
    startsAfter[m] = count - 1;
  }
  const isIncomplete = transactionOf.some((t, m) => Number.isNaN(start[m]) || (Number.isNaN(end[m]) && !isUnknown(t)));
  return { count, endsAt, startsAfter, isIncomplete };
}

/** Members that have the time. */
function sortedBy(time: Float64Array): number[] {
  return [...time.keys()].filter((m) => !Number.isNaN(time[m])).toSorted((a, b) => time[a] - time[b]);
}
