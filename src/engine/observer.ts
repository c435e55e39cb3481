/** What a recorder of histories is told. Keys of a history are a table's name and a row's primary key. */
import type { RowId, TableId } from '../sql/storage.ts';
import type { SqlValue } from '../sql/value.ts';

export interface ObservedVersion {
  readonly writerTransactionId: number;
  /** Counts the versions of a row, from 1. */
  readonly sequence: number;
  /** `null`: the row is deleted. */
  readonly values: readonly SqlValue[] | null;
  /** The same, and of a deleted row the values it had: they name it. */
  readonly lastValues: readonly SqlValue[];
}

export interface StorageObserver {
  onRead(transaction: number, table: TableId, row: RowId, version: ObservedVersion): void;
  onWrite(transaction: number, table: TableId, row: RowId, version: ObservedVersion): void;
  onEnd(transaction: number, outcome: 'committed' | 'aborted'): void;
}
