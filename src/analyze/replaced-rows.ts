/**
 * Rows that a transaction deletes and inserts again under the same key. PostgreSQL makes another row of it: a statement at read committed that waits for
 * the deleted one finds neither, for the new one is none of its snapshot (manual, 13.2.1 "Read Committed Isolation Level"; InnoDB has one record for both).
 * So the statement reads twice: that there is no row, in its snapshot, and, when it gets the lock, that the row is replaced.
 */
import type { Table } from '../sql/index.ts';
import { type Access, existence } from './access.ts';
import type { AnalyzedPath } from './transactions.ts';

/** The pseudo-column that such a DELETE writes. */
export const replacement = '(replaced)';

/** Tables in which the path inserts a row with a key after its statement `at`. */
export function tablesInsertedAfter(path: AnalyzedPath, at: number): ReadonlySet<Table> {
  const later = path.slice(at + 1).flatMap(({ moments }) => moments.flat());
  return new Set(
    later.flatMap(({ inserts, row, table }) =>
      inserts && row.kind === 'key' && row.isGenerated !== true ? [table] : [],
    ),
  );
}

export function isDelete({ writes, inserts }: Access): boolean {
  return writes.has(existence) && !inserts;
}

/** What a DELETE writes, where an INSERT of the same transaction may follow with the key of its row. */
export function writesOfReplaced(access: Access, insertedLater: ReadonlySet<Table>): Access {
  if (!isDelete(access) || !insertedLater.has(access.table)) return access;
  return { ...access, writes: new Set([...access.writes, replacement]) };
}

/** The second look of a statement that would lock the row, if it were there. @param access to a row that is absent */
export function secondLook(access: Access): readonly Access[] {
  if (access.writes.size === 0 && !access.locks) return [];
  return [{ ...access, reads: new Set([replacement]), writes: new Set(), locks: false }];
}
