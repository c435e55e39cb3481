/** Unique keys of the PostgreSQL profile: an open transaction that has written a key decides, when it ends, whether the key is free. */
import type { Waiting, SqlValue } from '../../sql/model/index.ts';
import * as footprints from './footprint.ts';
import { waitForBlockers } from './lock-wait.ts';
import { hasKey, isComparable, mayHaveKey, type PostgresTable, type StoredRow, type Version } from './table.ts';
import type { PostgresTransaction } from './transaction.ts';
import { currentVersion, openWriter, type Writer } from '../versions.ts';

/** Is the key in another row, or may it be when an open transaction has ended? For deferrable indexes, which are checked later. */
export function mayHaveDuplicate(
  { writer, storage }: PostgresTransaction,
  table: PostgresTable,
  position: number,
  key: readonly SqlValue[],
  except: StoredRow,
): boolean {
  const index = table.shape.indexes[position];
  if (index === undefined || !isComparable(key, index.nullsAreEqual)) return false;
  storage.footprint?.touchKey(footprints.indexName(table, position), 'peek', key, index.compare);
  return table
    .index(position)
    .rowsWith(key)
    .some((row) => {
      if (row === except) return false;
      return (
        currentWithKey(table, position, key, row, writer) !== null ||
        (openWriter(row.newest, writer) !== null && mayHaveKey(table, position, row, key))
      );
    });
}

/**
 * Waits for the open transactions that have inserted, deleted or changed a row with this key of a unique index. `null`: the key is free.
 * @throws SqlError 40P01
 */
export function* findDuplicate(
  transaction: PostgresTransaction,
  table: PostgresTable,
  position: number,
  key: readonly SqlValue[],
  except: StoredRow | null,
): Waiting<Version | null> {
  const index = table.shape.indexes[position];
  if (index === undefined || !index.isUnique || !isComparable(key, index.nullsAreEqual)) return null;
  const { writer, storage } = transaction;
  const entered = table.index(position);
  const blockers = (): number[] =>
    entered.rowsWith(key).flatMap((row) => {
      const open = row === except ? null : openWriter(row.newest, writer);
      return open !== null && mayHaveKey(table, position, row, key) ? [open.id] : [];
    });
  const touch = (): void =>
    storage.footprint?.touchKey(footprints.indexName(table, position), 'peek', key, index.compare);
  for (;;) {
    touch();
    for (const row of entered.rowsWith(key)) {
      if (row === except || openWriter(row.newest, writer) !== null) continue;
      const current = currentWithKey(table, position, key, row, writer);
      if (current !== null) return current;
    }
    if (blockers().length === 0) return null;
    yield* waitForBlockers(transaction, blockers, `key of ${index.name}`, touch);
  }
}

function currentWithKey(
  table: PostgresTable,
  position: number,
  key: readonly SqlValue[],
  { newest }: StoredRow,
  reader: Writer,
): Version | null {
  const current = currentVersion(newest, reader);
  return current !== null && !current.isDeleted && hasKey(table, position, current, key) ? current : null;
}
