/** From a large history that violates a level above causal to a small part of it that does. */
import type { TimeLimit } from '../../base/index.ts';
import { type CompactHistory, INITIAL, statusCode, type TransactionIndex } from '../../history/index.ts';
import { commitOrder, type OrderProblem } from '../commit-order.ts';
import { evidenceTransactionsMax } from '../evidence.ts';
import { partEvidence } from '../part-evidence.ts';
import type { Reads } from '../reads.ts';
import { sessionOrder } from '../session-order.ts';
import type { Evidence } from '../verdict.ts';
import { checkStrong, type StrongProblem } from './check-strong.ts';
import { coreOf } from './core.ts';
import type { StrongLevel } from './nodes.ts';
import { partOf } from './part.ts';
import { shrink } from './shrink.ts';

/** Tries to leave something out, for a history of so many transactions: they cost what a check costs. */
const triesMax = (transactions: number): number => (transactions > 2_000 ? 100 : 2_000);
/** Of the search in a try. */
const stepsMax = 200_000;

/** @returns `null`: no part was found that the small checker answers for */
export function strongEvidence(
  problem: OrderProblem,
  level: StrongLevel,
  contradiction: StrongProblem | null,
  limit: TimeLimit,
): Evidence | null {
  const { history, reads } = problem;
  const violates = (part: readonly TransactionIndex[]): boolean => isViolatedBy(history, reads, part, level, limit);
  const all = [...reads.isMember.keys()].filter((t) => reads.isMember[t] === 1);
  const core = contradiction === null ? all : withReaders(history, reads, coreOf(contradiction));
  const start = core.length < all.length && violates(core) ? core : all;
  const part = shrink(start, violates, triesMax(start.length));
  return part.length > evidenceTransactionsMax ? null : partEvidence(problem, part, level, limit);
}

function isViolatedBy(
  history: CompactHistory,
  reads: Reads,
  transactions: readonly TransactionIndex[],
  level: StrongLevel,
  limit: TimeLimit,
): boolean {
  const part = partOf(history, reads, transactions);
  const sessions = sessionOrder(history, part);
  const order = commitOrder({ history, reads: part, sessions, forced: null });
  if (order.length < sessions.member.length) return true;
  return checkStrong(history, part, sessions, order, level, { stepsMax, limit }).kind === 'violated';
}

/** What is of unknown fate counts because another read from it, which must then be in the part too. */
function withReaders(history: CompactHistory, reads: Reads, core: readonly TransactionIndex[]): TransactionIndex[] {
  const found = new Set(core);
  const isUnknown = (t: TransactionIndex): boolean => history.status[t] === statusCode.unknown;
  if (![...found].some(isUnknown)) return [...found];
  // Breadth first from the committed, so that a reader counts without what it reads.
  const witness = new Map<TransactionIndex, TransactionIndex>();
  const queue = [...reads.isMember.keys()].filter((t) => reads.isMember[t] === 1 && !isUnknown(t));
  for (const t of queue) {
    for (let i = reads.readStart[t]; i < reads.readStart[t + 1]; i += 1) {
      const from = reads.readFrom[i];
      if (from === INITIAL || !isUnknown(from) || witness.has(from)) continue;
      witness.set(from, t);
      queue.push(from);
    }
  }
  for (const t of found) if (isUnknown(t)) found.add(witness.get(t) as TransactionIndex);
  return [...found].toSorted((a, b) => a - b);
}
