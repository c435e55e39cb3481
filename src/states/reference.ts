/** The reference: asks the definition of every execution. Factorial, obviously right, for small sets and for tests. */
import type { TransactionIndex } from '../history/index.ts';
import { passes } from './commit-tests.ts';
import { executions } from './execution.ts';
import type { CommitTestLevel } from './level.ts';
import type { ObservedTransactions } from './observed.ts';

/** The answer of the definition, asked of every execution. */
export type ReferenceCommitVerdict =
  | { readonly kind: 'satisfied'; readonly order: readonly TransactionIndex[] }
  | { readonly kind: 'violated' }
  | { readonly kind: 'unknown'; readonly reason: 'execution-limit' };

/**
 * Asks the definition of every execution, one after another: exponential in the transactions. Times that are missing order nothing.
 * @param options `executionsMax`: executions to try before the answer is `unknown`; default 100,000
 */
export function referenceCommitTest(
  observed: ObservedTransactions,
  level: CommitTestLevel,
  options: { readonly executionsMax?: number } = {},
): ReferenceCommitVerdict {
  let tried = 0;
  for (const e of executions(observed)) {
    if (tried === (options.executionsMax ?? 100_000)) return { kind: 'unknown', reason: 'execution-limit' };
    tried += 1;
    if (passes(e, level)) return { kind: 'satisfied', order: e.order };
  }
  return { kind: 'violated' };
}
