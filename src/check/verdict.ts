/** Answers about large histories: with evidence that is small enough to look at. */
import type { History, TransactionIndex } from '../history/index.ts';
import type { AnomalyName, Edge, IsolationLevel, Refutation, Violated } from '../isolation/index.ts';
import type { CommitEdge } from './cycle.ts';
import type { AnomalousRead } from './reads.ts';

/** `pl-2` is Adya's level of that name (PhD thesis 1999): no G0, G1a, G1b, G1c. It is below `read-committed` and asks for no session order. */
export type CompactLevel = IsolationLevel | 'pl-2';

export type CompactVerdict =
  | {
      readonly kind: 'satisfied';
      /** Of the members (`Reads.isMember`), each once. */
      readonly commitOrder: Int32Array;
      /** Where several transactions wrote what reads saw: those reads, as operations of the history, and whose write each is taken to see. */
      readonly chosen?: readonly { readonly operation: number; readonly from: TransactionIndex }[];
    }
  | CompactViolated
  | {
      readonly kind: 'unknown';
      /**
       * `not-searched`: the level has no algorithm for histories of this size or kind yet. `step-limit`: a search gave up. `time-limit`: the time was over. `missing-times`:
       * as for small histories.
       */
      readonly reason: 'not-searched' | 'step-limit' | 'time-limit' | 'missing-times';
    };

export interface CompactViolated {
  readonly kind: 'violated';
  readonly anomaly: AnomalyName;
  /** In the order of its edges; empty when a single read is the evidence. */
  readonly cycle: readonly CommitEdge[];
  /** The read that no commit order explains, when the anomaly is one of `readAnomalies`. */
  readonly read?: AnomalousRead;
  /**
   * `null` where no part was found that is small enough for a person to follow, or where several transactions wrote what was read and each
   * of the possible writers leads to a violation of its own.
   */
  readonly evidence: Evidence | null;
  /** Where `evidence` is `null`, the cycle is long and writers are known: the cycle as a proof about the whole. */
  readonly proof?: CycleProof;
}

/** In the transactions and operations of the whole history. */
export interface CycleProof {
  readonly cycle: readonly Edge[];
  readonly refutation: Refutation;
}

/**
 * A part of the history that violates the level by itself, with the verdict of `check` on it, which `certify` re-checks. Whatever commit
 * order the whole had, the part would have it too: leaving out transactions and reads only allows more.
 */
export interface Evidence {
  readonly history: History;
  readonly verdict: Violated;
  /** By transaction of the part: its index in the whole. */
  readonly transactions: readonly TransactionIndex[];
  /** By transaction of the part, and operation of it: the position of the operation in the transaction of the whole. */
  readonly operations: readonly (readonly number[])[];
}
