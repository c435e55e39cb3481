/**
 * Serialization certifier (Leopard, ICDE 2023, V.D): the dependencies that the other mechanisms deduce, in the graph of committed
 * transactions, against the pattern that the engine's certifier does not let pass.
 */
import { DependencyGraph, disconnect, type DependencyCycle } from './dependency-graph.ts';
import type { Certifier } from './mechanisms.ts';
import type { Relation, VerifiedTransaction } from './state.ts';
import type { Violation } from './violation.ts';

type Edge = {
  readonly from: VerifiedTransaction;
  readonly to: VerifiedTransaction;
  readonly relation: Relation;
  readonly key: string;
};

export class SerializationCertifier {
  readonly #certifier: Certifier | null;
  readonly #report: (violation: Violation) => void;
  readonly #graph = new DependencyGraph();

  constructor(certifier: Certifier | null, report: (violation: Violation) => void) {
    this.#certifier = certifier === 'percolator' ? null : certifier;
    this.#report = report;
  }

  /** Transactions in the graph. */
  get size(): number {
    return this.#graph.size;
  }

  depend(from: VerifiedTransaction, to: VerifiedTransaction, relation: Relation, key: string): void {
    if (this.#certifier === null || from === to) return;
    const edge = { from, to, relation, key };
    if (from.fate === 'open') from.waiting.push(edge);
    else if (to.fate === 'open') to.waiting.push(edge);
    else this.#connect(edge);
  }

  commit(transaction: VerifiedTransaction): void {
    if (this.#certifier === null) return;
    this.#graph.add(transaction);
    for (const edge of transaction.waiting) this.#connect(edge);
    transaction.waiting.length = 0;
  }

  /** The transaction is over, and so is everything that overlapped with it. */
  retire(transaction: VerifiedTransaction): void {
    this.#graph.prune(transaction);
  }

  #connect(edge: Edge): void {
    const { from, to, relation, key } = edge;
    if (from.order === -1 || to.order === -1 || !this.#graph.connect(from, to, relation, key)) return;
    const violation = this.#forbidden(edge);
    if (violation !== null) this.#report(violation);
    const cycle = this.#graph.cycleBy(from, to);
    if (cycle === null) return;
    disconnect(from, to);
    if (violation === null) this.#report(cycleViolation(cycle));
  }

  #forbidden(edge: Edge): Violation | null {
    switch (this.#certifier) {
      case 'ssi':
        return edge.relation === 'rw' ? dangerousStructure(edge) : null;
      case 'optimistic':
        return staleRead(edge);
      case 'timestamp-order':
        return futureDependency(edge);
      default:
        return null;
    }
  }
}

/**
 * T1 -rw-> T2 -rw-> T3 where T3 is the first to commit, and before the snapshot of T1 if T1 only reads: Ports and Grittner, VLDB 2012,
 * 3.3 and theorem 3. The paper's "two consecutive rw edges" alone would be a false alarm: PostgreSQL lets others pass.
 */
function dangerousStructure({ from, to, key }: Edge): Violation | null {
  for (const { from: first, relation, key: before } of from.in) {
    if (relation === 'rw' && isDangerous(first, from, to))
      return structureViolation([
        { from: first, to: from, relation, key: before },
        { from, to, relation, key },
      ]);
  }
  for (const { to: last, relation, key: after } of to.out) {
    if (relation === 'rw' && isDangerous(from, to, last))
      return structureViolation([
        { from, to, relation, key },
        { from: to, to: last, relation, key: after },
      ]);
  }
  return null;
}

function isDangerous(first: VerifiedTransaction, pivot: VerifiedTransaction, last: VerifiedTransaction): boolean {
  if (first === last) return true;
  const isFirstToCommit = last.endEnd < first.endStart && last.endEnd < pivot.endStart;
  return isFirstToCommit && (first.isWriter || last.endEnd < first.snapshotStart);
}

function structureViolation(edges: readonly Edge[]): Violation {
  const last = edges.at(-1)?.to.name ?? '';
  return violationOf(edges, `two rw edges one after another, and ${last} was the first to commit: ${shown(edges)}`);
}

/** A writer whose reads were overwritten between its snapshot and its commit. */
function staleRead(edge: Edge): Violation | null {
  const { from, to, relation, key } = edge;
  if (relation !== 'rw' || !from.isWriter || to.endEnd >= from.endStart) return null;
  return violationOf(
    [edge],
    `${from.name} read ${key}, which ${to.name} overwrote before ${from.name} committed: ${shown([edge])}`,
  );
}

/** Timestamps lie within transactions, so what depends on another cannot be over before that began. */
function futureDependency(edge: Edge): Violation | null {
  const { from, to } = edge;
  if (to.endEnd >= from.first) return null;
  return violationOf([edge], `${to.name} depends on ${from.name}, which began after it was over: ${shown([edge])}`);
}

function cycleViolation(cycle: DependencyCycle): Violation {
  return violationOf(cycle, `no serial order has all of these dependencies: ${shown(cycle)}`);
}

function shown(edges: readonly Edge[]): string {
  return edges.map(({ from, to, relation, key }) => `${from.name} -${relation}(${key})-> ${to.name}`).join(', ');
}

function violationOf(edges: readonly Edge[], reason: string): Violation {
  const transactions = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];
  const rows = [...new Set(edges.map(({ key }) => key))];
  return {
    mechanism: 'serialization-certifier',
    reason,
    transactions: transactions.map(({ name }) => name),
    rows,
    evidence: transactions.flatMap(({ operations, name }) =>
      operations
        .filter(
          ({ kind, reads, writes }) => kind === 'commit' || [...reads, ...writes].some(({ key }) => rows.includes(key)),
        )
        .map((operation) => ({ operation, role: `of ${name}` })),
    ),
    context: transactions.flatMap(({ operations }) => operations),
  };
}
