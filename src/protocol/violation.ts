/** What a search of a protocol can find wrong. */
import type { TimelessLevel } from '../states/index.ts';

/** What does not hold. */
export type Violation =
  | { readonly kind: 'invariant' | 'sometimes' | 'eventually'; readonly name: string }
  | { readonly kind: 'isolation'; readonly name: TimelessLevel; readonly verdict: 'violated' | 'unknown' }
  | { readonly kind: 'deadlock'; readonly name: 'deadlock' };
