/**
 * Where rows live, and what a transaction sees of them: what the executor asks of an engine profile (PostgreSQL, InnoDB) or of the
 * axiomatic store. Values are opaque here but for the comparators that come with each index.
 *
 * Reading a snapshot never waits, so scans are plain iterables. What may wait for another transaction (row locks, unique keys that an
 * open transaction has inserted, gap locks) is a generator: it yields what it waits for and is resumed when that may be free. The
 * scheduler drives it; it throws a `SqlError` into it for a deadlock (40P01), a lock timeout (55P03) or a cancel request (57014).
 */
import type { SqlValue } from './value.ts';

export type TableId = number;
export type IndexId = number;
/** Stable for the life of a row, unique in its table; given in order of insertion. */
export type RowId = number;

/** What the store has to know of a table. Index 0 is the primary key where there is one. */
export interface TableShape {
  readonly id: TableId;
  /** `schema.table` outside the default schema: names keys of recorded histories. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly indexes: readonly IndexShape[];
  /** Only its session sees it. Default: no. */
  readonly isTemporary?: boolean;
}

export interface IndexShape {
  readonly id: IndexId;
  readonly name: string;
  readonly isPrimary: boolean;
  readonly isUnique: boolean;
  /** Do NULLs count as equal to each other in a unique index? Mostly not. */
  readonly nullsAreEqual: boolean;
  /** DEFERRABLE: a key that may be taken is entered without a wait, and looked at again by `isUnique`. */
  readonly isDeferrable: boolean;
  /** Is a unique index one that others may refer to? Default: yes; a partial one and one over expressions is not. */
  readonly isReferable?: boolean;
  /** The columns in it, by number: not those that only an expression of it uses. */
  readonly cells: readonly number[];
  /** The key of a row: its values in index order; may compute expressions. `null` where a partial index leaves the row out. */
  readonly keyOf: (values: readonly SqlValue[]) => readonly SqlValue[] | null;
  /** Orders two keys, or a key and a prefix of a key (equal as far as the shorter goes). NULLs last; with MySQL's dialect first. */
  readonly compare: (a: readonly SqlValue[], b: readonly SqlValue[]) => number;
  /** Of a whole key: what is the same, as a key of a `Map`, where `compare` finds two keys equal. */
  readonly hashOf?: (key: readonly SqlValue[]) => unknown;
}

/** How a statement gets at rows. The rows it yields are a superset of those that match; the executor filters again. */
export type AccessPath =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'index';
      readonly index: IndexId;
      /** Equal to the first columns of the index: all of them for a point, none for a range over the first column. */
      readonly prefix: readonly SqlValue[];
      /** Bounds on the column after the prefix. */
      readonly from?: PathBound;
      readonly to?: PathBound;
      readonly isDescending: boolean;
      /** InnoDB for MIN and MAX: one record is searched, read and then compared with the range, so it stays locked where it is past the end. */
      readonly readsEnd?: true;
      /** Conditions on later columns of the index, evaluated on its key: PostgreSQL reads no row of an entry that fails them. */
      readonly accepts?: (key: readonly SqlValue[]) => boolean;
    };

export interface PathBound {
  readonly value: SqlValue;
  /** Values of the columns behind, for `(a, b) > (1, 2)`. Absent: none. */
  readonly behind?: readonly SqlValue[];
  readonly isInclusive: boolean;
}

/**
 * One row as one statement sees it. A cell that is `undefined` has not been read yet: `load` reads it (cell granularity of the axiomatic
 * family). Use `cell(row, i)`. Rows of the engines are always whole.
 */
export interface Row {
  readonly table: TableId;
  readonly id: RowId;
  readonly values: (SqlValue | undefined)[];
  readonly load: (row: Row, column: number) => SqlValue;
}

/** What a statement asks of the rows of one table. */
export interface RowCondition {
  readonly matches: (row: Row) => boolean;
  /** Does a newer version match, where `found` did? Absent: `matches` says so. */
  readonly stillMatches?: (version: Row, found: Row) => boolean;
  /** The condition for a recorder; `null` where only this statement needs it. */
  readonly keep: (() => KeptCondition) | null;
  /** The columns of a row that the statement reads; `null`: it may read any. */
  readonly cells: ReadonlySet<number> | null;
  /** Are the rows written to when they have been found? Then a scan that locks takes the lock that a write needs. */
  readonly isWritten: boolean;
  /** The lock on each row that a locking clause asks of a scan, on an engine that locks while it scans. */
  readonly lockedBy?: LockRequest | undefined;
  /** Of a statement that reads its own table in a subquery: does the lock on a row stay that does not match? Absent: it goes. */
  readonly keepsLock?: ((row: Row) => boolean) | undefined;
  /** For each row that is found the statement looks for one of another table. Absent: for none. */
  readonly lookUps?: readonly LookUp[] | undefined;
}

/** Rows of a table that are looked up in an index of one column, by the value of a column of the row before. */
export interface LookUp {
  /** Of the row before. */
  readonly cell: number;
  readonly table: TableId;
  readonly index: IndexId;
  /** The columns of what is found that the statement reads. */
  readonly cells: ReadonlySet<number>;
}

/** A condition that outlives its statement: a recorder asks it about versions that the statement did not see. */
export interface KeptCondition {
  /** For people: `is_locked = 1`; empty where every row satisfies it. */
  readonly text: () => string;
  /** `null`: not decided, for the answer depends on more than the row. */
  readonly holds: (values: readonly SqlValue[]) => boolean | null;
}

export function unrecorded(matches: (row: Row) => boolean): RowCondition {
  return { matches, keep: null, cells: null, isWritten: false };
}

export const everyRow: RowCondition = unrecorded(() => true);

export function cell(row: Row, column: number): SqlValue {
  const value = row.values[column];
  return value === undefined ? row.load(row, column) : value;
}

/** Yielded by what has to wait; opaque to the executor, which passes it on. */
export interface Wait {
  /** The transactions it waits for, by `StorageTransaction.id`: they are who would have to end. Sessions without one: their numbers, negative. */
  readonly blockers: readonly number[];
  /** For the explanation: `row lock on accounts 7`. */
  readonly reason: string;
  /** May it be resumed now? Resuming too early is allowed: it then yields again. */
  readonly isReady: () => boolean;
  /** Is it ready before anything else may go on? Default: no. The victim of a deadlock is chosen among those that are. */
  readonly isUrgent?: () => boolean;
  /** The wait ends by itself after some time: `reached` makes it ready. Time limits of the session for locks do not apply to it. */
  readonly limit?: { readonly ms: number; readonly reached: () => void };
}

export type Waiting<T> = Generator<Wait, T, void>;

export type LockStrength = 'key share' | 'share' | 'no key update' | 'update';

export interface LockRequest {
  readonly strength: LockStrength;
  readonly ifLocked: 'wait' | 'error' | 'skip';
  /**
   * `statement`: as a statement of this level reads (snapshot first, then the current version where the engine does so).
   * `latest`: the latest committed version and the own writes, whatever the level: for unique checks.
   * `referenced`, `referencing`: what a foreign key's own queries read, of the parent's table and of the child's. PostgreSQL at REPEATABLE READ and
   * above searches parents in the transaction's snapshot, children in a new one, and fails for a child that it would change and the transaction's
   * snapshot does not have (`crosscheck_snapshot` in ri_triggers.c). Elsewhere both are `latest`.
   * `conflict`: the version that `findConflict` has found. `null` when it has changed since; an error where one snapshot serves the transaction.
   */
  readonly reading: 'statement' | 'latest' | 'conflict' | 'referenced' | 'referencing';
  /**
   * The strength for this row, where it depends on it: an UPDATE that changes the key of a unique index locks with `update`. Asked before a row is
   * locked, and again when it has changed meanwhile. Without it the lock is made stronger by `update()`, which may wait once more.
   */
  readonly strengthFor?: (row: Row) => LockStrength;
  /**
   * What will become of the rows; InnoDB searches for writes in another way than for SELECT ... FOR UPDATE. `sort`: they are sorted before they are
   * written. `select` when not said.
   */
  readonly purpose?: 'select' | 'update' | 'delete' | 'sort';
}

export type DuplicateLock = 'share' | 'update';

/**
 * What InnoDB checks index by index while it writes a row: the parent of a foreign key before the row enters the key's index, children when the row
 * has left the index that they refer to (row0ins.cc, row0upd.cc).
 */
export interface IndexChecks {
  readonly entering: (index: IndexId) => Waiting<void>;
  readonly left: (index: IndexId) => Waiting<void>;
}

/** `rechecks`: the deferrable indexes in which another row has the key, or may have it when an open transaction has ended. */
export type InsertResult =
  | { readonly kind: 'inserted'; readonly row: Row; readonly rechecks?: readonly IndexId[] }
  /**
   * The unique index that refused it, and the row that is in the way. `isUnseen`: a transaction with one snapshot does not see that row;
   * ON CONFLICT then fails with 40001 "could not serialize access due to concurrent update", DO NOTHING too.
   */
  | Duplicate;

export type Duplicate = {
  readonly kind: 'duplicate';
  readonly index: IndexId;
  readonly row: Row;
  readonly isUnseen?: boolean;
  /** This statement has written it. */
  readonly isOwn?: boolean;
};

export type UpdateResult =
  | { readonly kind: 'updated'; readonly row: Row; readonly rechecks?: readonly IndexId[] }
  | { readonly kind: 'duplicate'; readonly index: IndexId; readonly row: Row };

export interface Storage {
  createTable(shape: TableShape): void;
  /** New columns or indexes over existing rows; `convert` makes new values of old ones. @throws SqlError 23505 */
  alterTable(shape: TableShape, convert?: (values: readonly SqlValue[]) => SqlValue[]): void;
  dropTable(table: TableId): void;
  begin(session: number, options: TransactionOptions): StorageTransaction;
}

export interface TransactionOptions {
  /** SQL's name, lower case: what it means is the store's business. */
  readonly isolation: 'read uncommitted' | 'read committed' | 'repeatable read' | 'serializable';
  readonly isReadOnly: boolean;
  /** PostgreSQL's DEFERRABLE: see `takeSafeSnapshot`. */
  readonly isDeferrable?: boolean;
  /** MySQL's WITH CONSISTENT SNAPSHOT: the snapshot is taken now, not by the first read. InnoDB does so at REPEATABLE READ only. */
  readonly takesSnapshot?: boolean;
  /** MariaDB's innodb_snapshot_isolation: a lock on a row that has changed since the snapshot fails (1020), and the transaction is rolled back. */
  readonly checksSnapshot?: boolean;
}

/** PostgreSQL's modes of locks on tables, by number from 1 on, the weakest first. Manual, "13.3.1 Table-Level Locks". */
export const tableLockModes = [
  'access share',
  'row share',
  'row exclusive',
  'share update exclusive',
  'share',
  'share row exclusive',
  'exclusive',
  'access exclusive',
] as const;

export type TableLockMode = (typeof tableLockModes)[number];

export interface StorageTransaction {
  readonly id: number;
  /**
   * Locks a table until the end of the transaction, or of the savepoint. Absent: the store has no table locks. @returns did it have to wait?
   * @throws SqlError 55P03, 40P01
   */
  lockTable?(table: TableId, mode: TableLockMode, ifLocked: 'wait' | 'error'): Waiting<boolean>;
  /** Locks the name of an object that is made, as `lockTable` locks a table: one transaction at a time has it. */
  lockName?(name: string): Waiting<boolean>;
  /** Locks it if no other transaction has it. @returns is it locked? */
  tryLockName?(name: string): boolean;
  /** DEFERRABLE: before the first statement; takes snapshots and waits until one is safe. Absent: no level of the store needs that. */
  takeSafeSnapshot?(): Waiting<void>;
  /** A statement begins: where the level takes statement snapshots, this takes one. */
  statement(): StatementView;
  /** A mark to come back to. Locks taken since are released where the engine does that. */
  savepoint(): number;
  rollbackTo(savepoint: number): void;
  /** @throws SqlError 40001 where the level cannot let it commit; it is then rolled back. */
  commit(): Waiting<void>;
  rollback(): void;
  /**
   * Waits until no transaction is left to wait for, as a statement waits for row locks; the store finds deadlocks among both. Absent where it knows
   * its own waits alone. @param touch tells what `blockers` looks at @throws SqlError 40P01
   */
  wait?(blockers: () => readonly number[], reason: string, touch: () => void): Waiting<void>;
}

/** MySQL's metadata locks of one transaction. */
export interface MetadataLocking {
  /** As the transaction's `lockTable`. */
  lock(table: TableId, mode: TableLockMode): Waiting<boolean>;
  /** This mode, or one that includes it. */
  holds(table: TableId, mode: TableLockMode): boolean;
  /** Gives the exclusive lock up; those that were taken before it stay. */
  downgrade(table: TableId): void;
}

/** What one statement sees and does. */
export interface StatementView {
  /**
   * Plain SELECTs of this statement are to use `lock` with `share` instead of `scan`: InnoDB at SERIALIZABLE. (A SELECT on its own, with
   * autocommit, does not lock there: begin it at REPEATABLE READ.)
   */
  readonly scansLock?: boolean;
  /** Does it run `IndexChecks`? Foreign keys of other stores are checked when the row has been written. */
  readonly checksByIndex?: boolean;
  /** Do the rows of `scan` come in the order of the path's index, as the statement sees them? */
  readonly scansInOrder?: boolean;
  /** A consistent read, as plain SELECTs do it: the rows that match. Own earlier writes are seen, those of this statement are not. */
  scan(table: TableId, path: AccessPath, condition: RowCondition): Iterable<Row>;
  /** The same in two steps, for scans of one table by many paths, as joins make them. Absent: `scan` is called each time. */
  scanner?(table: TableId, condition: RowCondition): (path: AccessPath) => Iterable<Row>;
  /**
   * How many rows a table has, where the statement may read those that it does not ask for: its reads take no locks, and no one observes them. `null`:
   * it may not now. Absent: it never may.
   */
  unobservedRows?(table: TableId): number | null;
  /**
   * Rows to lock or to write: matches are re-evaluated on the version that the lock was granted on, as the engine does it.
   * A row is locked when the iteration reaches it, so a LIMIT stops locking: `take` says whether to go on. An
   * UPDATE or DELETE writes the row within `take`, before the next one is locked, as the engines do (InnoDB not when it changes the path's index). @throws SqlError 40001, 55P03
   */
  lock(
    table: TableId,
    path: AccessPath,
    condition: RowCondition,
    request: LockRequest,
    take: (row: Row) => boolean | Waiting<boolean>,
  ): Waiting<void>;
  /**
   * Locks the row of a constant table before the statement reads it, as `scan` will. Absent: what this statement only reads is not locked.
   */
  lockConstant?(table: TableId, path: AccessPath, condition: RowCondition): Waiting<void>;
  /** Locks rows that a consistent read of this statement has found (SELECT ... FOR UPDATE above joins and sorts). `null`: gone or skipped. */
  lockRow(row: Row, matches: (row: Row) => boolean, request: LockRequest): Waiting<Row | null>;
  /** `duplicateLock`: the lock on a row that refuses it, where the engine takes one: `update` for REPLACE and ON DUPLICATE KEY UPDATE. */
  insert(
    table: TableId,
    values: readonly SqlValue[],
    duplicateLock: DuplicateLock,
    checks?: IndexChecks,
  ): Waiting<InsertResult>;
  /**
   * Locks a table's AUTO_INCREMENT to the end of the statement: InnoDB's AUTO-INC lock. @param isBulk does the statement insert rows that it has not
   * counted? Otherwise it only waits for those. Absent: there is no such lock. @throws SqlError 40001 (1213)
   */
  lockCounter?(table: TableId, isBulk: boolean): Waiting<void>;
  /**
   * The row with a key of these values in one of the unique indexes `arbiters`, which are looked at in order; waits for open transactions that have
   * written one. Absent: the engine has no ON CONFLICT.
   */
  findConflict?(table: TableId, values: readonly SqlValue[], arbiters: readonly IndexId[]): Waiting<Duplicate | null>;
  /** `row` comes from `lock` or `lockRow` of this statement. `columns`: the positions that are assigned. */
  update(
    row: Row,
    values: readonly SqlValue[],
    columns: readonly number[],
    checks?: IndexChecks,
  ): Waiting<UpdateResult>;
  delete(row: Row, checks?: IndexChecks): Waiting<void>;
  /** For definitions that lock their table in steps. Absent: the store has no metadata locks. */
  readonly metadata?: MetadataLocking;
  /** As the transaction's: for queries that a constraint runs. */
  lockTable?(table: TableId, mode: TableLockMode): Waiting<unknown>;
  /** A query that a constraint runs after the statement: it sees what the statement has written, and at READ COMMITTED has a snapshot of its own. */
  constraintQuery(): StatementView;
  /**
   * What ALTER TABLE checks the rows that are there with: the latest committed ones and the own writes, whatever the level. Absent: the store has
   * no other view than the statement's.
   */
  latestView?(): StatementView;
  /** Has this transaction written the version? The check of that write may be pending; it will pass over a version that has been replaced. */
  isOwn(row: Row): boolean;
  /** Is a version that this transaction has written still the row's: not replaced, not deleted, not rolled back? */
  isCurrent(row: Row): boolean;
  /**
   * Has no other row the key of a version that this transaction has written, in this deferrable index? A row that is deleted since, or has another key,
   * is in no other's way. Waits for open transactions on which that depends.
   */
  isUnique(row: Row, index: IndexId): Waiting<boolean>;
  /** TRUNCATE has deleted the rows: when it commits, older snapshots do not see them either, or cannot read the table. Absent: they do. */
  truncated?(table: TableId): void;
  /** The statement failed, or runs again: its writes go, its locks stay where the engine keeps them. */
  undo(): void;
  /** The statement is over: locks that it has for itself alone go. Absent: there are none. */
  ended?(): void;
}
