/**
 * The four mechanisms of which every engine builds its isolation levels (Leopard, ICDE 2023, II.B), and what has to be known about an
 * engine to check each. Table of engines: engines.ts.
 */

/**
 * Which state a plain read sees.
 *
 * - `none`: nothing is checked
 * - `uncommitted`: every row as last written at some moment of the read, also by a transaction that is open; what was rolled back is gone
 * - `row`: every row as last committed at some moment of the read, each row at its own moment
 * - `statement`: all rows as last committed at one moment of the read
 * - `begin`, `first-statement`, `first-read`: ... of the transaction's first operation, first operation that is not a begin, first plain read
 * - `transaction`: at one moment between the transaction's start and the read's end, the same for all of its reads
 */
export type ConsistentRead =
  | 'none'
  | 'uncommitted'
  | 'row'
  | 'statement'
  | 'begin'
  | 'first-statement'
  | 'first-read'
  | 'transaction';

/**
 * What an engine does so that transactions are serializable.
 *
 * - `cycle`: no cycle of dependencies
 * - `ssi`: and no transaction between two rw edges, the last of which leads to the first of the three to commit (PostgreSQL)
 * - `timestamp-order`: and no dependency on a transaction that began after the dependent one was over (CockroachDB)
 * - `optimistic`: and nothing that a writer read is overwritten between its snapshot and its commit (FoundationDB)
 * - `percolator`: no row is written by two transactions of which neither had committed at the other's start; no test of cycles (TiDB)
 */
export type Certifier = 'cycle' | 'ssi' | 'timestamp-order' | 'optimistic' | 'percolator';

export interface Mechanisms {
  readonly consistentRead: ConsistentRead;
  /** Where a transaction's versions appear: at its commit, or anywhere between its start and the end of its commit. */
  readonly install: 'commit' | 'transaction';
  /**
   * What reads with a lock, and reads of writing statements, see.
   *
   * - `as-plain`: what plain reads see
   * - `latest`: the row's latest committed version
   * - `followed`: the latest committed version of the row that the statement's snapshot has. One that was deleted since is missed, also where
   *   another has been inserted under its key (PostgreSQL, "Read Committed Isolation Level": updates see an inconsistent snapshot)
   */
  readonly lockingReads: 'as-plain' | 'latest' | 'followed';
  /** Whether rows are locked from the operation to the end of the transaction: by writes, and by plain reads too. */
  readonly mutualExclusion: 'none' | 'writes' | 'reads-and-writes';
  /**
   * What ROLLBACK TO SAVEPOINT does with the locks that were taken since. `kept` as in InnoDB: where nothing was read or written before the
   * savepoint, the transaction begins anew, with other locks and another snapshot.
   */
  readonly savepointLocks: 'kept' | 'released';
  /**
   * What a read in shared mode locks: the row, or only the columns that it returned. InnoDB: where a secondary index has these, the read locks
   * the entry there and not the row, and what changes other columns passes. Of rows that were looked up by key it locks the row.
   */
  readonly sharedLocks: 'rows' | 'columns';
  /**
   * Does a write that changes nothing leave the row as it was, with its old version and snapshots of it? MariaDB's does, though it locks the
   * row: a transaction that reads the row afterwards sees its snapshot. `either`: or it sees the latest version, as in MySQL 9.7.
   */
  readonly sameWrites: 'written' | 'left-out' | 'either';
  /** What a write locks. */
  readonly lockedUnit: 'row' | 'database';
  /** Do reads that lock rows lock what their conditions have scanned, too? */
  readonly predicateLocks: boolean;
  readonly firstUpdaterWins: boolean;
  readonly certifier: Certifier | null;
}

/** The mechanism that a violation contradicts. */
export type MechanismName = 'consistent-read' | 'mutual-exclusion' | 'first-updater-wins' | 'serialization-certifier';

export const noMechanisms: Mechanisms = {
  consistentRead: 'none',
  install: 'commit',
  lockingReads: 'as-plain',
  mutualExclusion: 'none',
  savepointLocks: 'released',
  sharedLocks: 'rows',
  sameWrites: 'written',
  lockedUnit: 'row',
  predicateLocks: false,
  firstUpdaterWins: false,
  certifier: null,
};
