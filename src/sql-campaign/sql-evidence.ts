/** What the rows that a run of a SQL program read and wrote show: the weakest level that forbids it. */
import type { History } from '../history/index.ts';
import { weakestViolation } from '../isolation/index.ts';

/** Evidence is searched in histories that a person could read; a larger one is recorded and left to `moirai check`. */
const transactionsMax = 60;

export function isLarge({ transactions }: History): boolean {
  return transactions.length > transactionsMax;
}

/** `null` where the history is serializable, or too large to be searched. What aborted transactions read does not count. */
export function evidenceIn(history: History): ReturnType<typeof weakestViolation> {
  return isLarge(history) ? null : weakestViolation(history, { abortedReads: 'ignored' });
}
