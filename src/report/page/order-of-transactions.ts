/** From above to below: the transactions of a recorded history, whose order is not recorded. */
import type { History, TransactionIndex } from '../../history/index.ts';
import { writersSeen } from '../writers-seen.ts';

export interface OrderOfTransactions {
  readonly order: readonly TransactionIndex[];
  /** What the order means. */
  readonly text: string;
}

/** By their beginning where all have one; else each below those that it read from and those before it in its session, as far as there is such an order. */
export function orderOfTransactions(history: History, only: readonly TransactionIndex[]): OrderOfTransactions {
  const startOf = (t: TransactionIndex): number => history.transactions[t]?.start ?? Number.NaN;
  if (only.every((t) => !Number.isNaN(startOf(t))))
    return {
      order: only.toSorted((a, b) => startOf(a) - startOf(b) || a - b),
      text: 'Transactions stand in the order in which they began. They may have overlapped.',
    };
  return {
    order: belowWriters(history, only),
    text: 'The history has no times. A transaction stands below those that it read from and those before it in its session.',
  };
}

function belowWriters(history: History, only: readonly TransactionIndex[]): TransactionIndex[] {
  const sources = writersSeen(history);
  const among = new Set(only);
  const last = new Map<number, TransactionIndex>();
  const before = new Map<TransactionIndex, { session: TransactionIndex | null; writers: TransactionIndex[] }>();
  for (const t of only.toSorted((a, b) => a - b)) {
    const { session = -1, operations = [] } = history.transactions[t] ?? {};
    const writers = operations.flatMap((_, o) => sources.get(`${t} ${o}`) ?? []);
    before.set(t, {
      session: last.get(session) ?? null,
      writers: writers.filter((writer) => writer !== t && among.has(writer)),
    });
    last.set(session, t);
  }
  const order: TransactionIndex[] = [];
  while (before.size > 0) {
    const waits = (t: TransactionIndex | null): boolean => t !== null && before.has(t);
    const open = [...before];
    // Of transactions that read from each other, one has to stand above what it read.
    const [next] =
      open.find(([, { session, writers }]) => !waits(session) && !writers.some(waits)) ??
      open.find(([, { session }]) => !waits(session)) ??
      [];
    if (next === undefined) break;
    before.delete(next);
    order.push(next);
  }
  return order;
}
