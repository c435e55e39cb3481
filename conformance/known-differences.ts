/** Differences that are known, each with its reason. Every one has its row in docs/engines.md, under "Where they still differ". */
import type { Dialect } from '../src/sql/index.ts';
import { type Difference, signatureOf } from './difference.ts';

export interface KnownDifference {
  readonly dialect: Dialect;
  /** Words that stand in docs/engines.md. */
  readonly row: string;
  readonly matches: (difference: Difference, signature: string) => boolean;
}

export const knownDifferences: readonly KnownDifference[] = [];

export function knownDifference(difference: Difference): KnownDifference | undefined {
  const signature = signatureOf(difference);
  return knownDifferences.find(
    ({ dialect, matches }) => dialect === difference.schedule.dialect && matches(difference, signature),
  );
}
