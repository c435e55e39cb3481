/**
 * The search of a foreign key: the records with a key in one index are locked for sharing, each alone and not its row in the clustered index; delete-marked
 * ones with the gap before them, and the gap after the last. An action then locks the rows that it changes. After `row_ins_check_foreign_constraint`
 * and `row_ins_foreign_check_on_constraint` in row0ins.
 */
import { assert } from '../../base/index.ts';
import type { LockRequest, RowCondition, Waiting } from '../../sql/model/index.ts';
import { modeOf } from './gap-locks.ts';
import { boundsOf, type IndexPath } from '../index-tree.ts';
import * as footprints from './footprint.ts';
import { IndexRecord, isMarked, type InnodbIndex, type InnodbVersion } from './table.ts';
import type { Granted, InnodbTransaction } from './transaction.ts';
import { wantsMore } from '../take.ts';
import { currentVersion } from '../versions.ts';

export function* lockReferences(
  transaction: InnodbTransaction,
  index: InnodbIndex,
  path: IndexPath,
  { matches }: RowCondition,
  request: LockRequest,
  take: (version: InnodbVersion) => boolean | Waiting<boolean>,
): Waiting<void> {
  assert(request.ifLocked === 'wait', 'a foreign key waits for the rows that it looks at');
  const bounds = boundsOf(path, index.shape.compare);
  const gapKind = transaction.locksGaps ? 'next-key' : 'record';
  const reason = `foreign key on ${index.shape.name}`;
  for (let previous: IndexRecord | null = null; ; ) {
    const record: IndexRecord | undefined =
      previous === null ? index.tree.first((other) => !bounds.isBelow(other.key)) : index.tree.next(previous);
    footprints.recordWalk(transaction.storage, index, previous?.key ?? path.prefix, record?.key ?? null);
    if (record === undefined || bounds.isAbove(record.key)) {
      if (record !== undefined) footprints.recordMarkRead(transaction.storage, record);
      if (!transaction.locksGaps) return;
      const end = record === undefined ? 'next-key' : 'gap';
      if ((yield* transaction.lock(record ?? index.supremum, 'S', end, 'wait', reason)) === 'gone') continue;
      return;
    }
    if (previous === null) transaction.lockPageBefore(record, 'S');
    const kind = isMarked(index, record) ? gapKind : 'record';
    // It left the index while this waited for it: the search begins anew at the place before it.
    if ((yield* transaction.lock(record, 'S', kind, 'wait', reason)) === 'gone') continue;
    previous = record;
    if (isMarked(index, record)) continue;
    if (modeOf(request) === 'X' && (yield* lockRow(transaction, record, reason)) === 'gone') continue;
    // Another transaction may be writing columns that are not in the index.
    footprints.recordCommittedRead(transaction.storage, record);
    const version = currentVersion(record.row.newest, transaction.writer);
    if (version !== null && !isMarked(index, record) && matches(version) && !(yield* wantsMore(take(version)))) return;
  }
}

function lockRow(transaction: InnodbTransaction, { row }: IndexRecord, reason: string): Waiting<Granted> {
  const { clustered } = row.table;
  const record = clustered.tree.getEntry(new IndexRecord(clustered, row.clusteredKey, row));
  footprints.recordWalk(transaction.storage, clustered, row.clusteredKey, row.clusteredKey);
  assert(record !== undefined, 'a row has its record in the clustered index as long as one in another');
  return transaction.lock(record, 'X', 'record', 'wait', reason);
}
