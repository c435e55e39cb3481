/**
 * An order that was guessed: nodes are placed one after another as a store would execute them. A commit waits while the version that it would
 * overwrite still has readers to come, and at snapshot-isolation while another transaction that writes the key has its snapshot and not its
 * commit. If nothing has to be placed against this, the order satisfies the level, and no search is needed; else it is a good first guess.
 * (The append rule of dbcop, OOPSLA 2019, without going back.) O(edges + n log n).
 */
import { MinHeap } from '../../base/index.ts';
import type { EdgesBySource } from './clocks.ts';
import { isCommit, isSnapshot, memberAt } from './node.ts';
import type { Nodes, OrderEdges } from './nodes.ts';
import type { Versions } from './versions.ts';

export interface Schedule {
  readonly order: Int32Array;
  /** Nodes that were placed although they had to wait. */
  readonly forced: number;
}

/** @param sorted the nodes in an order that contains all edges */
export function schedule(
  nodes: Nodes,
  versions: Versions,
  edges: OrderEdges,
  bySource: EdgesBySource,
  sorted: Int32Array,
): Schedule {
  return new Scheduler(nodes, versions, edges, bySource, sorted).run();
}

class Scheduler {
  readonly #nodes: Nodes;
  readonly #versions: Versions;
  readonly #edges: OrderEdges;
  readonly #bySource: EdgesBySource;
  /** By node: edges that lead to it from nodes that are not placed; its depth. */
  readonly #left: Int32Array;
  readonly #depth: Int32Array;
  /** By version and, after those, by key for the initial ones: reads to come. By key: the current version, in the same numbers. */
  readonly #pending: Int32Array;
  readonly #current: Int32Array;
  /** By key: transactions that write it with a snapshot and no commit yet. */
  readonly #open: Int32Array;
  /** By key: the nodes that wait for it. */
  readonly #waiting = new Map<number, number[]>();
  /** By priority, then by number. */
  readonly #ready = new MinHeap();
  readonly #order: Int32Array;
  #placed = 0;

  constructor(nodes: Nodes, versions: Versions, edges: OrderEdges, bySource: EdgesBySource, sorted: Int32Array) {
    this.#nodes = nodes;
    this.#versions = versions;
    this.#edges = edges;
    this.#bySource = bySource;
    this.#left = new Int32Array(nodes.nodeCount);
    this.#depth = new Int32Array(nodes.nodeCount);
    for (const u of sorted)
      this.#forEachNext(u, (v) => {
        this.#left[v] += 1;
        if (this.#depth[v] <= this.#depth[u]) this.#depth[v] = this.#depth[u] + 1;
      });
    const versionCount = versions.writer.length;
    const keyCount = versions.keyStart.length - 1;
    this.#pending = new Int32Array(versionCount + keyCount);
    versions.readVersion.subarray(0, versions.readStart[nodes.memberCount]).forEach((version, i) => {
      const seen = version < 0 ? versionCount + versions.readKey[i] : version;
      this.#pending[seen] += 1;
    });
    this.#current = Int32Array.from({ length: keyCount }, (_, k) => versionCount + k);
    this.#open = new Int32Array(keyCount);
    this.#order = new Int32Array(nodes.nodeCount);
    for (const u of sorted) if (this.#left[u] === 0) this.#offer(u);
  }

  run(): Schedule {
    let forced = 0;
    for (;;) {
      const node = this.#ready.pop();
      if (node >= 0) {
        const key = this.#blockedBy(node);
        if (key < 0) this.#place(node);
        else this.#wait(node, key);
        continue;
      }
      const waiting = [...this.#waiting.values()].flat();
      if (waiting.length === 0) return { order: this.#order.subarray(0, this.#placed), forced };
      forced += 1;
      const next = waiting.reduce((best, u) => (this.#priority(u) < this.#priority(best) ? u : best));
      for (const [key, list] of this.#waiting) {
        const rest = list.filter((u) => u !== next);
        if (rest.length === 0) this.#waiting.delete(key);
        else this.#waiting.set(key, rest);
      }
      this.#place(next);
    }
  }

  #forEachNext(u: number, visit: (v: number) => void): void {
    const { nodeCount, chainOf } = this.#nodes;
    const { start, edge } = this.#bySource;
    if (u + 1 < nodeCount && chainOf[u + 1] === chainOf[u]) visit(u + 1);
    for (let i = start[u]; i < start[u + 1]; i += 1) visit(this.#edges.to.array[edge[i]]);
  }

  /** What makes no other wait goes first. */
  #priority(u: number): number {
    const { shift, memberCount, level } = this.#nodes;
    const m = memberAt(u, shift);
    const depth = this.#depth[u];
    if (m >= memberCount) return 0;
    const { writtenStart } = this.#versions;
    const writes = writtenStart[m] !== writtenStart[m + 1];
    const isOnlySnapshot = !isCommit(u, shift);
    if (!writes || (isOnlySnapshot && level === 'prefix') || (!isOnlySnapshot && level === 'snapshot-isolation'))
      return 0;
    return depth + 1;
  }

  #offer(u: number): void {
    this.#ready.push(this.#priority(u) * this.#nodes.nodeCount + u, u);
  }

  #wait(u: number, key: number): void {
    const list = this.#waiting.get(key);
    if (list === undefined) this.#waiting.set(key, [u]);
    else list.push(u);
  }

  #wake(key: number): void {
    const list = this.#waiting.get(key);
    if (list === undefined) return;
    this.#waiting.delete(key);
    for (const u of list) this.#offer(u);
  }

  /** A key that the node must wait for, or -1. */
  #blockedBy(u: number): number {
    const { shift, memberCount, level } = this.#nodes;
    const m = memberAt(u, shift);
    if (m >= memberCount) return -1;
    const { writtenStart, written, keyOf, writer } = this.#versions;
    const isOnlySnapshot = !isCommit(u, shift);
    if (isOnlySnapshot && level === 'prefix') return -1;
    const own = level === 'snapshot-isolation' && !isOnlySnapshot ? 1 : 0;
    for (let w = writtenStart[m]; w < writtenStart[m + 1]; w += 1) {
      const k = keyOf[written[w]];
      if (this.#open[k] > own) return k;
      if (isOnlySnapshot) continue;
      const current = this.#current[k];
      const pending = this.#pending[current];
      if (pending > 0 && (shift === 1 || pending > this.#ownReads(m, k, current, writer.length))) return k;
    }
    return -1;
  }

  /** Where a transaction is one point, it reads and writes at once. */
  #ownReads(m: number, key: number, current: number, versionCount: number): number {
    const { readStart, readVersion, readKey } = this.#versions;
    let count = 0;
    for (let i = readStart[m]; i < readStart[m + 1]; i += 1) {
      const version = readVersion[i];
      if (version < 0 ? current === versionCount + key && readKey[i] === key : version === current) count += 1;
    }
    return count;
  }

  #place(u: number): void {
    const { shift, memberCount, level } = this.#nodes;
    this.#order[this.#placed] = u;
    this.#placed += 1;
    const m = memberAt(u, shift);
    if (m < memberCount) {
      const takesSnapshot = isSnapshot(u, shift);
      if (takesSnapshot) this.#read(m);
      if (isCommit(u, shift)) this.#write(m);
      if (takesSnapshot && level === 'snapshot-isolation') this.#hold(m, 1);
      if (!takesSnapshot && level === 'snapshot-isolation') this.#hold(m, -1);
    }
    this.#forEachNext(u, (v) => {
      const left = this.#left[v] - 1;
      this.#left[v] = left;
      if (left === 0) this.#offer(v);
    });
  }

  #read(m: number): void {
    const { readStart, readVersion, readKey, writer } = this.#versions;
    for (let i = readStart[m]; i < readStart[m + 1]; i += 1) {
      const key = readKey[i];
      const version = readVersion[i];
      const seen = version < 0 ? writer.length + key : version;
      const left = this.#pending[seen] - 1;
      this.#pending[seen] = left;
      if (left <= this.#waitingReads(left, key)) this.#wake(key);
    }
  }

  /** A waiter for a key may be its last reader itself: then one read each is left for those that wait. */
  #waitingReads(left: number, key: number): number {
    return left === 0 || this.#nodes.shift === 1 ? 0 : (this.#waiting.get(key)?.length ?? 0) === 0 ? 0 : left;
  }

  #write(m: number): void {
    const { writtenStart, written, keyOf } = this.#versions;
    for (let w = writtenStart[m]; w < writtenStart[m + 1]; w += 1) {
      const version = written[w];
      const key = keyOf[version];
      this.#current[key] = version;
      if (this.#pending[version] === 0) this.#wake(key);
    }
  }

  #hold(m: number, change: number): void {
    const { writtenStart, written, keyOf } = this.#versions;
    for (let w = writtenStart[m]; w < writtenStart[m + 1]; w += 1) {
      const key = keyOf[written[w]];
      this.#open[key] += change;
      if (change < 0) this.#wake(key);
    }
  }
}
