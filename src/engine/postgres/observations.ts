/** What the observer of the storage hears of one statement: the versions that it reads, writes and passes over. */
import type { RowCondition, TableId } from '../../sql/model/index.ts';
import type { ObservedReading, ObservedScan } from '../observer.ts';
import { currentVersion } from '../versions.ts';
import type { Version } from './table.ts';
import type { PostgresTransaction } from './transaction.ts';

export class StatementObservations {
  readonly #transaction: PostgresTransaction;
  readonly #command: number;

  constructor(transaction: PostgresTransaction, command: number) {
    this.#transaction = transaction;
    this.#command = command;
  }

  read(version: Version): void {
    const { storage, id } = this.#transaction;
    if (storage.observer?.isRecording === true)
      storage.observer.onRead(id, version.table, version.id, version.observed);
  }

  /** A row that was found has changed before it was locked: the statement passes over it because of the current version. */
  change(found: Version): void {
    const current = currentVersion(found.stored.newest, this.#transaction.writer);
    if (current !== null && current !== found) this.read(current);
  }

  unread({ table, id, sequence }: Version): void {
    this.#transaction.storage.observer?.onUnread(this.#transaction.id, table, id, sequence);
  }

  write(version: Version): void {
    const { older } = version;
    const before = older === null ? null : older.observed;
    const { storage, id } = this.#transaction;
    storage.observer?.onWrite(id, version.table, version.id, version.observed, before);
  }

  beginScan(table: TableId, { keep }: RowCondition, reading: ObservedReading, snapshot: number): ObservedScan | null {
    const { storage, id } = this.#transaction;
    if (storage.observer?.isRecording !== true || keep === null) return null;
    const since = this.#transaction.snapshotOf(storage.table(table), snapshot);
    return storage.observer.onScan(id, this.#command, table, keep, reading, since);
  }
}
