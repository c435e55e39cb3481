/** A transaction of a large history, for a picture that names it. */
import { type CompactHistory, INITIAL, statuses, type TransactionIndex } from '../../history/index.ts';
import type { CycleTransaction } from '../../report/index.ts';

export function drawnTransaction(
  { session, status, names }: CompactHistory,
  t: TransactionIndex,
  operations: CycleTransaction['operations'],
): CycleTransaction {
  if (t === INITIAL) return { id: 'initial', session: 'initial', status: 'committed', operations };
  return {
    id: names.id(t),
    session: names.session(session[t] as number),
    status: statuses[status[t] as number] ?? 'unknown',
    operations,
  };
}
