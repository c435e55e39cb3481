/** What clients observed: a bag of transactions, each identified by its position alone. Every `History` is one. */
import type { Key, Operation, Status, Value } from '../history/index.ts';

/** One transaction as its client saw it. */
export interface ObservedTransaction {
  /** How people name it. Two transactions with the same operations are two. */
  readonly id: string;
  /** In program order. */
  readonly operations: readonly Operation[];
  /** Default `committed`. An aborted transaction makes no state; one of unknown fate may have made one or none. */
  readonly status?: Status;
  /** Those of one session come one after another, in the order of the list. Without it: a session of its own. */
  readonly session?: number;
  /** When it began and ended, on one clock. */
  readonly start?: number;
  readonly end?: number;
}

/** What clients observed. Every `History` is such a bag of transactions. */
export interface ObservedTransactions {
  /** The values of the first state; a key that is not here starts as `null`. */
  readonly initial: ReadonlyMap<Key, Value>;
  readonly transactions: readonly ObservedTransaction[];
}

/** T' <_s T: did `a` end before `b` started? False where a time is missing; who never heard back does not know when it ended. */
export function endedBefore({ transactions }: ObservedTransactions, a: number, b: number): boolean {
  const end = transactions[a]?.status === 'unknown' ? undefined : transactions[a]?.end;
  return (end ?? Infinity) < (transactions[b]?.start ?? -Infinity);
}

/** Does `a` come before `b` in their session? */
export function precedesInSession({ transactions }: ObservedTransactions, a: number, b: number): boolean {
  const session = transactions[b]?.session;
  return a < b && session !== undefined && transactions[a]?.session === session;
}

/** The value that each key has after the operations: the last write wins. */
export function finalWrites(operations: readonly Operation[]): ReadonlyMap<Key, Value> {
  return new Map(operations.flatMap((o) => (o.kind === 'write' ? [[o.key, o.value] as const] : [])));
}
