/**
 * Serialization certifier (Leopard, ICDE 2023, V.D): the dependencies that the other mechanisms deduce, in the graph of committed
 * transactions, against the pattern that the engine's certifier does not let pass.
 */
import { type DependencyCycle, DependencyGraph, type Edge, relationCode } from './dependency-graph.ts';
import { contextOf, operationsOf } from './evidence.ts';
import type { Certifier } from './mechanisms.ts';
import type { Mirror, Relation } from './mirror.ts';
import { none } from './slots.ts';
import { fateCode } from './transaction-table.ts';
import type { Violation } from './violation.ts';

export class SerializationCertifier {
  readonly #certifier: Certifier | null;
  readonly #mirror: Mirror;
  readonly #graph: DependencyGraph;

  /** @param onPruned gets the transactions that the graph has held and does not need any more */
  constructor(mirror: Mirror, onPruned: (transaction: number) => void) {
    const { certifier } = mirror.mechanisms;
    this.#certifier = certifier === 'percolator' ? null : certifier;
    this.#mirror = mirror;
    this.#graph = new DependencyGraph(mirror.transactions, onPruned);
  }

  /** Transactions in the graph. */
  get size(): number {
    return this.#graph.size;
  }

  depend(from: number, to: number, relation: Relation, row: number): void {
    if (this.#certifier === null) return;
    const { fate, order } = this.#mirror.transactions;
    if (fate[from] === fateCode.open) this.#wait(from, from, to, relation, row);
    // What was taken out of the graph, or never in it, is on no cycle any more.
    else if (order[from] === -1) return;
    else if (fate[to] === fateCode.open) this.#wait(to, from, to, relation, row);
    else this.#connect(from, to, relation, row);
  }

  #wait(at: number, from: number, to: number, relation: Relation, row: number): void {
    const { edges } = this.#graph;
    const { serial, firstWaiting, lastWaiting } = this.#mirror.transactions;
    const edge = edges.add(from, to, relation, row);
    edges.fromSerial[edge] = serial[from];
    edges.toSerial[edge] = serial[to];
    if (firstWaiting[at] === none) firstWaiting[at] = edge;
    else edges.nextOut[lastWaiting[at]] = edge;
    lastWaiting[at] = edge;
  }

  commit(transaction: number): void {
    if (this.#certifier === null) return;
    this.#graph.add(transaction);
    const { edges } = this.#graph;
    const { serial, firstWaiting } = this.#mirror.transactions;
    for (let edge = firstWaiting[transaction]; edge !== none; edge = edges.nextOut[edge]) {
      const [from, to] = [edges.from[edge], edges.to[edge]];
      if (serial[from] === edges.fromSerial[edge] && serial[to] === edges.toSerial[edge])
        this.#connect(from, to, edges.relationOf(edge), edges.row[edge]);
    }
    this.forget(transaction);
  }

  /** Takes away what waits for its commit. */
  forget(transaction: number): void {
    const { edges } = this.#graph;
    const { firstWaiting, lastWaiting } = this.#mirror.transactions;
    for (let edge = firstWaiting[transaction]; edge !== none; ) {
      const next = edges.nextOut[edge];
      edges.remove(edge);
      edge = next;
    }
    firstWaiting[transaction] = none;
    lastWaiting[transaction] = none;
  }

  /** The transaction is over, and so is everything that overlapped with it. */
  retire(transaction: number): void {
    this.#graph.prune(transaction);
  }

  #connect(from: number, to: number, relation: Relation, row: number): void {
    const { order } = this.#mirror.transactions;
    if (order[from] === -1 || order[to] === -1 || !this.#graph.connect(from, to, relation, row)) return;
    const violation = this.#forbidden(from, to, relation, row);
    if (violation !== null) this.#mirror.report(violation);
    const cycle = this.#graph.cycleBy(from, to);
    if (cycle === null) return;
    this.#graph.disconnect(from);
    if (violation === null) this.#mirror.report(this.#cycleViolation(cycle));
  }

  #forbidden(from: number, to: number, relation: Relation, row: number): Violation | null {
    switch (this.#certifier) {
      case 'ssi':
        return this.#dangerousStructure(from, to, relation, row);
      case 'optimistic':
        return this.#staleRead(from, to, relation, row);
      case 'timestamp-order':
        return this.#futureDependency(from, to, relation, row);
      default:
        return null;
    }
  }

  /**
   * T1 -rw-> T2 -rw-> T3 where T3 is the first to commit, and before the snapshot of T1 if T1 only reads: Ports and Grittner, VLDB 2012,
   * 3.3 and theorem 3. The paper's "two consecutive rw edges" alone would be a false alarm: PostgreSQL lets others pass. T2 has written the
   * next version after the one that T1 read; where T3 wrote a later one, who wrote the next was over even before.
   */
  #dangerousStructure(from: number, to: number, relation: Relation, row: number): Violation | null {
    if (relation !== 'rw' && relation !== 'rw+') return null;
    const { edges } = this.#graph;
    const { firstOut, firstIn } = this.#mirror.transactions;
    const newest: Edge = { from, to, relation, row };
    for (let edge = firstIn[from]; edge !== none; edge = edges.nextIn[edge]) {
      if (edges.relation[edge] === relationCode.rw && this.#isDangerous(edges.from[edge], from, to))
        return this.#structureViolation([edges.at(edge), newest]);
    }
    if (relation === 'rw+') return null;
    for (let edge = firstOut[to]; edge !== none; edge = edges.nextOut[edge]) {
      if (edges.isAntiDependency(edge) && this.#isDangerous(from, to, edges.to[edge]))
        return this.#structureViolation([newest, edges.at(edge)]);
    }
    return null;
  }

  #isDangerous(first: number, pivot: number, last: number): boolean {
    if (first === last) return true;
    const { endStart, endEnd, isWriter, snapshotStart } = this.#mirror.transactions;
    const lastEnd = endEnd[last];
    if (lastEnd >= endStart[first] || lastEnd >= endStart[pivot]) return false;
    return isWriter[first] === 1 || lastEnd < snapshotStart[first];
  }

  #structureViolation(path: readonly [Edge, Edge]): Violation {
    const [one, two] = path;
    if (one.from === two.to) return this.#mutualViolation(path);
    return this.#firstToCommit(path);
  }

  /** Two transactions, each of which overwrote what the other read: the circle ends at the one that committed first, if that is known. */
  #mutualViolation([one, two]: readonly [Edge, Edge]): Violation {
    const { endStart, endEnd } = this.#mirror.transactions;
    const isSurelyFirst = (a: number, b: number): boolean => endEnd[a] < endStart[b];
    if (isSurelyFirst(one.to, two.to)) return this.#firstToCommit([two, one]);
    if (isSurelyFirst(two.to, one.to)) return this.#firstToCommit([one, two]);
    const path = [one, two];
    return this.#violationOf(
      path,
      `two rw edges one after another, back to the first transaction: ${this.#shown(path)}`,
    );
  }

  #firstToCommit(path: readonly Edge[]): Violation {
    const last = this.#mirror.transactions.name[path.at(-1)?.to ?? none] ?? '';
    const reason = `two rw edges one after another, and ${last} was the first to commit: ${this.#shown(path)}`;
    return this.#violationOf(path, reason);
  }

  /** A writer whose reads were overwritten between its snapshot and its commit. */
  #staleRead(from: number, to: number, relation: Relation, row: number): Violation | null {
    const { isWriter, endEnd, endStart, name } = this.#mirror.transactions;
    if (relation !== 'rw' || isWriter[from] === 0 || endEnd[to] >= endStart[from]) return null;
    const path: Edge[] = [{ from, to, relation, row }];
    const [reader, writer] = [name[from], name[to]];
    return this.#violationOf(
      path,
      `${reader} read ${this.#mirror.rows.key(row)}, which ${writer} overwrote before ${reader} committed: ${this.#shown(path)}`,
    );
  }

  /** Timestamps lie within transactions, so what depends on another cannot be over before that began. */
  #futureDependency(from: number, to: number, relation: Relation, row: number): Violation | null {
    const { endEnd, first, name } = this.#mirror.transactions;
    if (endEnd[to] >= first[from]) return null;
    const path: Edge[] = [{ from, to, relation, row }];
    return this.#violationOf(
      path,
      `${name[to]} depends on ${name[from]}, which began after it was over: ${this.#shown(path)}`,
    );
  }

  #cycleViolation(cycle: DependencyCycle): Violation {
    return this.#violationOf(cycle, `no serial order has all of these dependencies: ${this.#shown(cycle)}`);
  }

  #shown(path: readonly Edge[]): string {
    const { rows, transactions } = this.#mirror;
    const name = (transaction: number): string => transactions.name[transaction];
    return path
      .map(
        ({ from, to, relation, row }) =>
          `${name(from)} -${relation === 'rw+' ? 'rw' : relation}(${rows.key(row)})-> ${name(to)}`,
      )
      .join(', ');
  }

  #violationOf(path: readonly Edge[], reason: string): Violation {
    const mirror = this.#mirror;
    const involved = [...new Set(path.flatMap(({ from, to }) => [from, to]))];
    const keys = [...new Set(path.map(({ row }) => mirror.rows.key(row)))];
    return {
      mechanism: 'serialization-certifier',
      reason,
      transactions: involved.map((transaction) => mirror.transactions.name[transaction]),
      rows: keys,
      evidence: involved.flatMap((transaction) =>
        operationsOf(mirror, transaction)
          .filter(
            ({ kind, reads, writes }) =>
              kind === 'commit' || [...reads, ...writes].some(({ key }) => keys.includes(key)),
          )
          .map((operation) => ({ operation, role: `of ${mirror.transactions.name[transaction]}` })),
      ),
      context: contextOf(mirror, involved)(),
    };
  }
}
