/** Answers carry evidence, and there are three answers. */
import type { ReadPhenomenon, TransactionIndex } from '../history/index.ts';
import type { AnomalyName } from './anomaly.ts';
import type { Edge } from './dependency-cycle.ts';
import type { Refutation } from './refutation.ts';

/** The answer to: is this history at this level? */
export type Verdict =
  | { readonly kind: 'satisfied'; readonly commitOrder: readonly TransactionIndex[] }
  | Violated
  | { readonly kind: 'unknown'; readonly reason: 'step-limit' | 'missing-times' };

export interface Violated {
  readonly kind: 'violated';
  readonly anomaly: AnomalyName;
  /** A cycle of dependencies in the order of its edges; empty when a single read is the evidence. */
  readonly cycle: readonly Edge[];
  /** The read that no commit order explains, when the anomaly is G1a, G1b or internal. */
  readonly read?: ReadPhenomenon;
  /** A proof that no commit order exists, which `certify` re-checks; absent when a single read is the evidence. */
  readonly refutation?: Refutation;
}
