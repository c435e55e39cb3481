/**
 * The swaps of explore-ce (PLDI 2023, section 5.2): when a transaction t commits, reads that came before it, and could not see it, get their
 * chance. A swap keeps what is before the read's transaction and the causal past of t, and puts that transaction last, cut right after the
 * read, which now sees t. To reach every history once, a swap is made only from the history in which every read that it deletes sees the
 * causally latest write that it may (`readLatest`). The clause on swapped reads of the paper's prose is left out: with `readLatest` as
 * equality with the maximum it follows, and taken literally it loses histories (s0: [ry rx], s1: [rx wy];[wx], s2: [wx]).
 */
import { CommitOrders, type ConstrainingLevel } from '../isolation/index.ts';
import { type Log, nameAt, pastOf, type Prefix, prefixOf, writesKey } from './ordered-history.ts';

export type LevelOf = (log: Log) => ConstrainingLevel;

/** Finds the swaps that the commit of the last transaction allows; keeps memory from call to call. */
export class Swaps {
  readonly #levelOf: LevelOf;
  readonly #orders = new CommitOrders();
  /** The node of each transaction that was added, by position. */
  readonly #nodeAt: number[] = [];

  constructor(levelOf: LevelOf) {
    this.#levelOf = levelOf;
  }

  after(logs: readonly Log[]): Prefix[] {
    const t = logs.length - 1;
    const { writeKeys } = logs[t] as Log;
    if (writeKeys.length === 0) return [];
    const past = pastOf(logs, t);
    const prefixes: Prefix[] = [];
    for (let a = 0; a < t; a += 1) {
      if (past[a] === 1) continue;
      const { readKeys } = logs[a] as Log;
      for (let r = 0; r < readKeys.length; r += 1) {
        if (!writeKeys.includes(readKeys[r] as number)) continue;
        if (this.#isOptimal(logs, past, a, r)) prefixes.push(swap(logs, past, a, r));
      }
    }
    return prefixes;
  }

  /** Is the swapped history at its levels, and does every read that the swap deletes, and the swapped one, see the latest write? */
  #isOptimal(logs: readonly Log[], past: Uint8Array, a: number, r: number): boolean {
    for (let b = a; b < logs.length; b += 1) {
      if (past[b] === 1) continue;
      const { readKeys } = logs[b] as Log;
      for (let read = b === a ? r : 0; read < readKeys.length; read += 1) {
        if (!this.#seesLatest(logs, past, b, read)) return false;
      }
    }
    return this.#isSwapAllowed(logs, past, a, r);
  }

  #isSwapAllowed(logs: readonly Log[], past: Uint8Array, a: number, r: number): boolean {
    this.#orders.reset();
    for (let i = 0; i < logs.length; i += 1) if (i < a || past[i] === 1) this.#add(logs, i);
    const node = this.#add(logs, a, r);
    const key = (logs[a] as Log).readKeys[r] as number;
    return this.#orders.rebuild() && this.#orders.allowsRead(node, key, this.#nodeAt[logs.length - 1] as number);
  }

  /** Of the writes in the causal past of the reader without this read, does it see the latest that its level allows? */
  #seesLatest(logs: readonly Log[], past: Uint8Array, b: number, read: number): boolean {
    const reader = logs[b] as Log;
    const key = reader.readKeys[read] as number;
    const seen = reader.sources[read] as number;
    const causal = pastOf(logs, b, read);
    if (seen >= 0 && causal[seen] !== 1) return false;
    let node = -1;
    for (let u = b - 1; u >= 0; u -= 1) {
      if (causal[u] !== 1 || !writesKey(logs[u] as Log, key)) continue;
      if (node < 0) node = this.#build(logs, past, b, read);
      if (this.#orders.allowsRead(node, key, this.#nodeAt[u] as number)) return u === seen;
    }
    return seen < 0;
  }

  /** What is before the read, and the past of the swapped transaction. @returns the reader's node */
  #build(logs: readonly Log[], past: Uint8Array, b: number, read: number): number {
    this.#orders.reset();
    let node = 0;
    for (let i = 0; i < logs.length; i += 1) {
      if (i === b) node = this.#add(logs, i, read);
      else if (i < b || past[i] === 1) this.#add(logs, i);
    }
    this.#orders.rebuild();
    return node;
  }

  /** Adds a transaction, or only its first `reads` reads. */
  #add(logs: readonly Log[], position: number, reads?: number): number {
    const log = logs[position] as Log;
    const { constraints } = this.#orders;
    const node = constraints.begin(log.session, this.#levelOf(log));
    this.#nodeAt[position] = node;
    const end = reads ?? log.readKeys.length;
    for (let i = 0; i < end; i += 1) {
      const source = log.sources[i] as number;
      constraints.addRead(node, log.readKeys[i] as number, source < 0 ? 0 : (this.#nodeAt[source] as number));
    }
    if (reads === undefined && log.status === 'committed') constraints.addWrites(node, log.writeKeys);
    return node;
  }
}

function swap(logs: readonly Log[], past: Uint8Array, a: number, r: number): Prefix {
  const whole = prefixOf(logs);
  const { name, sources } = whole[a] as Prefix[number];
  const kept = whole.filter((_, i) => i < a || past[i] === 1);
  return [...kept, { name, sources: [...sources.slice(0, r), nameAt(logs, logs.length - 1)] }];
}
