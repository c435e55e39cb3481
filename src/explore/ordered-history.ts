/**
 * Ordered histories: the states of explore-ce (Bouajjani, Enea, Roman-Calvo, PLDI 2023, section 5). Transactions in a total order that
 * extends so and wr, each complete but perhaps the last. A history is determined by its program and by which write each read saw, so this is
 * all that is kept: the rest comes back when the program runs again.
 */

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

/** Where a run begins: its transactions in order. All are complete but the last, which goes on after its last source. */
export type Prefix = readonly Sources[];

/** A transaction as it ran. */
export interface Log {
  readonly name: TransactionName;
  readonly session: number;
  readonly index: number;
  /** The position in the order of the transaction before it in its session; -1 where there is none. */
  readonly previous: number;
  /** Its external reads: keys, and the positions in the order of the transactions they saw; -1 is the initial state. */
  readonly readKeys: number[];
  readonly sources: number[];
  /** The keys that it has written; of an aborted one, none count. */
  readonly writeKeys: number[];
  status: 'pending' | 'committed' | 'aborted';
}

export function writesKey({ status, writeKeys }: Log, key: number): boolean {
  return status === 'committed' && writeKeys.includes(key);
}

/** The transactions at or before `t` in (so U wr)*, where only the first `reads` reads of `t` count; by position. */
export function pastOf(logs: readonly Log[], t: number, reads = Infinity): Uint8Array {
  const past = new Uint8Array(logs.length);
  past[t] = 1;
  // so and wr go forward in the order: one pass backwards finds everything.
  for (let position = t; position >= 0; position -= 1) {
    if (past[position] !== 1) continue;
    const { previous, sources } = logs[position] as Log;
    if (previous >= 0) past[previous] = 1;
    const end = position === t ? Math.min(reads, sources.length) : sources.length;
    for (let i = 0; i < end; i += 1) if ((sources[i] as number) >= 0) past[sources[i] as number] = 1;
  }
  return past;
}

/** The prefix that names these transactions and what they saw. */
export function prefixOf(logs: readonly Log[]): Sources[] {
  return logs.map(({ name, sources }) => ({ name, sources: sources.map((source) => nameAt(logs, source)) }));
}

export function nameAt(logs: readonly Log[], position: number): TransactionName {
  return position < 0 ? INITIAL_STATE : (logs[position] as Log).name;
}
