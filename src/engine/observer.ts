/** What a recorder of histories learns from a storage. Keys of a history are a table's name and a row's primary key. */
import type { KeptCondition, RowId, TableId, SqlValue } from '../sql/model/index.ts';

export interface ObservedVersion {
  readonly row: RowId;
  readonly writerTransactionId: number;
  /** Counts the versions of a row, from 1. */
  readonly sequence: number;
  /** `null`: the row is deleted. */
  readonly values: readonly SqlValue[] | null;
  /** The same, and of a deleted row the values it had: they name it. */
  readonly lastValues: readonly SqlValue[];
}

export interface UndoneWrite {
  readonly table: TableId;
  /** The row. */
  readonly id: RowId;
  readonly sequence: number;
}

export interface StorageObserver {
  /** false: what it hears of reads and scans is of no use, so that a storage need not tell. */
  readonly isRecording: boolean;
  onRead(transaction: number, table: TableId, row: RowId, version: ObservedVersion): void;
  /** A statement waited for a lock and goes by a newer version: its read of this one does not count. */
  onUnread(transaction: number, table: TableId, row: RowId, sequence: number): void;
  /** @param older the version that it overwrites */
  onWrite(
    transaction: number,
    table: TableId,
    row: RowId,
    version: ObservedVersion,
    older: ObservedVersion | null,
  ): void;
  /** Writes are undone and their transaction continues: its statement failed, or a savepoint was rolled back. */
  onUndo(transaction: number, undone: readonly UndoneWrite[]): void;
  /**
   * A scan begins. Rows that match it come as reads.
   * @param statement counts the statements of the transaction: IN scans an index once for each of its values
   * @param snapshot it sees what was committed up to this commit, and own writes; Infinity: also what is not committed
   */
  onScan(
    transaction: number,
    statement: number,
    table: TableId,
    keep: () => KeptCondition,
    reading: ObservedReading,
    snapshot: number,
  ): ObservedScan | null;
  /** @param commit its place in the order of commits; Infinity where it wrote nothing or was aborted */
  onEnd(transaction: number, outcome: 'committed' | 'aborted', commit: number): void;
}

/** `current`: a scan that locks, or that reads uncommitted rows, may find that a row has changed since it began. */
export type ObservedReading = 'snapshot' | 'current';

/** A scan under way. */
export interface ObservedScan {
  /** A locking scan found the current version of a row not to match. */
  readonly passed: (row: RowId, sequence: number) => void;
  /** The scan came to its end. */
  readonly ended: () => void;
  /** LIMIT, EXISTS, MIN or MAX stopped it: it has evaluated its condition on these rows only. */
  readonly stopped: (lookedAt: KeptCondition) => void;
}
