/**
 * The swaps of explore-ce (PLDI 2023, section 5.2): when a transaction t commits, reads that came before it, and could not see it, get their
 * chance. A swap keeps what is before the read's transaction and the causal past of t, and puts that transaction last, cut right after the
 * read, which now sees t. To reach every history once, a swap is made only from the history in which every read that it deletes sees the
 * causally latest write that it may (`readLatest`). The clause on swapped reads of the paper's prose is left out: with `readLatest` as
 * equality with the maximum it follows, and taken literally it loses histories (s0: [ry rx], s1: [rx wy];[wx], s2: [wx]).
 */
import { CommitOrders, type ConstrainingLevel } from '../isolation/index.ts';
import { INITIAL_STATE, type Log, pastOf, type Prefix, type TransactionName, writesKey } from './ordered-history.ts';

export type LevelOf = (log: Log) => ConstrainingLevel;

/** Finds the swaps that the commit of the last transaction allows; keeps memory from call to call. */
export class Swaps {
  readonly #levelOf: LevelOf;
  readonly #orders = new CommitOrders();
  readonly #nodeOf = new Map<TransactionName, number>();

  constructor(levelOf: LevelOf) {
    this.#levelOf = levelOf;
  }

  after(logs: readonly Log[]): Prefix[] {
    const t = logs.length - 1;
    const committed = logs[t] as Log;
    if (committed.writeKeys.length === 0) return [];
    const positionOf = new Map(logs.map(({ name }, position) => [name, position]));
    const past = pastOf(logs, positionOf, t);
    const prefixes: Prefix[] = [];
    for (let a = 0; a < t; a += 1) {
      if (past.has(a)) continue;
      const { readKeys } = logs[a] as Log;
      for (let r = 0; r < readKeys.length; r += 1) {
        if (!committed.writeKeys.includes(readKeys[r] as number)) continue;
        if (this.#isOptimal(logs, positionOf, past, a, r)) prefixes.push(swap(logs, past, a, r));
      }
    }
    return prefixes;
  }

  /** Is the swapped history at its levels, and does every read that the swap deletes, and the swapped one, see the latest write? */
  #isOptimal(
    logs: readonly Log[],
    positionOf: ReadonlyMap<TransactionName, number>,
    past: ReadonlySet<number>,
    a: number,
    r: number,
  ): boolean {
    if (!this.#isSwapAllowed(logs, past, a, r)) return false;
    for (let b = a; b < logs.length; b += 1) {
      if (past.has(b)) continue;
      const { readKeys } = logs[b] as Log;
      for (let read = b === a ? r : 0; read < readKeys.length; read += 1) {
        if (!this.#seesLatest(logs, positionOf, past, b, read)) return false;
      }
    }
    return true;
  }

  #isSwapAllowed(logs: readonly Log[], past: ReadonlySet<number>, a: number, r: number): boolean {
    this.#begin();
    for (let i = 0; i < logs.length; i += 1) if (i < a || past.has(i)) this.#add(logs[i] as Log);
    const node = this.#add(logs[a] as Log, r);
    const key = (logs[a] as Log).readKeys[r] as number;
    return (
      this.#orders.rebuild() &&
      this.#orders.allowsRead(node, key, this.#nodeOf.get((logs.at(-1) as Log).name) as number)
    );
  }

  /** Of the writes in the causal past of the reader without this read, does it see the latest that its level allows? */
  #seesLatest(
    logs: readonly Log[],
    positionOf: ReadonlyMap<TransactionName, number>,
    past: ReadonlySet<number>,
    b: number,
    read: number,
  ): boolean {
    const reader = logs[b] as Log;
    const key = reader.readKeys[read] as number;
    const seen = reader.sources[read] as TransactionName;
    const cut = { ...reader, sources: reader.sources.slice(0, read) };
    const causal = pastOf(logs.with(b, cut), positionOf, b);
    causal.delete(b);
    if (seen !== INITIAL_STATE && !causal.has(positionOf.get(seen) as number)) return false;

    this.#begin();
    let node = 0;
    for (let i = 0; i < logs.length; i += 1) {
      if (i === b) node = this.#add(reader, read);
      else if (i < b || past.has(i)) this.#add(logs[i] as Log);
    }
    this.#orders.rebuild();
    for (let u = b - 1; u >= 0; u -= 1) {
      const writer = logs[u] as Log;
      if (!causal.has(u) || !writesKey(writer, key)) continue;
      if (this.#orders.allowsRead(node, key, this.#nodeOf.get(writer.name) as number)) return writer.name === seen;
    }
    return seen === INITIAL_STATE;
  }

  #begin(): void {
    this.#orders.reset();
    this.#nodeOf.clear();
    this.#nodeOf.set(INITIAL_STATE, 0);
  }

  /** Adds a transaction, or only its first `reads` reads. */
  #add(log: Log, reads?: number): number {
    const { constraints } = this.#orders;
    const node = constraints.begin(log.session, this.#levelOf(log));
    this.#nodeOf.set(log.name, node);
    const end = reads ?? log.readKeys.length;
    for (let i = 0; i < end; i += 1) {
      constraints.addRead(
        node,
        log.readKeys[i] as number,
        this.#nodeOf.get(log.sources[i] as TransactionName) as number,
      );
    }
    if (reads === undefined && log.status === 'committed') constraints.addWrites(node, log.writeKeys);
    return node;
  }
}

function swap(logs: readonly Log[], past: ReadonlySet<number>, a: number, r: number): Prefix {
  const kept = logs.filter((_, i) => i < a || past.has(i));
  const { name, sources } = logs[a] as Log;
  return [...kept, { name, sources: [...sources.slice(0, r), (logs.at(-1) as Log).name] }].map((log) => ({
    name: log.name,
    sources: [...log.sources],
  }));
}
