/**
 * An order of nodes that grows edge by edge, with all that follows from each edge, and can be undone: the clocks of `saturate`, kept up to
 * date. An entry of a clock that changes is noted on a trail, with the old value and the edge it came by, so that going back restores it and
 * so that it can be explained, later, by which edges one node was before another at some time (`explainPath`).
 *
 * Cost: an edge costs the entries it changes, times the edges of their nodes. Where concurrency is local that is little, for what is long past
 * is known already.
 */
import type { TimeLimit } from '../../base/index.ts';
import { Int32Column } from '../../history/index.ts';
import { type EdgesBySource, edgesBySource } from './clocks.ts';
import { commitNode, isCommit, isSnapshot, memberAt, snapshotNode } from './node.ts';
import { type Nodes, type OrderEdges, rule } from './nodes.ts';
import type { Versions } from './versions.ts';

export class OrderState {
  /** Entries that were changed, all in all. */
  steps = 0;
  /** Edges: those from `staticCount` on can be undone. */
  readonly edges: OrderEdges;
  readonly staticCount: number;
  /** Where an edge closed a cycle: it, by its ends and its reason. It is not among the edges. */
  conflict: Conflict | null = null;
  readonly #limit: TimeLimit;
  readonly #nodes: Nodes;
  readonly #versions: Versions;
  readonly #clocks: Int32Array;
  readonly #static: EdgesBySource;
  /** Dynamic edges by source: lists through `#next`. */
  readonly #head: Int32Array;
  readonly #next = new Int32Column();
  /** By dynamic edge: the length of the trail before it. */
  readonly #time = new Int32Column();
  /** Trail: the entry of the clocks, what it was, the node and the dynamic edge (-1: another) that it came by, its change before. */
  readonly #entry = new Int32Column();
  readonly #old = new Int32Column();
  readonly #via = new Int32Column();
  readonly #by = new Int32Column();
  readonly #before = new Int32Column();
  readonly #latest: Int32Array;
  /** Changes up to here have reached their neighbours; up to here the rules have seen them. */
  #closed = 0;
  #ruled = 0;

  /** @param clocks of `edges`, at the fixpoint of the rules; both are taken over */
  constructor(nodes: Nodes, versions: Versions, edges: OrderEdges, clocks: Int32Array, limit: TimeLimit) {
    this.#limit = limit;
    this.#nodes = nodes;
    this.#versions = versions;
    this.edges = edges;
    this.staticCount = edges.count;
    this.#clocks = clocks;
    this.#static = edgesBySource(edges, nodes.nodeCount);
    this.#head = new Int32Array(nodes.nodeCount).fill(-1);
    this.#latest = new Int32Array(clocks.length).fill(-1);
  }

  has(u: number, v: number): boolean {
    const { chainOf, chainCount } = this.#nodes;
    return this.#clocks[v * chainCount + chainOf[u]] >= u;
  }

  /** @returns false: it closes a cycle, and `conflict` is set */
  add(u: number, v: number, why: number, cause: number): boolean {
    if (u !== v && this.has(u, v)) return true;
    if (this.has(v, u)) {
      this.conflict = { from: u, to: v, rule: why, cause };
      return false;
    }
    const e = this.edges.count;
    this.edges.add(u, v, why, cause);
    this.#time.push(this.#entry.length);
    this.#next.push(this.#head[u]);
    this.#head[u] = e;
    const { chainCount } = this.#nodes;
    const row = u * chainCount;
    for (let c = 0; c < chainCount; c += 1) this.#raise(v, c, this.#clocks[row + c], u, e);
    this.#close();
    return true;
  }

  /** Applies the rules to all changes. @returns false: conflict */
  propagate(): boolean {
    const { chainCount, shift, memberCount, level } = this.#nodes;
    while (this.#ruled < this.#entry.length) {
      const at = this.#entry.array[this.#ruled];
      const old = this.#old.array[this.#ruled];
      this.#ruled += 1;
      this.#limit.check();
      const chain = at % chainCount;
      const node = (at - chain) / chainCount;
      const m = memberAt(node, shift);
      if (m >= memberCount) continue;
      const value = this.#clocks[at];
      if (isSnapshot(node, shift) && !this.#overwritten(m, chain, old, value)) return false;
      if (!isCommit(node, shift)) continue;
      if (!this.#antiDependencies(m, chain, old, value)) return false;
      if (level === 'snapshot-isolation' && !this.#writeConflicts(m, chain, old, value)) return false;
    }
    return true;
  }

  /** Undoes all edges from the given one on. */
  backTo(edgeCount: number): void {
    this.conflict = null;
    if (edgeCount >= this.edges.count) return;
    const time = this.#time.array[edgeCount - this.staticCount];
    for (let i = this.#entry.length - 1; i >= time; i -= 1) {
      const at = this.#entry.array[i];
      this.#clocks[at] = this.#old.array[i];
      this.#latest[at] = this.#before.array[i];
    }
    for (const column of [this.#entry, this.#old, this.#via, this.#by, this.#before]) column.length = time;
    this.#closed = time;
    this.#ruled = time;
    const { from, to, rule: rules, cause } = this.edges;
    for (let e = this.edges.count - 1; e >= edgeCount; e -= 1)
      this.#head[from.array[e]] = this.#next.array[e - this.staticCount];
    for (const column of [from, to, rules, cause]) column.length = edgeCount;
    for (const column of [this.#time, this.#next]) column.length = edgeCount - this.staticCount;
  }

  /** How long the trail was before a dynamic edge. */
  timeOf(edge: number): number {
    return this.#time.array[edge - this.staticCount];
  }

  get now(): number {
    return this.#entry.length;
  }

  /** The dynamic edges of a way from u to v that was there at the time. */
  explainPath(u: number, v: number, time: number, found: (edge: number) => void): void {
    const { chainOf, chainCount } = this.#nodes;
    const chain = chainOf[u];
    let node = v;
    let before = time;
    for (;;) {
      const at = node * chainCount + chain;
      let i = this.#latest[at];
      while (i >= before) i = this.#before.array[i];
      // The first change that brought it to u or later.
      while (i >= 0 && this.#old.array[i] >= u) i = this.#before.array[i];
      if (i < 0) return;
      const edge = this.#by.array[i];
      if (edge >= 0) found(edge);
      node = this.#via.array[i];
      before = i;
    }
  }

  #raise(node: number, chain: number, value: number, via: number, by: number): void {
    const at = node * this.#nodes.chainCount + chain;
    const old = this.#clocks[at];
    if (old >= value) return;
    this.#clocks[at] = value;
    this.#before.push(this.#latest[at]);
    this.#latest[at] = this.#entry.length;
    this.#entry.push(at);
    this.#old.push(old);
    this.#via.push(via);
    this.#by.push(by);
    this.steps += 1;
  }

  #close(): void {
    const { chainCount, chainOf, nodeCount } = this.#nodes;
    const { start, edge } = this.#static;
    const to = this.edges.to.array;
    while (this.#closed < this.#entry.length) {
      const at = this.#entry.array[this.#closed];
      this.#closed += 1;
      const chain = at % chainCount;
      const u = (at - chain) / chainCount;
      const value = this.#clocks[at];
      if (u + 1 < nodeCount && chainOf[u + 1] === chainOf[u]) this.#raise(u + 1, chain, value, u, -1);
      const end = start[u + 1];
      for (let i = start[u]; i < end; i += 1) this.#raise(to[edge[i]], chain, value, u, -1);
      for (let e = this.#head[u]; e >= 0; e = this.#next.array[e - this.staticCount])
        this.#raise(to[e], chain, value, u, e);
    }
  }

  #overwritten(r: number, chain: number, old: number, value: number): boolean {
    const { shift, level } = this.#nodes;
    const { readStart, readVersion, readKey, writer } = this.#versions;
    const target = level === 'snapshot-isolation' ? 0 : shift;
    for (let i = readStart[r]; i < readStart[r + 1]; i += 1) {
      const version = readVersion[i];
      if (version < 0) continue;
      const last = this.#lastOfChain(readKey[i], chain, value, shift);
      if (last < 0) continue;
      const b = writer[last];
      const a = writer[version];
      const commit = commitNode(b, shift);
      if (commit <= old || b === a) continue;
      if (!this.add(commit, snapshotNode(a, shift) + target, rule.overwritten, i)) return false;
    }
    return true;
  }

  #antiDependencies(b: number, chain: number, old: number, value: number): boolean {
    const { shift } = this.#nodes;
    const { writtenStart, written, keyOf, writer, readerStart, reader } = this.#versions;
    for (let w = writtenStart[b]; w < writtenStart[b + 1]; w += 1) {
      const key = keyOf[written[w]];
      const version = this.#lastOfChain(key, chain, value, shift);
      if (version < 0 || commitNode(writer[version], shift) <= old) continue;
      for (let i = readerStart[version]; i < readerStart[version + 1]; i += 1) {
        const r = reader[i];
        if (r !== b && !this.add(snapshotNode(r, shift), commitNode(b, shift), rule.antiDependency, version))
          return false;
      }
    }
    return true;
  }

  #writeConflicts(b: number, chain: number, old: number, value: number): boolean {
    const { shift } = this.#nodes;
    const { writtenStart, written, keyOf, writer } = this.#versions;
    for (let w = writtenStart[b]; w < writtenStart[b + 1]; w += 1) {
      const key = keyOf[written[w]];
      const version = this.#lastOfChain(key, chain, value, 0);
      if (version < 0) continue;
      const a = writer[version];
      if (snapshotNode(a, shift) <= old) continue;
      if (!this.add(commitNode(a, shift), snapshotNode(b, shift), rule.writeConflict, key)) return false;
    }
    return true;
  }

  /** The last version of the key by a writer of the chain whose commit (`point` 0: snapshot) is a node up to `value`; -1: none. */
  #lastOfChain(key: number, chain: number, value: number, point: number): number {
    const { shift, chainOf } = this.#nodes;
    const { segmentStart, segmentFirst, writer } = this.#versions;
    let low = segmentStart[key];
    let high = segmentStart[key + 1];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (chainOf[snapshotNode(writer[segmentFirst[middle]], shift)] <= chain) low = middle;
      else high = middle;
    }
    if (low === high) return -1;
    let first = segmentFirst[low];
    if (chainOf[snapshotNode(writer[first], shift)] !== chain) return -1;
    if (snapshotNode(writer[first], shift) + point > value) return -1;
    let end = segmentFirst[low + 1];
    while (end - first > 1) {
      const middle = (first + end) >>> 1;
      if (snapshotNode(writer[middle], shift) + point <= value) first = middle;
      else end = middle;
    }
    return first;
  }
}

export interface Conflict {
  readonly from: number;
  readonly to: number;
  readonly rule: number;
  readonly cause: number;
}
