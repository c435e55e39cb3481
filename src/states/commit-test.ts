/**
 * Are observed transactions at a level, by its commit test? With the execution that shows it, or with what stands in the way of each
 * transaction: one that passes in no execution at all, or one of a smallest set of transactions that never pass together, each with an
 * execution in which all others of that set pass and it does not.
 */
import { assert, type TimeLimit, within } from '../base/index.ts';
import type { TransactionIndex } from '../history/index.ts';
import { passes } from './commit-tests.ts';
import { type Execution, executionOf, parentState, readStates, type StatePosition } from './execution.ts';
import { completeStates, type Failure, failuresOf } from './failures.ts';
import type { CommitTestLevel } from './level.ts';
import type { ObservedTransactions } from './observed.ts';
import { type Member, type Problem, problemOf, transactionIndexes } from './problem.ts';
import { type Budget, search } from './search.ts';

/** One execution, judged at a level. */
export interface JudgedExecution {
  readonly order: readonly TransactionIndex[];
  /** Do all transactions pass? */
  readonly isValid: boolean;
  /** In the order of the execution. */
  readonly transactions: readonly JudgedTransaction[];
}

/** One transaction in an execution: what it may have read from, and what it fails. */
export interface JudgedTransaction {
  readonly transaction: TransactionIndex;
  readonly parent: StatePosition;
  /** Of each operation. */
  readonly readStates: readonly (readonly StatePosition[])[];
  readonly completeStates: readonly StatePosition[];
  /** Empty if it passes. */
  readonly failures: readonly Failure[];
}

/** What stands in the way of a transaction. */
export interface Obstacle {
  readonly transaction: TransactionIndex;
  /** The others that never all pass together with it; empty where it passes in no execution, whatever the others do. */
  readonly conflictsWith: readonly TransactionIndex[];
  /** There those others pass, and it does not. Absent where the search reached its limit before it found one. */
  readonly execution?: JudgedExecution;
}

/** The answer of a commit test: with an execution, with what is in the way, or with the limit that ended the search. */
export type CommitTestVerdict =
  | { readonly kind: 'satisfied'; readonly execution: JudgedExecution }
  | { readonly kind: 'violated'; readonly obstacles: readonly Obstacle[] }
  | { readonly kind: 'unknown'; readonly reason: 'step-limit' | 'transaction-limit' | 'missing-times' | 'time-limit' };

export interface CommitTestOptions {
  /** Prefixes of executions to look at for the verdict, and again as many to explain a violation. Default 200,000. */
  readonly stepsMax?: number;
  /** Default 500. */
  readonly transactionsMax?: number;
  /** When it is over, the verdict is unknown; a violation is then explained in few steps. Default: none. */
  readonly limit?: TimeLimit;
}

export function commitTest(
  observed: ObservedTransactions,
  level: CommitTestLevel,
  options: CommitTestOptions = {},
): CommitTestVerdict {
  const { stepsMax = 200_000, transactionsMax = 500, limit } = options;
  const problem = problemOf(observed);
  if (problem.transactions.length > transactionsMax) return { kind: 'unknown', reason: 'transaction-limit' };
  const budget = { steps: stepsMax, ...(limit === undefined ? {} : { limit }) };
  const outcome = within<ReturnType<typeof search> | 'late'>(() => search(problem, level, budget), 'late');
  if (outcome === 'late') return { kind: 'unknown', reason: 'time-limit' };
  if (outcome === 'unknown') return { kind: 'unknown', reason: 'step-limit' };
  if (outcome === 'violated') return { kind: 'violated', obstacles: obstaclesOf(observed, problem, level, stepsMax) };
  const e = executionOf(observed, transactionIndexes(problem, outcome));
  assert(passes(e, level), `the execution [${e.order.join(' ')}] must pass the commit test of ${level}`);
  if (lacksTimes(e, level)) return { kind: 'unknown', reason: 'missing-times' };
  return { kind: 'satisfied', execution: judged(e, level) };
}

/** One named execution: the read states of every operation, and what each transaction fails. */
export function commitTestOf(
  observed: ObservedTransactions,
  order: readonly TransactionIndex[],
  level: CommitTestLevel,
): JudgedExecution {
  return judged(executionOf(observed, order), level);
}

function judged(e: Execution, level: CommitTestLevel): JudgedExecution {
  const transactions = e.order.map((transaction): JudgedTransaction => {
    const operations = e.observed.transactions[transaction]?.operations ?? [];
    return {
      transaction,
      parent: parentState(e, transaction),
      readStates: operations.map((_, operation) => readStates(e, transaction, operation)),
      completeStates: completeStates(e, transaction),
      failures: failuresOf(e, transaction, level),
    };
  });
  return { order: e.order, isValid: transactions.every(({ failures }) => failures.length === 0), transactions };
}

/** Without times, strict-serializable is a claim that the observation can refute (as serializable) but not confirm. */
function lacksTimes({ observed: { transactions }, order }: Execution, level: CommitTestLevel): boolean {
  const hasTimes = (t: TransactionIndex): boolean => {
    const { status, start, end } = transactions[t];
    return start !== undefined && (end !== undefined || status === 'unknown');
  };
  return level === 'strict-serializable' && !order.every(hasTimes);
}

function obstaclesOf(
  observed: ObservedTransactions,
  problem: Problem,
  level: CommitTestLevel,
  stepsMax: number,
): Obstacle[] {
  const budget = { steps: stepsMax };
  const members = [...problem.transactions.keys()];
  const executionWhere = (tested: (member: Member) => boolean): { execution?: JudgedExecution } => {
    const found = search(problem, level, budget, tested);
    if (typeof found === 'string') return {};
    return { execution: judged(executionOf(observed, transactionIndexes(problem, found)), level) };
  };
  const obstacle = (t: Member, others: readonly Member[], where: { execution?: JudgedExecution }): Obstacle => {
    const [transaction] = transactionIndexes(problem, [t]) as [TransactionIndex];
    return { transaction, conflictsWith: transactionIndexes(problem, others), ...where };
  };
  const hopeless = new Set(
    members.filter((t) => search(problem, level, budget, (other) => other === t) === 'violated'),
  );
  if (hopeless.size > 0) {
    // An execution in which everybody else passes says most; there may be none.
    const best = executionWhere((other) => !hopeless.has(other));
    const where = best.execution === undefined ? executionWhere(() => false) : best;
    return [...hopeless].map((t) => obstacle(t, [], where));
  }
  const core = smallestCore(problem, level, budget, members);
  return core.map((t) => {
    const others = core.filter((other) => other !== t);
    return obstacle(
      t,
      others,
      executionWhere((other) => others.includes(other)),
    );
  });
}

/** A set of transactions that never pass together, any one less of which do; larger where the budget ends. */
function smallestCore(
  problem: Problem,
  level: CommitTestLevel,
  budget: Budget,
  members: readonly Member[],
): readonly Member[] {
  let core = new Set(members);
  for (const t of members) {
    const without = new Set(core);
    without.delete(t);
    if (search(problem, level, budget, (other) => without.has(other)) === 'violated') core = without;
  }
  return [...core];
}
