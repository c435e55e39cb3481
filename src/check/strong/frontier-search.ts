/**
 * The search over frontiers (dbcop: Biswas and Enea, OOPSLA 2019): nodes are placed as a store would execute them, and where nothing can continue
 * the last choice is undone. What is left to do depends on the set of nodes that were placed, not on their order, so that a set that led
 * nowhere is never tried again: with k sessions there are at most n^k. Who can be placed without making anybody wait is placed at once.
 */
import type { TimeLimit } from '../../base/index.ts';
import { type EdgesBySource, edgesBySource } from './clocks.ts';
import { isCommit, isSnapshot, memberAt } from './node.ts';
import { type Nodes, type OrderEdges } from './nodes.ts';
import type { Versions } from './versions.ts';

/** Sets of nodes that are remembered. */
const frontiersMax = 4_000_000;

export class FrontierSearch {
  readonly #nodes: Nodes;
  readonly #versions: Versions;
  readonly #edges: OrderEdges;
  readonly #bySource: EdgesBySource;
  /** By node: its place in an order that was guessed: lower is tried first. */
  readonly #guess: Int32Array;
  /** By chain: its next node, and the one after its last. */
  readonly #head: Int32Array;
  readonly #end: Int32Array;
  readonly #left: Int32Array;
  /** By version and, after those, by key for the initial ones: reads to come. By key: the current version, in the same numbers. */
  readonly #pending: Int32Array;
  readonly #current: Int32Array;
  readonly #open: Int32Array;
  readonly #placed: number[] = [];
  /** By node that was placed: the versions that its writes replaced. */
  readonly #replaced: number[] = [];
  /** Choices: how many nodes were placed before, and what is left to try, best last. */
  readonly #choices: { readonly placed: number; readonly rest: number[]; readonly hash: number }[] = [];
  readonly #dead = new Set<number>();
  #hashHigh = 0;
  #hashLow = 0;
  #isBack = false;

  constructor(nodes: Nodes, versions: Versions, edges: OrderEdges, guess: Int32Array) {
    this.#nodes = nodes;
    this.#versions = versions;
    this.#edges = edges;
    this.#bySource = edgesBySource(edges, nodes.nodeCount);
    this.#guess = guess;
    this.#head = new Int32Array(nodes.chainCount).fill(-1);
    this.#end = new Int32Array(nodes.chainCount).fill(-1);
    this.#left = new Int32Array(nodes.nodeCount);
    for (let u = 0; u < nodes.nodeCount; u += 1) {
      const chain = nodes.chainOf[u];
      if (this.#head[chain] === -1) this.#head[chain] = u;
      this.#end[chain] = u + 1;
    }
    for (let e = 0; e < edges.count; e += 1) {
      const v = edges.to.array[e];
      this.#left[v] += 1;
    }
    const versionCount = versions.writer.length;
    const keyCount = versions.keyStart.length - 1;
    this.#pending = new Int32Array(versionCount + keyCount);
    for (let i = 0; i < versions.readStart[nodes.memberCount]; i += 1) this.#addPending(i, 1);
    this.#current = Int32Array.from({ length: keyCount }, (_, k) => versionCount + k);
    this.#open = new Int32Array(keyCount);
  }

  /** Places about so many nodes. */
  run(steps: number, limit: TimeLimit): 'satisfied' | 'violated' | 'open' {
    for (let step = 0; step < steps; step += 1) {
      limit.check();
      if (this.#placed.length === this.#nodes.nodeCount) return 'satisfied';
      if (this.#isBack) {
        if (!this.#goBack()) return 'violated';
        continue;
      }
      if (this.#dead.size > frontiersMax) return 'open';
      this.#goOn();
    }
    return 'open';
  }

  /** It remembers as much as it may, and has stopped. */
  get isFull(): boolean {
    return this.#dead.size > frontiersMax;
  }

  order(): Int32Array {
    return Int32Array.from(this.#placed);
  }

  #goOn(): void {
    const candidates: number[] = [];
    for (let chain = 0; chain < this.#head.length; chain += 1) {
      const u = this.#head[chain];
      if (u === this.#end[chain] || this.#left[u] !== 0 || this.#isBlocked(u)) continue;
      if (this.#isFree(u)) {
        this.#place(u);
        return;
      }
      candidates.push(u);
    }
    if (candidates.length === 0) {
      this.#isBack = true;
      return;
    }
    if (candidates.length > 1 || this.#choices.length > 0) {
      const hash = this.#hash();
      if (this.#dead.has(hash)) {
        this.#isBack = true;
        return;
      }
      if (candidates.length > 1) {
        candidates.sort((a, b) => this.#guess[b] - this.#guess[a]);
        this.#choices.push({ placed: this.#placed.length, rest: candidates, hash });
        this.#place(candidates.pop() as number);
        return;
      }
    }
    this.#place(candidates[0]);
  }

  /** @returns false: there is nothing left to try */
  #goBack(): boolean {
    for (let choice = this.#choices.at(-1); choice !== undefined; choice = this.#choices.at(-1)) {
      while (this.#placed.length > choice.placed) this.#takeBack();
      const next = choice.rest.pop();
      if (next !== undefined) {
        this.#place(next);
        this.#isBack = false;
        return true;
      }
      this.#dead.add(choice.hash);
      this.#choices.pop();
    }
    return false;
  }

  /** Of the set of nodes that are placed. */
  #hash(): number {
    return this.#hashHigh * 2 ** 32 + this.#hashLow;
  }

  #flip(u: number): void {
    this.#hashHigh = (this.#hashHigh ^ mixed(2 * u + 1)) & 0x1f_ffff;
    this.#hashLow = (this.#hashLow ^ mixed(2 * u + 2)) >>> 0;
  }

  /** Does placing it at once make no other wait? Reads alone do not, nor does a commit that holds its keys since its snapshot. */
  #isFree(u: number): boolean {
    const { shift, memberCount, level } = this.#nodes;
    const m = memberAt(u, shift);
    if (m >= memberCount) return true;
    const { writtenStart } = this.#versions;
    if (writtenStart[m] === writtenStart[m + 1]) return true;
    if (shift === 0) return false;
    return level === 'prefix' ? (u & 1) === 0 : (u & 1) === 1;
  }

  /** Must it wait for readers of what it would overwrite, or for another writer that is between its snapshot and its commit? */
  #isBlocked(u: number): boolean {
    const { shift, memberCount, level } = this.#nodes;
    const m = memberAt(u, shift);
    if (m >= memberCount) return false;
    const { writtenStart, written, keyOf } = this.#versions;
    const isOnlySnapshot = !isCommit(u, shift);
    if (isOnlySnapshot && level === 'prefix') return false;
    const own = level === 'snapshot-isolation' && !isOnlySnapshot ? 1 : 0;
    for (let w = writtenStart[m]; w < writtenStart[m + 1]; w += 1) {
      const k = keyOf[written[w]];
      if (this.#open[k] > own) return true;
      if (isOnlySnapshot) continue;
      const current = this.#current[k];
      const pending = this.#pending[current];
      if (pending > 0 && (shift === 1 || pending > this.#ownReads(m, current))) return true;
    }
    return false;
  }

  #ownReads(m: number, version: number): number {
    const { readStart } = this.#versions;
    let count = 0;
    for (let i = readStart[m]; i < readStart[m + 1]; i += 1) if (this.#seenBy(i) === version) count += 1;
    return count;
  }

  #seenBy(read: number): number {
    const { readVersion, readKey, writer } = this.#versions;
    const version = readVersion[read];
    return version < 0 ? writer.length + readKey[read] : version;
  }

  #addPending(read: number, count: 1 | -1): void {
    const seen = this.#seenBy(read);
    this.#pending[seen] += count;
  }

  #place(u: number): void {
    this.#placed.push(u);
    this.#step(u, 1);
  }

  #takeBack(): void {
    this.#step(this.#placed.pop() as number, -1);
  }

  #step(u: number, by: 1 | -1): void {
    const { shift, memberCount, level, chainOf } = this.#nodes;
    this.#flip(u);
    const chain = chainOf[u];
    this.#head[chain] += by;
    for (let i = this.#bySource.start[u]; i < this.#bySource.start[u + 1]; i += 1) {
      const v = this.#edges.to.array[this.#bySource.edge[i]];
      this.#left[v] -= by;
    }
    const m = memberAt(u, shift);
    if (m >= memberCount) return;
    const { readStart } = this.#versions;
    const takesSnapshot = isSnapshot(u, shift);
    if (takesSnapshot) for (let i = readStart[m]; i < readStart[m + 1]; i += 1) this.#addPending(i, by === 1 ? -1 : 1);
    if (isCommit(u, shift)) this.#write(m, by);
    if (level === 'snapshot-isolation') this.#hold(m, takesSnapshot ? by : -by);
  }

  #write(m: number, by: 1 | -1): void {
    const { writtenStart, written, keyOf } = this.#versions;
    const [first, after] = [writtenStart[m], writtenStart[m + 1]];
    for (let i = first; i < after; i += 1) {
      const version = written[by === 1 ? i : first + after - 1 - i];
      const key = keyOf[version];
      if (by === 1) {
        this.#replaced.push(this.#current[key]);
        this.#current[key] = version;
      } else this.#current[key] = this.#replaced.pop() as number;
    }
  }

  #hold(m: number, change: number): void {
    const { writtenStart, written, keyOf } = this.#versions;
    for (let w = writtenStart[m]; w < writtenStart[m + 1]; w += 1) {
      const key = keyOf[written[w]];
      this.#open[key] += change;
    }
  }
}

/** 32 bits that look random (the finalizer of MurmurHash3). */
function mixed(x: number): number {
  let h = Math.imul(x, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
