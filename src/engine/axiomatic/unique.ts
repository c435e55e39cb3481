/**
 * What holds whatever the level: no two rows with one unique key, no reference to a row that is gone. Both look at the latest state, and
 * wait for open transactions that are deciding about the rows in question; a wait that closes a cycle fails at once.
 */
import { SqlError, type IndexId, type Row, type Waiting, type SqlValue } from '../../sql/model/index.ts';
import type { Key } from './row-index.ts';
import { SeenRow } from './seen-row.ts';
import type { StoredRow, Table, TableIndex } from './table.ts';
import type { Store, Transaction } from './transaction.ts';

/** The first unique index that one of these keys (by index; `null`: not to be checked) is in the way of, once all who may decide have ended. */
export function* findDuplicate(
  storage: Store,
  transaction: Transaction,
  table: Table,
  keys: readonly (Key | null)[],
  self: StoredRow | null,
): Waiting<{ readonly index: IndexId; readonly row: StoredRow } | null> {
  for (;;) {
    const blockers = new Set<Transaction>();
    let reason = '';
    for (const [i, index] of table.indexes.entries()) {
      const key = keys[i] ?? null;
      if (!index.isChecked(key)) continue;
      for (const row of rowsWith(index, key)) {
        if (row === self) continue;
        const others = storage.holders(row, transaction).filter((other) => decides(other, row, index, key));
        for (const other of others) blockers.add(other);
        if (others.length > 0) reason = `unique key of ${index.shape.name}`;
        else if (hasKey(transaction, row, index, key)) return { index: index.shape.id, row };
      }
    }
    if (blockers.size === 0) return null;
    yield* waitFor(storage, transaction, [...blockers], reason);
  }
}

/** Waits for those on whose end it depends whether the row matches. */
export function* waitForRow(
  storage: Store,
  transaction: Transaction,
  row: StoredRow,
  matches: (row: Row) => boolean,
): Waiting<void> {
  const isMatch = (writer: Transaction | null): boolean => {
    const image = imageFor(writer, row);
    return image !== null && matches(new SeenRow(row, image));
  };
  for (;;) {
    const others = storage.holders(row, transaction).filter((other) => isMatch(null) !== isMatch(other));
    if (others.length === 0) return;
    yield* waitFor(storage, transaction, others, `row ${row.name}`);
  }
}

function* waitFor(
  storage: Store,
  transaction: Transaction,
  others: readonly Transaction[],
  reason: string,
): Waiting<void> {
  const blockers = (): number[] => others.filter(({ status }) => status === 'open').map(({ id }) => id);
  storage.waitsFor.begin(transaction.id, blockers);
  try {
    if (storage.waitsFor.cycleThrough(transaction.id).length > 0)
      throw new SqlError('40P01', 'deadlock detected', { detail: `Each waits for another's end: ${reason}.` });
    yield { blockers: blockers(), reason, isReady: () => blockers().length === 0 };
  } finally {
    storage.waitsFor.end(transaction.id);
  }
}

function rowsWith(index: TableIndex, key: Key): Set<StoredRow> {
  const rows = new Set(index.wide);
  for (const { row } of index.committed.allWith(key)) rows.add(row);
  for (const { row } of index.pending.allWith(key)) rows.add(row);
  return rows;
}

/** Does it depend on the end of `other` whether the row has this key? */
function decides(other: Transaction, row: StoredRow, index: TableIndex, key: Key): boolean {
  return hasKey(null, row, index, key) !== hasKey(other, row, index, key);
}

function hasKey(transaction: Transaction | null, row: StoredRow, index: TableIndex, key: Key): boolean {
  const image = imageFor(transaction, row);
  return image !== null && isSame(index, index.shape.keyOf(image), key);
}

function isSame(index: TableIndex, a: Key | null, b: Key): boolean {
  return a !== null && index.shape.compare(a, b) === 0;
}

/** The latest committed row, or as it would be if `writer` committed now. */
function imageFor(writer: Transaction | null, row: StoredRow): SqlValue[] | null {
  return row.image((slot) => (writer === null ? row.latest(slot) : writer.latest(row, slot)));
}
