/**
 * What a condition did not find, as reads. A scan decides of each row whether it satisfies the condition; where another version of the row
 * would have changed the answer, the scan depends on who wrote which version (predicate-based reads: Adya, PhD thesis 1999).
 *
 * Seen from one row, a condition is a register: `does the row satisfy it?`, written by the transactions that change the answer. The scan
 * reads that register. Mostly the answer changes with the very next version; then a read of the row itself says the same (a row that is not
 * there yet reads `null`), and no register is needed. Otherwise, where the row was also written without a change of the answer, the history
 * has the register, under the key `table/7 where CONDITION`: a read of the row would put the reader before a write that it does not contradict.
 */
import type { KeptCondition } from '../../sql/model/index.ts';
import type { ObservedReading } from '../observer.ts';
import type { KeyTimeline, KeyVersion, TimelineVersion } from './key-timelines.ts';

export interface RecordedScan {
  /** Counts the statements of its transaction. */
  readonly statement: number;
  readonly table: number;
  /** Narrowed where the scan stopped. */
  condition: KeptCondition;
  readonly reading: ObservedReading;
  readonly snapshot: number;
  readonly begunAt: number;
  /** Infinity where it did not end, and its condition says nothing. */
  endedAt: number;
  /** By row, the version that a locking scan found not to match; `null`: it found none. */
  passed: Map<number, number> | null;
}

export type MissedRow =
  /** The version itself was read. */
  | { readonly kind: 'version'; readonly version: TimelineVersion }
  /** The answer was read: `answers[i]` is that of version i, `read` the version that the answer comes from. */
  | { readonly kind: 'answer'; readonly read: number; readonly answers: readonly boolean[] }
  | { readonly kind: 'undecided' };

/**
 * @param reader its own writes need no read
 * @param wasRead did the scan find the row? A scan that waits for a lock finds rows that were not there when it began
 * @returns `null`: nothing was missed
 */
export function missedRow(
  { versions: timeline, written }: KeyTimeline,
  scan: RecordedScan,
  reader: number,
  wasRead: () => boolean,
): MissedRow | null {
  const isOwn = ({ writer, at, undoneAt }: KeyVersion): boolean =>
    writer === reader && at < scan.begunAt && scan.begunAt < undoneAt;
  if (written.some(isOwn)) return null;
  const answers: boolean[] = [];
  for (const { values } of timeline) {
    const answer = values === null ? false : scan.condition.holds(values);
    if (answer === null) return { kind: 'undecided' };
    answers.push(answer);
  }
  const seen = seenVersion(timeline, answers, scan, wasRead);
  if (seen === null) return null;
  const from = answers.slice(0, seen).lastIndexOf(true) + 1;
  const next = answers.indexOf(true, seen);
  const writers = [from > 0 ? timeline[from]?.writer : undefined, timeline[next]?.writer];
  if (writers.every((writer) => writer === undefined || writer === reader)) return null;
  if (wasRead()) return null;
  const version = timeline[seen];
  const isExact = from === seen && (next === -1 ? seen === timeline.length - 1 : next === seen + 1);
  if (isExact && version !== undefined) return { kind: 'version', version };
  return { kind: 'answer', read: from, answers };
}

/** The version that the scan found not to match. @returns `null`: it matched, and was read */
function seenVersion(
  timeline: readonly TimelineVersion[],
  answers: readonly boolean[],
  { reading, snapshot, begunAt, endedAt, passed }: RecordedScan,
  wasRead: () => boolean,
): number | null {
  const found = passed === null ? -1 : timeline.findIndex(({ row, sequence }) => passed.get(row) === sequence);
  if (found >= 0) return found;
  const seen = timeline.findLastIndex(({ commit, at }) => commit <= snapshot && at < begunAt);
  if (answers[seen] !== true) return seen;
  if (reading === 'snapshot' || wasRead()) return null;
  // A locking scan came to where the row had been after it had moved away.
  const moved = answers.findIndex((answer, i) => i > seen && !answer && (timeline[i]?.at ?? Infinity) < endedAt);
  return moved === -1 ? null : moved;
}
