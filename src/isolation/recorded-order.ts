/**
 * A guess of the writers where values repeat: that the transactions ran one after the other, as they stand in the history, or where it has
 * times, in the order in which they ended. Recorders mostly write down what they saw when they saw it. Linear in the candidates.
 */
import { INITIAL, type TransactionIndex } from '../history/index.ts';

/**
 * @param endOf when a transaction ended; NaN: not known
 * @returns by read the last of its candidates before it; where all come later, the first of them
 */
export function writersInRecordedOrder(
  endOf: (t: TransactionIndex) => number,
  reads: readonly { readonly by: TransactionIndex; readonly candidates: readonly TransactionIndex[] }[],
): TransactionIndex[] {
  const isBefore = (a: TransactionIndex, b: TransactionIndex): boolean => {
    if (a === INITIAL || b === INITIAL) return a < b;
    const [endOfA, endOfB] = [endOf(a), endOf(b)];
    return endOfA === endOfB || Number.isNaN(endOfA) || Number.isNaN(endOfB) ? a < b : endOfA < endOfB;
  };
  return reads.map(({ by, candidates }) => {
    const [likeliest, ...others] = candidates as readonly [TransactionIndex, ...TransactionIndex[]];
    return others.reduce((last, other) => {
      if (!isBefore(other, by)) return last;
      return !isBefore(last, by) || isBefore(last, other) ? other : last;
    }, likeliest);
  });
}
