/**
 * What the two engines with versions of rows share: tables by number, transactions that are open, commits in order, and the rows whose old versions go
 * when no snapshot can see them any more.
 */
import { assert, SmallMap } from '../base/index.ts';
import type {
  Storage,
  StorageTransaction,
  TableId,
  TableShape,
  TransactionOptions,
  SqlValue,
} from '../sql/model/index.ts';
import type { Footprint, FootprintRecorder } from './footprint.ts';
import type { StorageObserver } from './observer.ts';

export interface VersionedStorageOptions {
  readonly observer?: StorageObserver;
  /** Collects the footprint of every step. */
  readonly footprints?: FootprintRecorder | null;
}

interface Overwritten<Row> {
  readonly rows: readonly Row[];
  readonly commit: number;
}

export abstract class VersionedStorage<
  Table extends { readonly shape: TableShape },
  Row,
  Transaction extends StorageTransaction,
> implements Storage
{
  readonly observer: StorageObserver | null;
  readonly open = new SmallMap<number, Transaction>();
  readonly #footprints: FootprintRecorder | null;
  readonly #tables = new Map<TableId, Table>();
  #commits = 0;
  #transactions = 0;
  /** Rows with versions to drop when no snapshot is older than the commit that wrote over them. In order of commit. */
  readonly #overwritten: Overwritten<Row>[] = [];

  constructor({ observer, footprints }: VersionedStorageOptions) {
    this.observer = observer ?? null;
    this.#footprints = footprints ?? null;
  }

  protected abstract copyOfTable(table: Table): Table;
  protected abstract newTable(shape: TableShape): Table;
  protected abstract newTransaction(id: number, session: number, options: TransactionOptions): Transaction;
  /** The last commit that an open transaction sees. */
  protected abstract snapshotOf(transaction: Transaction): number;
  abstract alterTable(shape: TableShape, convert?: (values: readonly SqlValue[]) => SqlValue[]): void;

  /** Of the step under way; `null` without a recorder. */
  get footprint(): Footprint | null {
    return this.#footprints === null ? null : this.#footprints.current;
  }

  /** Is no transaction open, so that each row has one version and no locks? */
  get isSettled(): boolean {
    return this.open.size === 0 && this.#overwritten.length === 0;
  }

  /** As another storage is, which `isSettled`: its tables with their rows, and its numbering. This one is new. Linear in the rows. */
  copyFrom(other: VersionedStorage<Table, Row, Transaction>): void {
    assert(other.isSettled && this.#tables.size === 0, 'a storage without open transactions is copied to a new one');
    for (const [id, table] of other.#tables) this.#tables.set(id, this.copyOfTable(table));
    this.#commits = other.#commits;
    this.#transactions = other.#transactions;
  }

  createTable(shape: TableShape): void {
    this.footprint?.touchAll();
    assert(!this.#tables.has(shape.id), `table ${shape.id} is new`);
    this.#tables.set(shape.id, this.newTable(shape));
  }

  dropTable(table: TableId): void {
    this.footprint?.touchAll();
    this.#tables.delete(table);
  }

  begin(session: number, options: TransactionOptions): StorageTransaction {
    const transaction = this.newTransaction(++this.#transactions, session, options);
    this.open.set(transaction.id, transaction);
    return transaction;
  }

  table(id: TableId): Table {
    const table = this.#tables.get(id);
    assert(table !== undefined, `table ${id} exists`);
    return table;
  }

  /** For messages; sequences are locked, too, and stored elsewhere. */
  nameOf(id: TableId): string {
    return this.#tables.get(id)?.shape.name ?? `sequence ${id}`;
  }

  /** The number of the last commit: a snapshot, or a read view. */
  get lastCommit(): number {
    return this.#commits;
  }

  nextCommit(): number {
    return ++this.#commits;
  }

  /** Rows of which old versions are kept. */
  protected get overwritten(): readonly Overwritten<Row>[] {
    return this.#overwritten;
  }

  /** A transaction has ended and written over these rows. */
  protected close(transaction: Transaction, overwritten: readonly Row[]): void {
    this.open.delete(transaction.id);
    if (overwritten.length > 0) this.#overwritten.push({ rows: overwritten, commit: this.#commits });
  }

  /** Drops what no snapshot can see. @param prune the versions of a row before the oldest snapshot's */
  protected dropUnseen(prune: (row: Row, oldest: number) => void): void {
    if (this.#overwritten.length === 0) return;
    let oldest = this.#commits;
    for (const transaction of this.open.values()) oldest = Math.min(oldest, this.snapshotOf(transaction));
    let done = 0;
    for (const { rows, commit } of this.#overwritten) {
      if (commit > oldest) break;
      for (const row of rows) prune(row, oldest);
      done += 1;
    }
    if (done > 0) this.#overwritten.splice(0, done);
  }
}
