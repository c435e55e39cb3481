/**
 * `moirai/states`: isolation levels as commit tests on database states, and the checker by them.
 *
 * An execution is an order of transactions; each makes a new state, and each operation may have read from some of the states before it. A level is
 * a test that every transaction passes. Crooks, Pu, Alvisi and Clement, "Seeing is Believing" (PODC 2017). For some twenty transactions
 * that touch the same keys; `moirai/check` decides histories of every size.
 *
 * @example
 * ```ts
 * import { commitTest, explainCommitTest } from 'moirai/states';
 *
 * const bank = {
 *   initial: new Map([['S', 30], ['C', 30]]),
 *   transactions: [
 *     { id: 'alice', operations: [{ kind: 'read', key: 'S', value: 30 }, { kind: 'write', key: 'C', value: -10 }] },
 *     { id: 'bob', operations: [{ kind: 'read', key: 'C', value: 30 }, { kind: 'write', key: 'S', value: -10 }] },
 *   ],
 * } as const;
 * console.log(commitTest(bank, 'snapshot-isolation').kind, commitTest(bank, 'serializable').kind);
 * // prints: satisfied violated
 * ```
 *
 * @example
 * ```ts
 * import { parseHistory } from 'moirai/history';
 * import { commitTest, commitTestOf, explainCommitTest, referenceCommitTest, summarizeCommitTest } from 'moirai/states';
 *
 * const lostUpdate = parseHistory('r x _, w x 1\nr x _, w x 2'); // every history is a bag of observed transactions
 * const verdict = commitTest(lostUpdate, 'serializable');
 * console.log(summarizeCommitTest(lostUpdate, verdict), explainCommitTest(lostUpdate, verdict).length > 0);
 * // prints: violated: 0/0 and 1/0 never pass together true
 * const inOrder = commitTestOf(lostUpdate, [0, 1], 'snapshot-isolation');
 * console.log(inOrder.isValid, referenceCommitTest(lostUpdate, 'snapshot-isolation').kind);
 * // prints: false violated
 * ```
 * @module
 */
import { monotonicMs, TimeLimit } from '../base/index.ts';
import {
  commitTest as test,
  type CommitTestLevel,
  type CommitTestOptions as RoomOptions,
  type CommitTestVerdict,
  type ObservedTransactions,
} from '../states/index.ts';
import { type OptionKinds, requireOptions } from './given-options.ts';

export {
  commitTestLevels,
  commitTestOf,
  commitTestTable,
  explainCommitTest,
  explainFailures,
  parseCommitTestLevel,
  referenceCommitTest,
  summarizeCommitTest,
  type CommitTestInfo,
  type CommitTestLevel,
  type CommitTestVerdict,
  type Failure,
  type JudgedExecution,
  type JudgedTransaction,
  type ObservedTransaction,
  type ObservedTransactions,
  type Obstacle,
  type ReferenceCommitVerdict,
  type StatePosition,
  type TimelessLevel,
} from '../states/index.ts';

/** How far executions are searched. */
export interface CommitTestOptions extends Pick<RoomOptions, 'stepsMax' | 'transactionsMax'> {
  /** Milliseconds; then the verdict is `unknown` with the reason `time-limit`. Default: no limit. */
  readonly timeoutMs?: number;
}

const commitTestOptions: OptionKinds<CommitTestOptions> = {
  stepsMax: 'number',
  timeoutMs: 'number',
  transactionsMax: 'number',
};

/**
 * Is there an execution in which every transaction passes the commit test of the level? Exponential in the transactions that touch the same keys.
 * @returns an execution with the read states of every operation; or for each transaction in the way what it conflicts with, and an execution
 *   in which all others of them pass; or why it is not known
 */
export function commitTest(
  observed: ObservedTransactions,
  level: CommitTestLevel,
  given: CommitTestOptions = {},
): CommitTestVerdict {
  requireOptions('commitTest', given, commitTestOptions);
  const { timeoutMs, ...options } = given;
  return test(observed, level, {
    ...options,
    ...(timeoutMs === undefined ? {} : { limit: new TimeLimit(monotonicMs() + timeoutMs) }),
  });
}
