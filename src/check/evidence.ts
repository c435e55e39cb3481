/** From a cycle in a large history to a small history that shows it. */
import { assert, type TimeLimit, unlimited, within } from '../base/index.ts';
import { nameCycle, check, type Edge, type IsolationLevel } from '../isolation/index.ts';
import {
  type CompactHistory,
  historyOf,
  INITIAL,
  statusCode,
  subHistory,
  type TransactionIndex,
} from '../history/index.ts';
import type { OrderProblem } from './commit-order.ts';
import { causalPath, type CommitEdge } from './cycle.ts';
import { type AnomalousRead, isWithin, type Reads } from './reads.ts';
import type { CompactLevel, CompactViolated, Evidence } from './verdict.ts';

/** What the checker of small histories explains in moments. */
export const evidenceTransactionsMax = 100;

export function violatedByRead(problem: OrderProblem, read: AnomalousRead): CompactViolated {
  const recorded = problem.history.from?.[read.operation] ?? -1; // an internal read may name another writer
  const transactions = withWitnesses(problem, new Set([read.from, read.by, ...(recorded < 0 ? [] : [recorded])]));
  const evidence = within(
    () => evidenceOf(problem, transactions, read.operation, 'read-committed', problem.evidenceLimit ?? unlimited),
    null,
  );
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
  const evidence = isSmall
    ? within(() => evidenceOf(problem, transactions, -1, asked, problem.evidenceLimit ?? unlimited), null)
    : null;
  const anomaly = evidence?.verdict.anomaly ?? nameCycle(cycle.map((edge) => namedEdge(problem, edge)));
  return { kind: 'violated', anomaly, cycle, evidence };
}

/** Those of the cycle, and of each forced edge the reader and the way on which the writer is visible to it. */
function transactionsOf(problem: OrderProblem, level: CompactLevel, cycle: readonly CommitEdge[]): TransactionIndex[] {
  const found = new Set<TransactionIndex>();
  for (const { from, to, relation, read } of cycle) {
    found.add(from).add(to);
    if (relation !== 'forced') continue;
    const by = readerOf(problem, read);
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
    for (const t of found) if (isUnknown(t)) found.add(witness[t] as number);
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
    for (let o = operationStart[t] as number; o < (operationStart[t + 1] as number); o += 1) {
      const writer = (sources[o] as number) >> 1;
      if ((sources[o] as number) < 0 || status[writer] !== statusCode.unknown || witness[writer] !== -1) continue;
      witness[writer] = t;
      queue.push(writer);
    }
  };
  for (let t = 0; t < transactionCount; t += 1) if (status[t] === statusCode.committed) visit(t);
  for (let t = queue.pop(); t !== undefined; t = queue.pop()) visit(t);
  return witness;
}

/** The transaction of a position in `Reads.readKey`. Logarithmic. */
function readerOf({ history, reads }: OrderProblem, read: number): TransactionIndex {
  let [low, high] = [0, history.transactionCount];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((reads.readStart[middle] as number) <= read) low = middle;
    else high = middle;
  }
  return low;
}

/** @param anomalous an operation that is in it whatever it saw, or -1 */
function evidenceOf(
  { history, reads }: OrderProblem,
  transactions: readonly TransactionIndex[],
  anomalous: number,
  level: IsolationLevel,
  limit: TimeLimit,
): Evidence {
  const among = new Set(transactions);
  const keeps = (o: number): boolean => o === anomalous || isWithin(reads.source, o, among);
  const part = historyOf(subHistory(history, transactions, keeps));
  const verdict = check(part, level, { limit });
  assert(verdict.kind === 'violated', `a part of ${transactions.join(' ')} should violate ${level} as the whole does`);
  return { history: part, verdict, transactions };
}

/** A forced edge says that the writes of two transactions to one key have this order. */
function namedEdge({ history, reads }: OrderProblem, { from, to, relation, read }: CommitEdge): Edge {
  if (relation === 'so') return { from, to, relation };
  const key = keyName(history, reads.readKey[read] as number);
  if (relation === 'forced') return { from, to, relation: 'ww', key };
  const operation = (reads.readOperation[read] as number) - (history.operationStart[to] as number);
  return { from, to, relation: 'wr', key, operation };
}

function keyName(history: CompactHistory, key: number): string {
  return history.names.key(key);
}
