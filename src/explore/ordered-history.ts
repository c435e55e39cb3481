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
  /** Its external reads. */
  readonly readKeys: number[];
  readonly sources: TransactionName[];
  /** The keys that it has written; of an aborted one, none count. */
  readonly writeKeys: number[];
  status: 'pending' | 'committed' | 'aborted';
}

export function writesKey({ status, writeKeys }: Log, key: number): boolean {
  return status === 'committed' && writeKeys.includes(key);
}

/** The transactions at or before `t` in (so U wr)*, as positions in `logs`. */
export function pastOf(logs: readonly Log[], positionOf: ReadonlyMap<TransactionName, number>, t: number): Set<number> {
  const past = new Set([t]);
  for (const position of past) {
    const { name, index, sources } = logs[position] as Log;
    if (index > 0) past.add(positionOf.get(name - 1) as number);
    for (const source of sources) if (source !== INITIAL_STATE) past.add(positionOf.get(source) as number);
  }
  return past;
}
