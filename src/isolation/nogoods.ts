/** One candidate for each read, so that no combination that is known to contradict itself is among them. Backtracking over what is in one. */
import { type TimeLimit, unlimited } from '../base/index.ts';
import type { TransactionIndex } from '../history/index.ts';

/** Not all of these together. */
export type Nogood = readonly { readonly read: number; readonly writer: number }[];

/** @returns by read the writer; `none`: there is no choice */
export function chooseAvoiding(
  reads: readonly { readonly candidates: readonly TransactionIndex[] }[],
  nogoods: readonly Nogood[],
  stepsMax: number,
  limit: TimeLimit = unlimited,
): number[] | 'none' | 'step-limit' {
  const choice = reads.map(({ candidates }) => candidates[0]);
  // Reads in the order in which they first occur; each nogood is looked at when the last of its reads is chosen.
  const involved = [...new Set(nogoods.flatMap((nogood) => nogood.map(({ read }) => read)))];
  const position = new Map(involved.map((read, i) => [read, i]));
  const closing: Nogood[][] = involved.map(() => []);
  for (const nogood of nogoods)
    closing[nogood.reduce((last, { read }) => Math.max(last, position.get(read) ?? 0), 0)]?.push(nogood);
  const next = involved.map(() => 0);
  let steps = 0;
  for (let depth = 0; depth < involved.length; ) {
    const read = involved[depth];
    const candidates = reads[read]?.candidates ?? [];
    const tried = next[depth];
    steps += 1;
    limit.check();
    if (steps > stepsMax) return 'step-limit';
    if (tried === candidates.length) {
      next[depth] = 0;
      depth -= 1;
      if (depth < 0) return 'none';
      continue;
    }
    next[depth] = tried + 1;
    choice[read] = candidates[tried];
    if (closing[depth]?.every((nogood) => nogood.some(({ read: r, writer }) => choice[r] !== writer))) depth += 1;
  }
  return choice;
}
