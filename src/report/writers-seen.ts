/** Whose write each read of a history saw, also of reads that no commit order explains. */
import { type History, relationsOf, type TransactionIndex } from '../history/index.ts';

/**
 * By `transaction operation`; the reader itself where it had written the key before, `null` where no transaction wrote the value.
 */
export function writersSeen(history: History): ReadonlyMap<string, TransactionIndex | null> {
  const sources = new Map<string, TransactionIndex | null>();
  history.transactions.forEach(({ operations }, t) => {
    operations.forEach((operation, o) => {
      if (operation.kind === 'write') return;
      const isOwn = operations.slice(0, o).some(({ kind, key }) => kind === 'write' && key === operation.key);
      if (isOwn) sources.set(`${t} ${o}`, t);
    });
  });
  const { reads, phenomena } = relationsOf(history, { abortedReads: 'constrained' });
  for (const { by, operation } of phenomena.filter(({ kind }) => kind === 'thin-air-read'))
    sources.set(`${by} ${operation}`, null);
  for (const { by, operation, from } of [...reads, ...phenomena.filter(({ kind }) => kind !== 'thin-air-read')])
    sources.set(`${by} ${operation}`, from);
  return sources;
}
