/**
 * What the verifier mirrors of each row: its versions, the locks on it and what open transactions have written there. Rows are numbered as
 * their keys are; one that was never written holds its initial value, known or not.
 */
import { Clouds, isOf } from './clouds.ts';
import { type Image, isColumns, learned } from './image.ts';
import type { Names } from './operation-table.ts';
import { LockTable, OwnTable } from './lock-table.ts';
import { RowIndex } from './row-index.ts';
import { grownBytes, none } from './slots.ts';
import type { Condition, Scalar } from '../trace/index.ts';
import type { TransactionTable } from './transaction-table.ts';
import { ReaderTable, VersionTable } from './version-table.ts';

export class RowTable {
  readonly versions = new VersionTable();
  readonly readers = new ReaderTable();
  readonly locks = new LockTable();
  readonly owns = new OwnTable();
  readonly #keys: Names;
  readonly #transactions: TransactionTable;
  readonly #initial: (key: string) => Image | undefined;
  /** Can nothing be said about what reads of this row should see? */
  isClouded = new Uint8Array();
  #size = 0;
  readonly #clouds = new Clouds();
  #hasClouds = false;
  readonly #index: RowIndex = new RowIndex(this);

  constructor(keys: Names, transactions: TransactionTable, initial: (key: string) => Image | undefined) {
    this.#keys = keys;
    this.#transactions = transactions;
    this.#initial = initial;
  }

  get size(): number {
    return this.#size;
  }

  key(row: number): string {
    return this.#keys.name(row);
  }

  /** Makes rows of all keys that have been named. */
  meet(row: number): void {
    while (this.#size <= row) this.#add();
  }

  #add(): void {
    const row = this.#size;
    if (row === this.isClouded.length) this.#grow(Math.max(16, 2 * row));
    this.#size += 1;
    const key = this.#keys.name(row);
    const version = this.versions.add(row, none, none, -Infinity, -Infinity, this.#initial(key));
    this.versions.ofRow.clear(row);
    this.versions.ofRow.append(row, version);
    this.locks.ofRow.clear(row);
    this.owns.ofRow.clear(row);
    if (this.#hasClouds) this.isClouded[row] = this.#clouds.until(key) > -Infinity ? 1 : 0;
    if (!this.#index.isEmpty) this.#index.meet(row, this.versions.image[version]);
  }

  /** Puts a version between the others of its row, by start. O(versions with a later start) */
  insert(version: number): void {
    const { start, row, ofRow } = this.versions;
    const at = row[version];
    let before = ofRow.last[at];
    while (before !== none && start[before] > start[version]) before = ofRow.previous[before];
    ofRow.insertAfter(before, at, version);
    if (!this.#index.isEmpty) this.#index.add(at, this.versions.image[version]);
  }

  /** A read has shown what the version holds in columns that were not known. */
  learn(version: number, read: Image): void {
    const { image, row } = this.versions;
    const known = image[version];
    const more = learned(known, read);
    if (more === known) return;
    image[version] = more;
    if (!this.#index.isEmpty) this.#index.add(row[version], more);
  }

  /** Does one of the row's versions hold the value in the column? */
  holds(row: number, column: string, value: Scalar): boolean {
    const { image, ofRow } = this.versions;
    for (let version = ofRow.first[row]; version !== none; version = ofRow.next[version]) {
      const known = image[version];
      if (isColumns(known) && known.get(column) === value) return true;
    }
    return false;
  }

  /** What the versions of the row hold, by start. */
  imagesOf(row: number): readonly (Image | undefined)[] {
    const images: (Image | undefined)[] = [];
    const { image, ofRow } = this.versions;
    for (let version = ofRow.first[row]; version !== none; version = ofRow.next[version]) images.push(image[version]);
    return images;
  }

  /** Drops versions that no snapshot from `horizon` on can see. @returns through `onWriter` whose they were */
  dropGarbage(row: number, horizon: number, onWriter: (writer: number) => void): void {
    const { start, end, isDefinite, ofRow } = this.versions;
    const first = ofRow.first[row];
    if (first === ofRow.last[row]) return;
    let pivot = -Infinity;
    for (let version = first; version !== none; version = ofRow.next[version])
      if (isDefinite[version] === 1 && end[version] < horizon && start[version] > pivot) pivot = start[version];
    if (pivot === -Infinity) return;
    for (let version = first; version !== none; ) {
      const after = ofRow.next[version];
      if (end[version] < pivot) {
        const writer = this.versions.writer[version];
        this.#removeVersion(version);
        if (writer !== none) onWriter(writer);
      }
      version = after;
    }
  }

  #removeVersion(version: number): void {
    const at = this.versions.row[version];
    this.versions.ofRow.remove(at, version);
    if (!this.#index.isEmpty) this.#index.remove(at, this.versions.image[version]);
    for (let reader = this.versions.firstReader[version]; reader !== none; ) {
      const following = this.readers.next[reader];
      this.readers.remove(reader);
      reader = following;
    }
    this.versions.remove(version);
  }

  /** Notes that the transaction read this version in the operation. O(1) on average */
  addReader(version: number, transaction: number, operation: number): void {
    const { versions, readers } = this;
    if (versions.readers[version] >= versions.readersMax[version]) this.#pruneReaders(version);
    const serial = this.#transactions.serial[transaction];
    versions.firstReader[version] = readers.add(transaction, serial, operation, versions.firstReader[version]);
    versions.readers[version] += 1;
  }

  #pruneReaders(version: number): void {
    const { versions, readers } = this;
    let [first, count] = [none, 0];
    for (let reader = versions.firstReader[version]; reader !== none; ) {
      const following = readers.next[reader];
      if (this.isReaderAlive(reader)) {
        readers.next[reader] = first;
        first = reader;
        count += 1;
      } else readers.remove(reader);
      reader = following;
    }
    versions.firstReader[version] = first;
    versions.readers[version] = count;
    versions.readersMax[version] = Math.max(16, 2 * count);
  }

  /** May what it read still matter? */
  isReaderAlive(reader: number): boolean {
    const transaction = this.readers.transaction[reader];
    const transactions = this.#transactions;
    return transactions.serial[transaction] === this.readers.serial[reader] && !transactions.isRetired(transaction);
  }

  lock(row: number, transaction: number, operation: number, isExclusive: boolean, image: Image | undefined): void {
    const { locks } = this;
    const lock = locks.add(row, transaction, operation, isExclusive, image);
    locks.ofRow.append(row, lock);
    const { firstLock, lastLock } = this.#transactions;
    if (firstLock[transaction] === none) firstLock[transaction] = lock;
    else locks.next[lastLock[transaction]] = lock;
    lastLock[transaction] = lock;
  }

  /** Takes the transaction's locks away. O(its locks) */
  dropLocks(transaction: number): void {
    const { locks } = this;
    const { firstLock, lastLock } = this.#transactions;
    for (let lock = firstLock[transaction]; lock !== none; ) {
      const following = locks.next[lock];
      locks.ofRow.remove(locks.row[lock], lock);
      locks.remove(lock);
      lock = following;
    }
    firstLock[transaction] = none;
    lastLock[transaction] = none;
  }

  /** Has it ever written the row, also if that was undone? O(locks on the row) */
  hasWritten(transaction: number, row: number): boolean {
    const { locks } = this;
    for (let lock = locks.ofRow.first[row]; lock !== none; lock = locks.ofRow.next[lock])
      if (locks.transaction[lock] === transaction && locks.image[lock] !== undefined) return true;
    return false;
  }

  /** What the transaction has written to the row, or `none`. O(open transactions that have written it) */
  own(row: number, transaction: number): number {
    const { owns } = this;
    for (let own = owns.ofRow.first[row]; own !== none; own = owns.ofRow.next[own])
      if (owns.transaction[own] === transaction) return own;
    return none;
  }

  addOwn(row: number, transaction: number, operation: number, end: number, image: Image): void {
    const own = this.owns.add(row, transaction, operation, end, image);
    this.owns.ofRow.insertAfter(none, row, own);
    const { firstOwn, lastOwn } = this.#transactions;
    if (firstOwn[transaction] === none) firstOwn[transaction] = own;
    else this.owns.next[lastOwn[transaction]] = own;
    lastOwn[transaction] = own;
  }

  /** Forgets what the transaction has written. */
  dropOwn(transaction: number): void {
    const { owns } = this;
    for (let own = this.#transactions.firstOwn[transaction]; own !== none; ) {
      const following = owns.next[own];
      owns.ofRow.remove(owns.row[own], own);
      owns.remove(own);
      own = following;
    }
    this.#transactions.firstOwn[transaction] = none;
    this.#transactions.lastOwn[transaction] = none;
  }

  /** Any row of these tables may have been written by the transaction; `*`: of all tables. */
  cloud(transaction: number, tables: readonly string[]): void {
    this.#hasClouds = true;
    for (const table of this.#clouds.add(transaction, tables))
      for (let row = 0; row < this.#size; row += 1)
        if (table === '*' || isOf(this.key(row), table)) this.isClouded[row] = 1;
  }

  /** @param end of a transaction that may have clouded tables; Infinity: unknown */
  endClouds(transaction: number, end: number): void {
    if (this.#hasClouds) this.#clouds.end(transaction, end);
  }

  /** Is it unknown what the row holds for reads at `time` or later? O(versions) where its table was ever clouded */
  isHidden(row: number, time: number): boolean {
    if (this.isClouded[row] === 0) return false;
    const until = this.#clouds.until(this.key(row));
    const { start, end, isDefinite, ofRow } = this.versions;
    for (let version = ofRow.first[row]; version !== none; version = ofRow.next[version])
      if (isDefinite[version] === 1 && start[version] > until && end[version] < time) return false;
    return true;
  }

  /** May a row with this key have been deleted, and another inserted, by one transaction that committed between these? O(versions) */
  mayBeReplaced(row: number, from: number, to: number): boolean {
    const { start, end, isNew, ofRow } = this.versions;
    for (let version = ofRow.first[row]; version !== none; version = ofRow.next[version])
      if (isNew[version] === 1 && start[version] <= to && end[version] >= from) return true;
    return false;
  }

  isOf(row: number, table: string): boolean {
    return isOf(this.key(row), table);
  }

  /** Rows of the table of which some version may satisfy the conditions: too many, never too few; each once, in order. */
  rowsWhere(table: string, where: readonly Condition[]): readonly number[] {
    return this.#index.find(table, where);
  }

  #grow(capacity: number): void {
    for (const { ofRow } of [this.versions, this.locks, this.owns]) ofRow.growRows(capacity);
    this.isClouded = grownBytes(this.isClouded, capacity);
  }
}
