/** The levels of a single-copy multiversion database, as PostgreSQL gives them: READ COMMITTED, REPEATABLE READ (snapshot isolation) and SERIALIZABLE. */
export type Level = 'RC' | 'SI' | 'SSI';

/** What a statement does to one row. `reads` and `writes` are sets of columns, one bit each. */
export interface RowAccess {
  readonly reads: number;
  readonly writes: number;
  /** Does it lock the row until the transaction ends, as SELECT FOR UPDATE? What writes locks anyway. */
  readonly locks: boolean;
  /** Does it make the row, and fail where another transaction has made it? No row is made twice: none is removed. */
  readonly creates?: boolean;
}

/** Does the order of the two accesses of one row matter to what is read or left? */
export function accessesConflict(a: RowAccess, b: RowAccess): boolean {
  return (a.writes & (b.reads | b.writes)) !== 0 || (a.reads & b.writes) !== 0;
}

/** Does `reader` read what `writer` writes? With the reader before the writer: a read-write conflict (an anti-dependency). */
export function readsWhatIsWritten(reader: RowAccess, writer: RowAccess): boolean {
  return (reader.reads & writer.writes) !== 0;
}

/**
 * Does one access wait until the transaction of the other ends? Writers of a row exclude each other at every level. A lock without a write counts
 * between transactions at read committed only: PostgreSQL's snapshot transactions write a row whose lock is gone, however old their snapshot is,
 * so that a lock does not protect what they read (after research on promotion by SELECT FOR UPDATE, recalled, not read). To leave a lock out allows
 * more schedules, never fewer.
 */
export function exclude(a: RowAccess, aLevel: Level, b: RowAccess, bLevel: Level): boolean {
  if (a.writes !== 0 && b.writes !== 0) return true;
  return aLevel === 'RC' && bLevel === 'RC' && isExclusive(a) && isExclusive(b);
}

function isExclusive({ writes, locks }: RowAccess): boolean {
  return writes !== 0 || locks;
}
