/**
 * `moirai/check`: does a history satisfy an isolation level, and if not, why?
 *
 * A verdict is `satisfied` with a commit order, `violated` with a cycle or a read, or `unknown` with a reason. `certify` checks either kind of
 * evidence again without the search that found it, and `explain` puts a violation into words.
 *
 * @example
 * ```ts
 * import { certify, check, explain } from 'moirai/check';
 * import { parseHistory } from 'moirai/history';
 *
 * const history = parseHistory('r x _, w x 1\nr x _, w x 2'); // two sessions read x before either writes it
 * const verdict = check(history, 'snapshot-isolation');
 * if (verdict.kind === 'violated') for (const line of explain(history, verdict)) console.log(line);
 * // prints: 0/0 reads x = null, which 1/0 overwrites
 * // prints: 1/0 reads x = null, which 0/0 overwrites
 * console.log(certify(history, 'snapshot-isolation', verdict), check(history, 'causal').kind);
 * // prints: true satisfied
 * ```
 * @module
 */
import {
  checkHistory,
  type CheckOptions,
  strongestLevelOf,
  type WeakestViolation,
  weakestViolationOf,
} from '../check/index.ts';
import type { History } from '../history/index.ts';
import type { IsolationLevel, Levels, Verdict } from '../isolation/index.ts';
import { type OptionKinds, requireOptions } from './given-options.ts';

export type { CheckOptions, WeakestViolation } from '../check/index.ts';
// What a verdict holds, and the two that read it.
export {
  certify,
  explain,
  summarize,
  type Cases,
  type ChosenWriter,
  type Edge,
  type EdgeRelation,
  type Reason,
  type Refutation,
  type RefutedChoice,
  type Step,
  type Verdict,
  type Violated,
} from '../isolation/index.ts';
// The read that is the evidence of a violation, and how `certify` counts reads of aborted transactions.
export type { ExternalRead, ReadPhenomenon, RelationsOptions } from '../history/index.ts';

const checkOptions: OptionKinds<CheckOptions> = {
  stepsMax: 'number',
  thinAirReads: 'string',
  timeoutMs: 'number',
  writerChoicesMax: 'number',
};

/**
 * Is a history at an isolation level? Where several transactions wrote the value that a read saw, it is if it is for some choice of the writer.
 *
 * Cost for n operations and k sessions: up to `read-atomic` O(n^1.5 log n), near linear in practice; `causal` O(n k); above it a search with
 * limits. A level of each transaction's own is for histories of some hundred transactions.
 * @param level one level, or each transaction's own
 * @returns the commit order; or a violation, in the transactions and operations of `history`, which `certify` re-checks and `explain` puts in
 *   words. Of a large history the evidence is the smallest part found that violates the level, or, where that has more than 100 transactions, a proof
 *   about the whole. Above `causal` there may be neither: at `prefix` and `snapshot-isolation`, and where a search found the violation; then `cycle`
 *   is empty, and `certify` is false
 * @throws InputError `level/unknown`, `history/unknown-writer` (a read names a writer that is not there), `history/duplicate-id`, `history/size` (2^31 operations)
 */
export function check(history: History, level: Levels, options: CheckOptions = {}): Verdict {
  requireOptions('check', options, checkOptions);
  return checkHistory(history, level, options);
}

/** The strongest level at which the history is found to be; `read-uncommitted` asks nothing, so there always is one. */
export function strongestLevel(history: History, options: CheckOptions = {}): IsolationLevel {
  requireOptions('strongestLevel', options, checkOptions);
  return strongestLevelOf(history, options);
}

/**
 * The weakest level, up to `serializable`, that forbids the history, with its verdict: what there is to say of a history that is not
 * serializable. `null`: no violation was found, because the history is serializable or because a limit ended the search.
 * @throws InputError as `check`
 */
export function weakestViolation(history: History, options: CheckOptions = {}): WeakestViolation | null {
  requireOptions('weakestViolation', options, checkOptions);
  return weakestViolationOf(history, options);
}
