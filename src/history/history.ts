/**
 * The model: sessions of transactions of reads and writes, plus which write each read saw. What a client can observe,
 * nothing more. Biswas and Enea, OOPSLA 2019; MonkeyDB (OOPSLA 2021), section 3.1.
 */
import type { Key, Value } from './value.ts';

/** A position in `History.transactions`, or `INITIAL`. */
export type TransactionIndex = number;

/** The transaction that wrote the initial values of all keys, before all sessions. It is not in `transactions`. */
export const INITIAL: TransactionIndex = -1;

/** A read of one key, with the value that the client saw. */
export interface Read {
  readonly kind: 'read';
  readonly key: Key;
  readonly value: Value;
  /** The transaction whose write this read saw, where it is recorded. Otherwise the value tells. */
  readonly from?: TransactionIndex;
  /** The read is an answer: the row that the key names did not satisfy this condition of a statement. For people; the value decides. */
  readonly condition?: string;
}

/** A write of one key. */
export interface Write {
  readonly kind: 'write';
  readonly key: Key;
  readonly value: Value;
}

/** One read or write of one key. */
export type Operation = Read | Write;

/** `unknown`: the client never heard whether its commit arrived. */
export type Status = 'committed' | 'aborted' | 'unknown';

/** One transaction of one session. */
export interface Transaction {
  /** Unique in the history; `session/index` where nothing else was given. */
  readonly id: string;
  /** A position in `History.sessions`. */
  readonly session: number;
  readonly status: Status;
  /** In program order. */
  readonly operations: readonly Operation[];
  /** When it began and ended, on one clock for the whole history, in the clock's unit. */
  readonly start?: number;
  readonly end?: number;
  /** The level it asked for, where transactions of different levels are mixed. */
  readonly level?: string;
}

/** What the sessions of a database read and wrote, as its clients saw it. Plain data: it can be written by hand. */
export interface History {
  /** The names of the sessions. */
  readonly sessions: readonly string[];
  /** In any order that keeps the order of each session (session order). */
  readonly transactions: readonly Transaction[];
  /** Initial values; a key that is not here starts as `null`. */
  readonly initial: ReadonlyMap<Key, Value>;
}

/** `session/index`, counting each session's transactions from 0. */
export function defaultId(session: string, index: number): string {
  return `${session}/${index}`;
}
