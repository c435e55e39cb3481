import { describe, expect, test } from 'vitest';
import { assert, type Chooser, seeded } from '../base/index.ts';
import { formatHistory, type History, INITIAL, type Operation, type TransactionIndex } from '../history/index.ts';
import { certify } from './certify.ts';
import { check } from './check.ts';
import { type ConstrainingLevel, constrainingLevels } from './observations.ts';
import { CommitOrders } from './commit-orders.ts';
import { satisfies } from './definition.ts';
import type { LevelOf } from './level.ts';
import { referenceCheck } from './reference.ts';

/** MOIRAI_HEAVY=1: more and larger runs. */
const heavy = process.env['MOIRAI_HEAVY'] === '1';
const constrained = { abortedReads: 'constrained' } as const;

/** What a test saw, so that it can say what it must have seen. */
const nothingSeen = { allowed: 0, refused: 0, commits: 0, refusedCommits: 0, forgotten: 0 };

describe('the commit orders of a growing history answer as the definition does', () => {
  test.each(constrainingLevels)('when all transactions are %s', (level) => {
    const seen = { ...nothingSeen };
    for (const store of storesFrom(1, heavy ? 1_000 : 60, [level])) {
      for (let step = 0; step < 14; step += 1) store.step(2, seen);
    }
    expect(Math.min(seen.allowed, seen.refused, seen.commits, seen.forgotten)).toBeGreaterThan(0);
    // There a write can make an earlier, then legal, read illegal. Below, nothing has to be after a transaction that nobody has seen.
    const takesBack = level === 'snapshot-isolation' || level === 'serializable';
    expect(seen.refusedCommits > 0).toBe(takesBack);
  });

  test('when levels are mixed', () => {
    const seen = { ...nothingSeen };
    for (const store of storesFrom(2, heavy ? 3_000 : 200, constrainingLevels)) {
      for (let step = 0; step < 14; step += 1) store.step(2, seen);
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });

  test('when there are more transactions than a machine word has bits', () => {
    const seen = { ...nothingSeen };
    for (const store of storesFrom(3, heavy ? 40 : 4, constrainingLevels)) {
      while (store.transactions.length < 70) store.stepUnchecked(5, seen);
      store.expectCertified(seen);
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });
});

describe('an observer after all transactions', () => {
  test.each(constrainingLevels)('reads exactly the final states that the commit orders of %s have', (level) => {
    let severalFinalStates = 0;
    for (const store of storesFrom(4, heavy ? 400 : 40, [level])) {
      for (let step = 0; step < 12; step += 1) store.stepUnchecked(2, { ...nothingSeen });
      const byDefinition = store.finalStates();
      expect(store.observedStates()).toEqual(byDefinition);
      if (byDefinition.length > 1) severalFinalStates += 1;
    }
    expect(severalFinalStates).toBeGreaterThan(0);
  });
});

describe('the start of a history', () => {
  const [x, y] = [0, 1];

  /** Two writers of x, `a` and `b`, whose order is open, and `c`, which is open and has read x from `a`. */
  function twoWriters(level: ConstrainingLevel) {
    const orders = new CommitOrders();
    const [a, b, c] = [orders.begin(0, level), orders.begin(1, level), orders.begin(2, level)];
    for (const node of [a, b]) expect(orders.commit(node, [x])).toBe(true);
    orders.read(c, x, a);
    return { orders, a, b, c, isOpen: (node: number) => node === c };
  }

  test('is closed where nothing in it is after an open transaction', () => {
    const { orders, a, b, isOpen } = twoWriters('causal');
    expect(orders.closedStart(isOpen)).toEqual([a, b]);
    const late = twoWriters('serializable');
    // c has read the older of the two: the other comes after it.
    expect(late.orders.commitOrder()).toEqual([late.a, late.c, late.b]);
    expect(late.orders.closedStart(late.isOpen)).toEqual([late.a]);
  });

  test('is fixed in its order, before all that begins later', () => {
    const { orders, a, b } = twoWriters('causal');
    orders.fix([a, b], []);
    const strong = orders.begin(3, 'serializable');
    expect(orders.allowsRead(strong, x, 0)).toBe(false);
    expect(orders.allowsRead(strong, x, a)).toBe(false);
    expect(orders.allowsRead(strong, x, b)).toBe(true);
  });

  test('goes, and the rest is what it was, numbered anew', () => {
    const { orders, a, b, c } = twoWriters('causal');
    orders.fix([a, b], []);
    expect(orders.commit(c, [y])).toBe(true);
    const d = orders.begin(0, 'causal');
    orders.read(d, y, c);
    const { orders: shorter, nodeOf, keyOf } = orders.without([a, b], (node) => node === d);
    expect([...nodeOf]).toEqual([0, 0, 0, 1, 2]);
    expect([...keyOf.keys()]).toEqual([y]);
    expect(shorter.commitOrder()).toEqual([1, 2]);
    // d has seen c: it cannot go back behind what c wrote, nor may a later transaction of its session.
    const newY = keyOf.get(y) as number;
    const later = shorter.begin(0, 'causal');
    expect([0, 1].map((from) => shorter.allowsRead(later, newY, from))).toEqual([false, true]);
    const stranger = shorter.begin(5, 'causal');
    expect([0, 1].map((from) => shorter.allowsRead(stranger, newY, from))).toEqual([true, true]);
  });

  test('what `putBefore` puts first stays first; what is after already is not', () => {
    const { orders, a, b, c } = twoWriters('causal');
    expect(orders.putBefore([c], [a])).toBe(false);
    expect(orders.putBefore([b], [a])).toBe(true);
    const strong = orders.begin(3, 'serializable');
    orders.read(strong, x, a);
    expect(orders.commitOrder().indexOf(b)).toBeLessThan(orders.commitOrder().indexOf(a));
  });
});

describe('commit orders', () => {
  test.each([
    [0, true],
    [100, false],
  ])('that may take %i steps of search give up where that is too few: %s', (stepsMax, gaveUp) => {
    // Either order of the first two puts b before a, and either order of the next two puts a before b.
    const orders = new CommitOrders({ stepsMax });
    const [y, z, p, q, r, s, forA, forB] = [0, 1, 2, 3, 4, 5, 6, 7];
    const commit = (session: number, writes: readonly number[], ...reads: readonly [number, number][]): boolean => {
      const node = orders.begin(session, 'serializable');
      const reading = reads.every(([key, from]) => {
        const allowed = orders.allowsRead(node, key, from);
        if (allowed) orders.read(node, key, from);
        return allowed;
      });
      return reading && orders.commit(node, writes);
    };
    const writers = [
      [p, y],
      [q, y],
      [r, z],
      [s, z],
    ].map((writes, t) => commit(t, writes));
    const a = commit(4, [], [p, 1], [q, 2], [forA, 0]);
    const b = commit(5, [], [r, 3], [s, 4], [forB, 0]);
    const readers = [commit(6, [forB], [y, 1]), commit(7, [forB], [y, 2]), commit(8, [forA], [z, 3])];
    expect([...writers, a, b, ...readers]).toEqual(Array.from({ length: 9 }, () => true));
    expect(commit(9, [forA], [z, 4])).toBe(false);
    expect(orders.gaveUp).toBe(gaveUp);
  });
});

interface ModelTransaction {
  readonly node: number;
  readonly session: number;
  readonly level: ConstrainingLevel;
  status: 'open' | 'committed' | 'aborted';
  reads: { readonly key: number; readonly from: number }[];
  writes: readonly number[];
}

type Seen = typeof nothingSeen;
type Act = (orders: CommitOrders) => void;

/** A store that takes random steps, and the history that its transactions have made so far. */
class ModelStore {
  readonly transactions: ModelTransaction[] = [];
  readonly #chooser: Chooser;
  readonly #orders: CommitOrders;
  readonly #levels: readonly ConstrainingLevel[];
  readonly #acts: Act[] = [];

  constructor(chooser: Chooser, orders: CommitOrders, levels: readonly ConstrainingLevel[]) {
    this.#chooser = chooser;
    this.#orders = orders;
    this.#levels = levels;
    orders.reset();
  }

  /** One step, then the answer for every read that is possible next is compared with the definition. */
  step(keys: number, seen: Seen): void {
    this.#choose(keys, seen, true);
    for (const t of this.transactions.filter(({ status }) => status === 'open')) {
      const readable = new Set<number>();
      for (const { key, from } of this.#possibleReads(keys)) {
        const allowed = this.#orders.allowsRead(t.node, key, from);
        if (allowed) readable.add(key);
        t.reads.push({ key, from });
        assert(allowed === this.#hasCommitOrder(), `${t.node} may read as last: ${allowed}\n${this.text()}`);
        t.reads.pop();
        seen[allowed ? 'allowed' : 'refused'] += 1;
      }
      assert(readable.size === keys, `something can be read of every key\n${this.text()}`);
    }
    this.#expectOrder();
  }

  stepUnchecked(keys: number, seen: Seen): void {
    this.#choose(keys, seen, false);
  }

  /** For histories that are too large for the reference checker: every answer is proven. */
  expectCertified(seen: Seen): void {
    this.#expectOrder();
    const open = this.transactions.find(({ status }) => status === 'open');
    if (open === undefined) return;
    for (const { key, from } of this.#possibleReads(2)) {
      open.reads.push({ key, from });
      const history = this.history();
      const verdict = check(history, this.#levelOf, constrained);
      assert(certify(history, this.#levelOf, verdict, constrained), this.text());
      open.reads.pop();
      const allowed = this.#orders.allowsRead(open.node, key, from);
      assert(allowed === (verdict.kind === 'satisfied'), `${open.node} may read: ${allowed}\n${this.text()}`);
      seen[allowed ? 'allowed' : 'refused'] += 1;
    }
  }

  /** The final values of keys 0 and 1 by the definition: in each commit order, the last writer of each. */
  finalStates(): string[] {
    const history = this.history();
    const orders = permutations(this.transactions.map((_, t) => t)).filter((order) =>
      satisfies(history, order, this.#levelOf, constrained),
    );
    const writerIn = (order: readonly number[], key: number): number =>
      this.transactions[order.findLast((t) => this.transactions[t]?.writes.includes(key)) ?? -1]?.node ?? 0;
    return distinct(orders.map((order) => `${writerIn(order, 0)} ${writerIn(order, 1)}`));
  }

  /** The same, as observers see it. */
  observedStates(): string[] {
    const states: string[] = [];
    for (const { from: first } of this.#possibleReads(1)) {
      for (const { key, from: second } of this.#possibleReads(2)) {
        if (key === 0) continue;
        const orders = new CommitOrders();
        for (const act of this.#acts) act(orders);
        const observer = orders.beginObserver(9);
        if (!orders.allowsRead(observer, 0, first)) continue;
        orders.read(observer, 0, first);
        if (orders.allowsRead(observer, 1, second)) states.push(`${first} ${second}`);
      }
    }
    return distinct(states);
  }

  history(): History {
    const transactions = this.transactions.map(({ session, status, reads, writes, level, node }) => ({
      id: String(node),
      session,
      level,
      status: status === 'committed' ? ('committed' as const) : ('aborted' as const),
      operations: [
        ...reads.map(({ key, from }): Operation => {
          return { kind: 'read', key: String(key), value: from === 0 ? null : from, from: this.#indexOf(from) };
        }),
        ...writes.map((key): Operation => ({ kind: 'write', key: String(key), value: node })),
      ],
    }));
    return { sessions: ['a', 'b', 'c'], transactions, initial: new Map() };
  }

  text(): string {
    return `${this.transactions.map(({ level }) => level).join(' ')}\n${formatHistory(this.history())}`;
  }

  #levelOf: LevelOf = (t) => this.transactions[t]?.level as ConstrainingLevel;

  #indexOf(node: number): TransactionIndex {
    return node === 0 ? INITIAL : this.transactions.findIndex((t) => t.node === node);
  }

  #hasCommitOrder(): boolean {
    return referenceCheck(this.history(), this.#levelOf, constrained).kind === 'satisfied';
  }

  #possibleReads(keys: number): { readonly key: number; readonly from: number }[] {
    return Array.from({ length: keys }, (_, key) => key).flatMap((key) => {
      const writers = this.transactions.filter(({ writes }) => writes.includes(key));
      return [0, ...writers.map(({ node }) => node)].map((from) => ({ key, from }));
    });
  }

  #act(act: Act): void {
    this.#acts.push(act);
    act(this.#orders);
  }

  #choose(keys: number, seen: Seen, compare: boolean): void {
    const session = this.#chooser.choose(3);
    const t = this.transactions.findLast((other) => other.session === session);
    if (t?.status !== 'open') return this.#begin(session, compare);
    switch (this.#chooser.choose(8)) {
      case 0:
        return this.#forget(t, seen);
      case 1:
        t.status = 'aborted'; // what it read stays
        return undefined;
      case 2:
      case 3:
        return this.#commit(t, keys, seen, compare);
      default:
        return this.#read(t, keys);
    }
  }

  #begin(session: number, compare: boolean): void {
    if (compare && this.transactions.length === 5) return; // the reference checker tries 120 orders
    const level = this.#levels[this.#chooser.choose(this.#levels.length)] as ConstrainingLevel;
    const node = this.transactions.length + 1;
    this.#act((orders) => assert(orders.begin(session, level) === node, 'nodes are dense'));
    this.transactions.push({ node, session, level, status: 'open', reads: [], writes: [] });
  }

  #read(t: ModelTransaction, keys: number): void {
    const reads = this.#possibleReads(keys).filter(({ key, from }) => this.#orders.allowsRead(t.node, key, from));
    const read = reads[this.#chooser.choose(reads.length)] as { key: number; from: number };
    this.#act((orders) => orders.read(t.node, read.key, read.from));
    t.reads.push(read);
  }

  #commit(t: ModelTransaction, keys: number, seen: Seen, compare: boolean): void {
    const writes = Array.from({ length: keys }, (_, key) => key).filter(() => this.#chooser.choose(2) === 0);
    const committed = this.#orders.commit(t.node, writes);
    this.#acts.push((orders) => void orders.commit(t.node, writes));
    t.writes = writes;
    t.status = 'committed';
    if (compare) assert(committed === this.#hasCommitOrder(), `commits: ${committed}\n${this.text()}`);
    seen[committed ? 'commits' : 'refusedCommits'] += 1;
    if (committed) return;
    t.writes = [];
    t.status = 'open'; // it may forget and begin again, or give up
  }

  /** As a store takes a transaction back. It may go on, or end as a transaction without operations. */
  #forget(t: ModelTransaction, seen: Seen): void {
    this.#act((orders) => orders.forget(t.node));
    t.reads = [];
    if (this.#chooser.choose(2) === 0) t.status = 'aborted';
    seen.forgotten += 1;
  }

  #expectOrder(): void {
    const order = this.#orders.commitOrder().map((node) => this.#indexOf(node));
    assert(satisfies(this.history(), order, this.#levelOf, constrained), `by ${order.join(' ')}\n${this.text()}`);
  }
}

/** Stores that share their commit orders, as campaigns do. */
function* storesFrom(
  stream: number,
  count: number,
  levels: readonly ConstrainingLevel[],
): Generator<ModelStore, undefined> {
  const orders = new CommitOrders();
  for (let seed = 0; seed < count; seed += 1) yield new ModelStore(seeded(seed, stream), orders, levels);
}

function permutations(items: readonly number[]): number[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) => permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]));
}

const distinct = (states: readonly string[]): string[] => [...new Set(states)].toSorted();
