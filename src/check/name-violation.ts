/** The name of a violation of a large history, which must be the one that `check` of src/isolation gives a history as it is: see `region.ts`. */
import type { TimeLimit } from '../base/index.ts';
import { transactionsOfRefutation, type IsolationLevel, type Violated } from '../isolation/index.ts';
import { INITIAL, type TransactionIndex } from '../history/index.ts';
import type { OrderProblem } from './commit-order.ts';
import { evidenceTransactionsMax } from './evidence.ts';
import { partEvidence } from './part-evidence.ts';
import { type FindViolation, violatingRegion } from './region.ts';
import { shrink } from './strong/shrink.ts';
import type { CompactVerdict, CompactViolated } from './verdict.ts';

/** Tries to leave transactions out of evidence that has the name. */
const triesMax = 100;

/** @param find other violations of the level. @returns `violated` as it is where what takes part is too large to be looked at */
export function named(
  problem: OrderProblem,
  level: IsolationLevel,
  violated: CompactViolated,
  find: FindViolation,
  limit: TimeLimit,
): CompactViolated {
  const found = transactionsOf(violated);
  if (found.length === 0) return violated;
  const region = violatingRegion(problem.history, problem.reads, found, find, evidenceTransactionsMax);
  if (region === null) return violated;
  const evidenceIn = (transactions: readonly TransactionIndex[]) => partEvidence(problem, transactions, level, limit);
  const whole = evidenceIn(region);
  if (whole === null || whole.verdict.anomaly === violated.anomaly) return violated;
  const { anomaly } = whole.verdict;
  const hasName = (part: readonly TransactionIndex[]): boolean => evidenceIn(part)?.verdict.anomaly === anomaly;
  const spoken = transactionsIn(whole.verdict).map((t) => region[t]);
  const small = shrink(hasName(spoken) ? spoken : region, hasName, triesMax);
  return { kind: 'violated', anomaly, cycle: [], evidence: evidenceIn(small) };
}

/** That violate together, as far as is known. */
function transactionsOf({ evidence, cycle }: CompactViolated): readonly TransactionIndex[] {
  if (evidence !== null) return evidence.transactions;
  return [...new Set(cycle.flatMap(({ from, to }) => [from, to]))].filter((t) => t !== INITIAL);
}

export function findIn(verdict: CompactVerdict): readonly TransactionIndex[] | null {
  return verdict.kind === 'violated' ? transactionsOf(verdict) : null;
}

/** All that the verdict speaks of, sorted. */
function transactionsIn({ cycle, refutation }: Violated): TransactionIndex[] {
  const inCycle = cycle.flatMap(({ from, to }) => [from, to]);
  const inProof = refutation === undefined ? [] : [...transactionsOfRefutation(refutation)];
  return [...new Set([...inCycle, ...inProof])].filter((t) => t !== INITIAL).toSorted((a, b) => a - b);
}
