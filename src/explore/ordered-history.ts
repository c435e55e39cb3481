/**
 * Ordered histories: the states of explore-ce (Bouajjani, Enea, Roman-Calvo, PLDI 2023, section 5). Transactions in a total order that
 * extends so and wr, each complete but perhaps the last. A history is determined by its program and by which write each read saw, so this is
 * all that is kept: the rest comes back when the program runs again.
 */

import type { BaseLevel } from './base-level.ts';

/** A transaction by its place in the program: its session, and its number there. */
export type TransactionName = number;

export const INITIAL_STATE: TransactionName = -1;

const PER_SESSION = 1 << 16;

export function nameOf(session: number, index: number): TransactionName {
  return session * PER_SESSION + index;
}

export function sessionOf(name: TransactionName): number {
  return Math.floor(name / PER_SESSION);
}

export function indexOf(name: TransactionName): number {
  return name % PER_SESSION;
}

/** A transaction's external reads, in program order, by the transactions they saw. */
export interface Sources {
  readonly name: TransactionName;
  readonly sources: readonly TransactionName[];
}

/** Where a run begins: its transactions in order. All are complete but the last, which continues after its last source. */
export type Prefix = readonly Sources[];

/** A transaction as it ran. */
export interface Log {
  readonly name: TransactionName;
  /** Its place in the order. */
  readonly position: number;
  readonly session: number;
  readonly index: number;
  readonly explored: BaseLevel;
  /** The position in the order of the transaction before it in its session; -1 where there is none. */
  readonly previous: number;
  /** Its external reads: keys, and the positions in the order of the transactions they saw; -1 is the initial state. */
  readonly readKeys: number[];
  readonly sources: number[];
  /** The keys that it has written; of an aborted one, none count. */
  readonly writeKeys: number[];
  status: 'pending' | 'committed' | 'aborted';
  /** Of a transaction that is complete, once it was asked for: prefixes share it. */
  named: Sources | null;
}

export function writesKey({ status, writeKeys }: Log, key: number): boolean {
  return status === 'committed' && writeKeys.includes(key);
}

/** The prefix that names these transactions and what they saw. */
export function prefixOf(logs: readonly Log[], end = logs.length): Sources[] {
  const prefix: Sources[] = [];
  for (let position = 0; position < end; position += 1) prefix.push(sourcesOf(logs, position));
  return prefix;
}

/** A transaction that is complete, as prefixes name it. */
export function sourcesOf(logs: readonly Log[], position: number): Sources {
  const log = logs[position] as Log;
  return (log.named ??= { name: log.name, sources: namesOf(logs, log.sources) });
}

export function namesOf(logs: readonly Log[], sources: readonly number[]): TransactionName[] {
  const names: TransactionName[] = [];
  for (const source of sources) names.push(nameAt(logs, source));
  return names;
}

export function nameAt(logs: readonly Log[], position: number): TransactionName {
  return position < 0 ? INITIAL_STATE : (logs[position] as Log).name;
}
