/**
 * A history as columns of numbers: what checkers of large histories read. A `History` of ten million operations would not fit in memory;
 * this takes about 20 bytes an operation.
 *
 * Transactions, sessions, keys and values have dense IDs from 0. A value's ID stands for a pair of a key and a value, so that an array by
 * value ID finds the writer of a version. The initial state is no transaction here either: it is `INITIAL`, before everything. Failed
 * operations (a client saw an error and continued) are no part of a history: readers of other formats leave them out.
 */
import type { Place } from '../base/index.ts';
import type { HistoryNames } from './history-names.ts';
import type { Status, TransactionIndex } from './history.ts';

/** In `CompactHistory.status`. */
export const statuses: readonly Status[] = ['committed', 'aborted', 'unknown'];
export const statusCode = { committed: 0, aborted: 1, unknown: 2 } as const satisfies Record<Status, number>;

/** In `CompactHistory.kind`. An append adds an element to the list of a key; a list read saw a whole list. */
export const operationKind = { read: 0, write: 1, append: 2, listRead: 3 } as const;

/** In `CompactHistory.from`: nothing is recorded, the value tells. `INITIAL` and transactions are as everywhere. */
export const fromUnrecorded = -2;

export interface CompactHistory {
  readonly transactionCount: number;
  readonly operationCount: number;
  readonly sessionCount: number;
  readonly keyCount: number;
  readonly valueCount: number;
  /** By transaction. Transactions of a session stand in session order. */
  readonly session: Int32Array;
  /** By transaction: `statusCode`. */
  readonly status: Uint8Array;
  /** The operations of transaction t are `[operationStart[t], operationStart[t + 1])`, in program order. */
  readonly operationStart: Int32Array;
  /** By transaction: when it began and ended, on one clock; NaN where that is missing. `null`: no transaction has it. */
  readonly start: Float64Array | null;
  readonly end: Float64Array | null;
  /** By operation: `operationKind`. */
  readonly kind: Uint8Array;
  readonly key: Int32Array;
  /** By operation: the ID of the value read, written or appended; of a list read, its position in `lists`. */
  readonly value: Int32Array;
  /** By operation: the transaction whose write a read saw, as recorded. `null`: no read has it. */
  readonly from: Int32Array | null;
  /** By operation: the condition that the row did not satisfy. For people; few reads have one, and the binary form drops it. */
  readonly conditions: ReadonlyMap<number, string>;
  /** By key: the ID of its initial value. */
  readonly initialValue: Int32Array;
  /** What list reads saw. `null`: there are none. */
  readonly lists: Lists | null;
  /** By transaction: the line it stands on in the text it came from. */
  readonly line: Int32Array | null;
  /** For people and for files. */
  readonly names: HistoryNames;
}

/** The elements of list i are `element[start[i]]` to `element[start[i + 1] - 1]`: value IDs, as the appends have them. */
export interface Lists {
  readonly start: Int32Array;
  readonly element: Int32Array;
}

/** Where a transaction stands, for errors. */
export function placeOf(history: CompactHistory, transaction: TransactionIndex): Place | undefined {
  const line = history.line?.[transaction];
  return line === undefined || line === 0 ? undefined : { line };
}

export interface SessionLists {
  /** The transactions of session s are `transaction[start[s]]` to `transaction[start[s + 1] - 1]`, in session order. */
  readonly start: Int32Array;
  readonly transaction: Int32Array;
}

/** The transactions of each session. Linear. */
export function sessionLists({ session, sessionCount, transactionCount }: CompactHistory): SessionLists {
  const start = new Int32Array(sessionCount + 1);
  for (let t = 0; t < transactionCount; t += 1) {
    const after = (session[t] as number) + 1;
    start[after] = (start[after] as number) + 1;
  }
  for (let s = 0; s < sessionCount; s += 1) start[s + 1] = (start[s + 1] as number) + (start[s] as number);
  const next = start.slice(0, sessionCount);
  const transaction = new Int32Array(transactionCount);
  for (let t = 0; t < transactionCount; t += 1) {
    const s = session[t] as number;
    const at = next[s] as number;
    transaction[at] = t;
    next[s] = at + 1;
  }
  return { start, transaction };
}
