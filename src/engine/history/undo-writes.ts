/** What is left of a transaction's operations when some of its writes are undone. One pass: a statement that fails may have written many rows. */
import type { UndoneWrite } from '../observer.ts';
import type { RecordedOperation } from './recorded-history.ts';

/** Takes the writes out of `operations`, and what the transaction read of them. */
export function undoWrites(operations: RecordedOperation[], undone: readonly UndoneWrite[]): void {
  const keys = new Set(undone.map(({ table, id, sequence }) => versionKey(table, id, sequence)));
  // A version of another transaction that was read before may have had the same place in its row.
  const passed = new Set<string>();
  for (const each of operations.splice(firstOf(operations, keys))) {
    const key = keyOf(each);
    if (key !== null && keys.has(key)) passed.add(key);
    else if (each.kind !== 'reads') operations.push(each);
    else {
      const versions = each.versions.filter(({ row, sequence }) => !passed.has(versionKey(each.table, row, sequence)));
      if (versions.length > 0) operations.push({ ...each, versions });
    }
  }
}

/** The place of the first write of those; 0 where some are not recorded. */
function firstOf(operations: readonly RecordedOperation[], keys: ReadonlySet<string>): number {
  let first = operations.length;
  for (let left = keys.size; left > 0 && first > 0; ) {
    first -= 1;
    const key = keyOf(operations[first]);
    if (key !== null && keys.has(key)) left -= 1;
  }
  return first;
}

/** `null`: it is not a write. */
function keyOf(operation: RecordedOperation | undefined): string | null {
  if (operation?.kind !== 'write') return null;
  return versionKey(operation.table, operation.row, operation.version.sequence);
}

function versionKey(table: number, row: number, sequence: number): string {
  return `${table} ${row} ${sequence}`;
}
