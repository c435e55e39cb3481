/**
 * What was observed of a history while it grows: transactions with their sessions and levels, which write each read saw, who writes what.
 * Nodes are transactions, numbered densely; node 0 is the initial state. Relations are bit matrices: a row for each node.
 */
import { BitMatrix, everyElement } from '../base/index.ts';
import type { IsolationLevel } from './level.ts';

/** From weak to strong. */
export const strengths: Readonly<Record<ConstrainingLevel, number>> = {
  'read-committed': 0,
  'read-atomic': 1,
  causal: 2,
  prefix: 3,
  'snapshot-isolation': 4,
  serializable: 5,
};

/** The levels whose reads constrain the commit order, which are those that a mock database can be at. */
export type ConstrainingLevel = Exclude<IsolationLevel, 'read-uncommitted' | 'strict-serializable'>;
/** The levels that a mock database can be at, weakest first. */
export const constrainingLevels = Object.keys(strengths) as ConstrainingLevel[];

export class Observations {
  /** Number of nodes so far; ids are dense. */
  nodes = 1;
  /** How many reads were made at a strong level. */
  strongReads = 0;
  /** Did the read that was added last make more transactions visible to its reader? If not, earlier reads of the reader stay as they are. */
  sawNews = false;
  /** Row t: the transactions before t in so; those that t read from; those before t in (so U wr)+; those it conflicts with in a key. */
  readonly so = new BitMatrix(1);
  readonly sources = new BitMatrix(1);
  readonly past = new BitMatrix(1);
  readonly conflicts = new BitMatrix(1);

  readonly #strength: number[] = [strengths.serializable];
  readonly #session: number[] = [-1];
  readonly #readsBy: number[][] = [[]];
  readonly #writesBy: (readonly number[])[] = [[]];
  readonly #readBy: number[] = [];
  readonly #readKey: number[] = [];
  readonly #readFrom: number[] = [];
  /** Per key: its writers in order of commit, the initial state first; its strong reads. */
  readonly #writers: number[][] = [];
  readonly #strongReadsOf: number[][] = [];
  readonly #sessionLast: number[] = [];
  readonly #sequence: number[] = [0];
  #commits = 0;
  /** What the reader on trial saw before. */
  readonly #saved = new BitMatrix(1);

  get words(): number {
    return this.so.words;
  }

  /** Forgets the history and keeps the memory. */
  reset(): void {
    for (const rows of [this.so, this.sources, this.past, this.conflicts]) rows.clear(this.nodes);
    for (const list of this.#writers) list.length = 1;
    for (const list of this.#strongReadsOf) list.length = 0;
    for (const list of [this.#strength, this.#session, this.#readsBy, this.#writesBy]) list.length = 1;
    for (const list of [this.#readBy, this.#readKey, this.#readFrom, this.#sessionLast]) list.length = 0;
    this.nodes = 1;
    this.strongReads = 0;
    this.#sequence.length = 1;
    this.#commits = 0;
  }

  /** A new transaction, the last of its session so far. */
  begin(session: number, level: ConstrainingLevel): number {
    const node = this.nodes;
    if (node === this.so.capacity) {
      for (const rows of [this.so, this.sources, this.past, this.conflicts, this.#saved]) rows.grow();
    }
    this.nodes += 1;
    this.#strength.push(strengths[level]);
    this.#session.push(session);
    this.#readsBy.push([]);
    this.#writesBy.push([]);
    const previous = this.#sessionLast[session] ?? 0;
    this.so.copyRow(node, this.so, previous);
    this.so.add(node, previous);
    this.#sessionLast[session] = node;
    this.past.copyRow(node, this.past, previous);
    this.past.add(node, previous);
    this.sources.clearRow(node);
    return node;
  }

  /** @returns the read's id */
  addRead(node: number, key: number, from: number): number {
    const read = this.#readBy.length;
    this.#touch(key);
    this.#readBy.push(node);
    this.#readKey.push(key);
    this.#readFrom.push(from);
    this.#readsBy[node].push(read);
    if (this.isStrong(node)) {
      this.strongReads += 1;
      this.#strongReadsOf[key].push(read);
    }
    this.#see(node, from);
    return read;
  }

  /** Adds a read on trial: `removeRead` takes it back. One trial at a time. */
  tryRead(node: number, key: number, from: number): number {
    this.#saved.copyRow(0, this.sources, node);
    this.#saved.copyRow(1, this.past, node);
    return this.addRead(node, key, from);
  }

  /** Undoes the read on trial. */
  removeRead(node: number): void {
    const key = this.#readKey.pop() as number;
    this.#readBy.pop();
    this.#readFrom.pop();
    this.#readsBy[node].pop();
    if (this.isStrong(node)) {
      this.strongReads -= 1;
      this.#strongReadsOf[key].pop();
    }
    this.sources.copyRow(node, this.#saved, 0);
    this.past.copyRow(node, this.#saved, 1);
  }

  /** `node` commits; from now on its writes can be read. */
  addWrites(node: number, keys: readonly number[]): void {
    this.#writesBy[node] = keys;
    this.#commits += 1;
    this.#sequence[node] = this.#commits;
    for (const key of keys) {
      this.#touch(key);
      const writers = this.#writers[key];
      for (let i = 1; i < writers.length; i += 1) {
        this.conflicts.add(node, writers[i]);
        this.conflicts.add(writers[i], node);
      }
      writers.push(node);
    }
  }

  /** Undoes the writes that were added last, which were by `node`. */
  removeWrites(node: number): void {
    for (const key of this.writesBy(node)) this.#writers[key].pop();
    this.#writesBy[node] = [];
    everyElement(this.conflicts, node, (other) => {
      this.conflicts.delete(other, node);
      return true;
    });
    this.conflicts.clearRow(node);
  }

  /** Undoes all reads of `node`; it stays as an empty transaction. No transaction may have read from it. */
  removeReads(node: number): void {
    if (this.#isLastReader(node)) this.#popReads(node);
    else this.#filterReads(node);
    this.sources.clearRow(node);
    this.past.copyRow(node, this.past, this.lastBefore(node));
    this.past.add(node, this.lastBefore(node));
  }

  /** Are all reads of `node` the last ones of the history? */
  #isLastReader(node: number): boolean {
    const { length } = this.#readsBy[node];
    return this.#readBy.slice(this.#readBy.length - length).every((by) => by === node);
  }

  #popReads(node: number): void {
    const own = this.#readsBy[node];
    for (let read = own.pop(); read !== undefined; read = own.pop()) {
      if (this.isStrong(node)) {
        this.strongReads -= 1;
        this.#strongReadsOf[this.#readKey[read]].pop();
      }
      this.#readBy.pop();
      this.#readKey.pop();
      this.#readFrom.pop();
    }
  }

  /** The ids of the reads that came later change. */
  #filterReads(node: number): void {
    const reads: [number, number, number][] = [];
    this.#readBy.forEach((by, read) => {
      if (by !== node) reads.push([by, this.#readKey[read], this.#readFrom[read]]);
    });
    for (const list of this.#readsBy) list.length = 0;
    for (const list of this.#strongReadsOf) list.length = 0;
    for (const list of [this.#readBy, this.#readKey, this.#readFrom]) list.length = 0;
    this.strongReads = 0;
    for (const [by, key, from] of reads) this.addRead(by, key, from);
  }

  levelOf(node: number): ConstrainingLevel {
    return constrainingLevels[this.#strength[node]];
  }

  /** Of its level: see `strengths`. */
  strengthOf(node: number): number {
    return this.#strength[node];
  }

  sessionOf(node: number): number {
    return this.#session[node];
  }

  isStrong(node: number): boolean {
    return this.#strength[node] >= strengths.prefix;
  }

  /** The position of `node` among the commits so far; 0 for the initial state and while it has not committed. */
  sequenceOf(node: number): number {
    return this.#sequence[node] ?? 0;
  }

  /** The committed writers of `key` in order of commit, the initial state first. */
  writersOf(key: number): readonly number[] {
    this.#touch(key);
    return this.#writers[key];
  }

  readsBy(node: number): readonly number[] {
    return this.#readsBy[node];
  }

  writesBy(node: number): readonly number[] {
    return this.#writesBy[node];
  }

  strongReadsOf(key: number): readonly number[] {
    return this.#strongReadsOf[key] ?? [];
  }

  sourceOf(read: number): number {
    return this.#readFrom[read];
  }

  readerOf(read: number): number {
    return this.#readBy[read];
  }

  keyOf(read: number): number {
    return this.#readKey[read];
  }

  /** The snapshot-isolation readers whose conflicts `node` has joined, `node` itself among them. */
  conflictingReaders(node: number): number[] {
    const readers = [node];
    everyElement(this.conflicts, node, (other) => readers.push(other) > 0);
    return readers.filter((reader) => this.#strength[reader] === strengths['snapshot-isolation']);
  }

  writesKey(t: number, key: number): boolean {
    return t === 0 || this.#writesBy[t].includes(key);
  }

  /** Is it before the node in so or wr? */
  isDirect(node: number, t: number): boolean {
    return this.so.has(node, t) || this.sources.has(node, t);
  }

  /** The last transaction before it in its session; 0: none. */
  lastBefore(node: number): number {
    let last = 0;
    everyElement(this.so, node, (before) => (last = before) >= 0);
    return last;
  }

  #touch(key: number): void {
    while (this.#writers.length <= key) {
      this.#writers.push([0]);
      this.#strongReadsOf.push([]);
    }
  }

  #see(node: number, from: number): void {
    this.sawNews = from !== 0 && !this.isDirect(node, from);
    this.sources.add(node, from);
    this.past.union(node, this.past, from);
    this.past.add(node, from);
  }
}
