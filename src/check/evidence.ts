/** From a cycle in a large history to a small history that shows it. */
import { assert, unlimited, within } from '../base/index.ts';
import { nameCycle, type IsolationLevel } from '../isolation/index.ts';
import { type CompactHistory, INITIAL, statusCode, type TransactionIndex } from '../history/index.ts';
import type { OrderProblem } from './commit-order.ts';
import { causalPath, type CommitEdge } from './cycle.ts';
import { cycleProof } from './cycle-proof.ts';
import { partEvidence } from './part-evidence.ts';
import { type AnomalousRead, readerOf, type Reads } from './reads.ts';
import type { CompactLevel, CompactViolated, Evidence } from './verdict.ts';

/** What the checker of small histories explains in moments. */
export const evidenceTransactionsMax = 100;

export function violatedByRead(problem: OrderProblem, read: AnomalousRead): CompactViolated {
  const recorded = problem.history.from?.[read.operation] ?? -1; // an internal read may name another writer
  const transactions = withWitnesses(problem, new Set([read.from, read.by, ...(recorded < 0 ? [] : [recorded])]));
  const evidence = evidenceIn(problem, transactions, 'read-committed', read.operation);
  return { kind: 'violated', anomaly: read.kind, cycle: [], read, evidence };
}

export function violatedByCycle(
  problem: OrderProblem,
  level: CompactLevel,
  cycle: readonly CommitEdge[],
): CompactViolated {
  const transactions = transactionsOf(problem, level, cycle);
  const isSmall = transactions.length <= evidenceTransactionsMax;
  const asked = level === 'pl-2' ? 'read-committed' : level;
  const evidence = isSmall ? evidenceIn(problem, transactions, asked) : null;
  if (evidence !== null) return { kind: 'violated', anomaly: evidence.verdict.anomaly, cycle, evidence };
  const proof = cycleProof(problem, cycle);
  return { kind: 'violated', anomaly: nameCycle(proof.cycle), cycle, evidence, proof };
}

/** @returns `null`: there was not the time for it */
function evidenceIn(
  problem: OrderProblem,
  transactions: readonly TransactionIndex[],
  level: IsolationLevel,
  anomalous = -1,
): Evidence | null {
  const limit = problem.evidenceLimit ?? unlimited;
  return within(() => {
    const evidence = partEvidence(problem, transactions, level, limit, anomalous);
    assert(evidence !== null, `a part of ${transactions.join(' ')} should violate ${level} as the whole does`);
    return evidence;
  }, null);
}

/** Those of the cycle, and of each forced edge the reader and the way on which the writer is visible to it. */
function transactionsOf(problem: OrderProblem, level: CompactLevel, cycle: readonly CommitEdge[]): TransactionIndex[] {
  const found = new Set<TransactionIndex>();
  for (const { from, to, relation, read } of cycle) {
    found.add(from).add(to);
    if (relation !== 'forced') continue;
    const by = readerOf(problem.history, problem.reads, read);
    found.add(by);
    if (level !== 'causal') continue;
    for (const step of causalPath(problem, from, by) ?? []) found.add(step.from).add(step.to);
  }
  found.delete(INITIAL);
  return withWitnesses(problem, found);
}

/**
 * What is of unknown fate counts because another read from it, which must then be in the part too; sorted.
 */
function withWitnesses({ history, reads }: OrderProblem, found: Set<TransactionIndex>): TransactionIndex[] {
  const isUnknown = (t: TransactionIndex): boolean => history.status[t] === statusCode.unknown;
  if ([...found].some(isUnknown)) {
    const witness = witnesses(history, reads);
    for (const t of found) if (isUnknown(t)) found.add(witness[t]);
  }
  return [...found].toSorted((a, b) => a - b);
}

/** By transaction of unknown fate that counts: one that reads from it, and counts without it. Found from the committed ones. */
function witnesses(
  { status, operationStart, transactionCount }: CompactHistory,
  { source: sources }: Reads,
): Int32Array {
  const witness = new Int32Array(transactionCount).fill(-1);
  const queue: TransactionIndex[] = [];
  const visit = (t: TransactionIndex): void => {
    for (let o = operationStart[t]; o < operationStart[t + 1]; o += 1) {
      const writer = sources[o] >> 1;
      if (sources[o] < 0 || status[writer] !== statusCode.unknown || witness[writer] !== -1) continue;
      witness[writer] = t;
      queue.push(writer);
    }
  };
  for (let t = 0; t < transactionCount; t += 1) if (status[t] === statusCode.committed) visit(t);
  for (let t = queue.pop(); t !== undefined; t = queue.pop()) visit(t);
  return witness;
}
