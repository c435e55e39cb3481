/** Some transactions of a large history as a history of its own, which violates a level by itself, and what it shows of the whole. */
import type { TimeLimit } from '../base/index.ts';
import {
  type CompactHistory,
  fromUnrecorded,
  historyOf,
  INITIAL,
  operationKind,
  subHistory,
  type TransactionIndex,
} from '../history/index.ts';
import { check, type IsolationLevel, mapPlaces, type Violated } from '../isolation/index.ts';
import { isWithin, type Reads } from './reads.ts';
import type { Evidence } from './verdict.ts';

/**
 * @param transactions sorted
 * @param anomalous an operation that is in it whatever it saw, or -1
 * @returns `null`: the checker of small histories does not find that the part violates the level
 */
export function partEvidence(
  { history, reads }: { readonly history: CompactHistory; readonly reads: Reads },
  transactions: readonly TransactionIndex[],
  level: IsolationLevel,
  limit: TimeLimit,
  anomalous = -1,
): Evidence | null {
  const among = new Set(transactions);
  const keeps = (o: number): boolean =>
    (o === anomalous || isWithin(reads.source, o, among)) && hasRecordedWriter(history, o, among);
  const part = historyOf(subHistory(history, transactions, keeps));
  const verdict = check(part, level, { limit });
  if (verdict.kind !== 'violated') return null;
  const operations = transactions.map((t) => {
    const [first, after] = [history.operationStart[t], history.operationStart[t + 1]];
    return Array.from({ length: after - first }, (_, i) => i).filter((i) => keeps(first + i));
  });
  return { history: part, verdict, transactions: [...transactions], operations };
}

/** A read of which the recorded writer is missing would be a read of something else. */
function hasRecordedWriter({ from, kind }: CompactHistory, o: number, among: ReadonlySet<TransactionIndex>): boolean {
  const writer = from?.[o] ?? fromUnrecorded;
  return kind[o] !== operationKind.read || writer < 0 || among.has(writer);
}

/** The verdict on the whole history: that on the part, with the transactions and operations of the whole. */
export function verdictInWhole({ verdict, transactions, operations }: Evidence): Violated {
  return mapPlaces(verdict, {
    transaction: (t) => (t === INITIAL ? INITIAL : transactions[t]),
    operation: (t, o) => operations[t]?.[o],
  });
}
