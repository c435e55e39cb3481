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
export {
  checkHistory as check,
  strongestLevelOf as strongestLevel,
  weakestViolationOf as weakestViolation,
  type CheckOptions,
  type WeakestViolation,
} from '../check/index.ts';
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
