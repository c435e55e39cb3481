/** Answers carry evidence, and there are three answers. */
import type { ReadPhenomenon, TransactionIndex } from '../history/index.ts';
import type { AnomalyName } from './anomaly.ts';
import type { Edge } from './dependency-cycle.ts';
import type { Refutation } from './refutation.ts';

/** The answer to: is this history at this level? */
export type Verdict =
  | {
      readonly kind: 'satisfied';
      readonly commitOrder: readonly TransactionIndex[];
      /** Where several transactions wrote what a read saw: whose write it is taken to be. */
      readonly writers?: readonly ChosenWriter[];
    }
  | Violated
  | {
      readonly kind: 'unknown';
      /**
       * `step-limit`: a search gave up. `time-limit`: the time was over. `missing-times`: strict-serializable needs the start and the end of
       * every transaction.
       */
      readonly reason: 'step-limit' | 'time-limit' | 'missing-times';
    };

/** Whose write a read saw. */
export interface ChosenWriter {
  readonly by: TransactionIndex;
  /** The read: its position in the operations of `by`. */
  readonly operation: number;
  readonly from: TransactionIndex;
}

/** The history violates the level with these writers, whichever the others are. */
export interface RefutedChoice {
  readonly writers: readonly ChosenWriter[];
  readonly verdict: Violated;
}

/** A violation and its evidence. */
export interface Violated {
  readonly kind: 'violated';
  readonly anomaly: AnomalyName;
  /** A cycle of dependencies in the order of its edges; empty when a single read is the evidence. */
  readonly cycle: readonly Edge[];
  /** The read that no commit order explains, when the anomaly is one of `readAnomalies`. */
  readonly read?: ReadPhenomenon;
  /** A proof that no commit order exists, which `certify` re-checks; absent when a single read is the evidence. */
  readonly refutation?: Refutation;
  /** Instead of a cycle, where several transactions wrote what reads saw: each choice of writers contains one of these. */
  readonly choices?: readonly RefutedChoice[];
}
