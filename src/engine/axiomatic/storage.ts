/**
 * The mock database for SQL, axiomatic family: a read returns any value that keeps the history at its level, as in MonkeyDB (OOPSLA 2021),
 * sections 4 to 6. The levels are moirai's, not those that SQL names: all transactions are at the store's own, whatever they ask for.
 *
 * A store begins by loading: what is written before `start` is the initial state. Then each transaction is a node of the commit orders
 * (isolation/commit-orders.ts), which are kept to a window of transactions (axiomatic/window.ts). Cells: axiomatic/table.ts. Statements:
 * axiomatic/statement.ts.
 */
import { assert, InputError } from '../../base/index.ts';
import {
  notSupported,
  SqlError,
  type AccessPath,
  type Storage,
  type StorageTransaction,
  type TableId,
  type TableShape,
  type TransactionOptions,
  type SqlValue,
} from '../../sql/model/index.ts';
import type { History } from '../../history/index.ts';
import { CommitOrders, type ConstrainingLevel, constrainingLevels, parseLevel } from '../../isolation/index.ts';
import { AxiomaticCore, type Decisions, type ReadPoint, visibleOf } from '../../mockdb/index.ts';
import type { OperationTimes } from '../engine-profile.ts';
import { alteredTable, isTouched } from './alter.ts';
import { Version } from './version.ts';
import { cellHistory } from './history.ts';
import { readMissed } from './phantoms.ts';
import { LoadTransaction } from './loading.ts';
import { SnapshotTransaction } from './snapshot.ts';
import { type Granularity, isThere, type StoredRow, Table, type Cell } from './table.ts';
import { Statement } from './statement.ts';
import { type Store, Transaction } from './transaction.ts';
import { Window } from './window.ts';
import { WaitsFor } from '../waits-for.ts';
import type { Held } from './held.ts';

export interface AxiomaticStorageOptions {
  readonly level: ConstrainingLevel;
  readonly decisions: Decisions;
  /** What is read and written at once: a column of a row (default, as in the paper), or a row. */
  readonly granularity?: Granularity;
  /** Names for the history; sessions without one are named by their number. */
  readonly sessionNames?: readonly string[];
  /**
   * So many finished transactions are kept apart from the initial state: what reads can go back to. Default 200, and 50 once there are
   * reads at prefix or above, which cost more. Infinity: all; what a transaction costs then grows with the square of those before it.
   */
  readonly windowMax?: number;
}

/** @throws InputError `level/unknown`: also for read-uncommitted, which constrains no read: there is nothing to choose from */
export function axiomaticStorage(options: AxiomaticStorageOptions): AxiomaticStorage {
  return new AxiomaticStorage(options);
}

export class AxiomaticStorage implements Storage, Store {
  readonly waitsFor = new WaitsFor();
  #level: ConstrainingLevel;
  readonly #core: AxiomaticCore;
  readonly #granularity: Granularity;
  readonly #sessionNames: readonly string[];
  readonly #windowMax: number | undefined;
  #window: Window;
  readonly #tables = new Map<TableId, Table>();
  /** How often a name in histories was given, so that no two tables share one. */
  readonly #names = new Map<string, number>();
  readonly #transactions: Transaction[] = [];
  readonly #holders = new Map<StoredRow, Set<Transaction>>();
  #ids = 0;
  #clock = 0;
  #loading = 0;
  #isLoading = true;

  constructor(options: AxiomaticStorageOptions) {
    this.#level = parseLevel(options.level, constrainingLevels);
    this.#core = new AxiomaticCore(options.decisions);
    this.#granularity = options.granularity ?? 'cell';
    this.#sessionNames = options.sessionNames ?? [];
    this.#windowMax = options.windowMax;
    this.#window = this.#newWindow();
  }

  /** Are writes still the initial state? */
  get isLoading(): boolean {
    return this.#isLoading;
  }

  /** How many transactions are kept apart from the initial state. */
  get held(): number {
    return this.#window.orders.observed.nodes - 1;
  }

  /**
   * The latest state is the initial state; history begins here, again if it had begun.
   * @throws InputError `store/open-transactions` while a transaction is open
   */
  start(): void {
    const open = this.#loading + this.#transactions.filter(({ status }) => status === 'open').length;
    if (open > 0)
      throw new InputError('store/open-transactions', `the test cannot start: ${open} transactions are still open`);
    if (!this.#isLoading) {
      for (const [id, table] of this.#tables)
        this.#tables.set(
          id,
          alteredTable(table, table.shape, table.name, (values) => [...values]),
        );
      this.#transactions.length = 0;
      this.#core.reset();
      this.#window = this.#newWindow();
    }
    this.#isLoading = false;
    this.#clock = 0;
  }

  /** From here these decide. */
  decideBy(decisions: Decisions): void {
    this.#core.decisions = decisions;
  }

  /** The level of transactions that begin from now on. @throws InputError `level/unknown` */
  setLevel(level: string): void {
    this.#level = parseLevel(level, constrainingLevels);
  }

  createTable(shape: TableShape): void {
    assert(!this.#tables.has(shape.id), `table ${shape.id} is new`);
    refuseDeferrable(shape);
    this.#tables.set(shape.id, new Table(shape, this.#newName(shape.name), this.#granularity));
  }

  /**
   * Where columns change, the table starts anew from its latest state: under a new name in histories, once it is in them.
   * @throws SqlError 55006 when an open transaction has written to it, 23505 when a new index finds duplicates
   */
  alterTable(shape: TableShape, convert?: (values: readonly SqlValue[]) => SqlValue[]): void {
    const table = this.table(shape.id);
    refuseDeferrable(shape);
    if (this.#transactions.some((t) => t.status === 'open' && t.own.cells.some(({ row }) => row.table === table)))
      throw new SqlError('55006', `cannot alter table "${shape.name}" while open transactions have written to it`);
    const name = isTouched(table) ? this.#newName(shape.name) : table.name;
    this.#tables.set(shape.id, alteredTable(table, shape, name, convert));
  }

  dropTable(table: TableId): void {
    this.#tables.delete(table);
  }

  begin(session: number, _options: TransactionOptions): StorageTransaction {
    this.#ids += 1;
    if (this.#isLoading) return this.#beginLoading();
    const attempt = this.#core.begin(session);
    const node = this.#window.orders.begin(session, this.#level);
    const transaction = new Transaction(this, { id: this.#ids, session, attempt, node, level: this.#level });
    this.#window.began(transaction);
    this.#transactions.push(transaction);
    return transaction;
  }

  /**
   * Reads a final state: what a serializable observer after all that has committed may see, by one commit order of the history. It is not in
   * the history, never waits and cannot write (25006).
   */
  beginStrong(_session: number): StorageTransaction {
    this.#ids += 1;
    const position = new Map<number, number>();
    for (const [i, node] of this.#window.orders.commitOrder().entries()) position.set(node, i);
    const at = ({ node }: Version): number => position.get(node) ?? -1;
    const last = (cell: Cell): Version =>
      cell.versions.reduce((found, version) => (at(version) > at(found) ? version : found), cell.base);
    const held = (row: StoredRow, slot: number): Held => {
      const cell = row.cells?.[slot];
      return cell === undefined ? row.initial(slot) : last(cell).held;
    };
    return new SnapshotTransaction(this.#ids, { table: (id) => this.table(id), held });
  }

  /** What happened since the test started. Values are as JSON has them, keys `table/primary key/column`. */
  history(): History {
    return cellHistory(this.#transactions, this.#sessionNames, this.#level);
  }

  /** When each operation of the history happened, on the clock of `now`. */
  operationTimes(): OperationTimes {
    return visibleOf(this.#transactions).map(({ own }) => own.times);
  }

  /** Counts reads, writes and scans since the test started. */
  get now(): number {
    return this.#clock;
  }

  // ---- for transactions and statements

  tick(): number {
    this.#clock += 1;
    return this.#clock;
  }

  statement(transaction: Transaction, number: number): Statement {
    return new Statement(this, transaction, number);
  }

  table(id: TableId): Table {
    const table = this.#tables.get(id);
    assert(table !== undefined, `table ${id} exists`);
    return table;
  }

  externalRead(reader: Transaction, cell: Cell, point: ReadPoint): Version {
    const { orders } = this.#window;
    if (cell.versions.length === 0) {
      // A read of what no other transaction has written can demand something only of what its reader reads later; not at read-committed.
      if (reader.level !== 'read-committed') orders.read(reader.node, this.#window.keyOf(cell), cell.base.node);
      return cell.base;
    }
    const key = this.#window.keyOf(cell);
    return this.#core.read(orders, reader, key, this.#window.offered(cell, reader), point);
  }

  /** @throws SqlError 40001 */
  commit(writer: Transaction): void {
    const { cells } = writer.own;
    const keys = cells.map((cell) => this.#window.keyOf(cell));
    const { orders } = this.#window;
    if (!this.#core.commits(orders, writer, keys, () => readMissed(writer, this.#window))) {
      this.#forget(writer);
      throw new SqlError(
        '40001',
        `could not serialize access: no commit order at ${writer.level} has this transaction`,
      );
    }
    for (const cell of cells) cell.addVersion(new Version(writer, writer.own.last(cell)?.held as Held));
    writer.status = 'committed';
    publish(cells);
    this.#end(writer);
  }

  rollback(transaction: Transaction): void {
    transaction.status = 'aborted';
    this.#end(transaction);
    transaction.own.forgetWrites();
  }

  /** A serialization failure: the transaction leaves no trace. */
  #forget(transaction: Transaction): void {
    transaction.status = 'forgotten';
    this.#core.forget(this.#window.orders, transaction);
    transaction.own.forgetWrites();
    this.#end(transaction);
  }

  #end(transaction: Transaction): void {
    transaction.release();
    this.#window.ended(transaction);
  }

  /** The rows that the latest state, or an open transaction, may have for this path. */
  latestCandidates(table: Table, path: AccessPath): StoredRow[] {
    return table.candidates(path, null, this.#holders.keys());
  }

  tookInHand(row: StoredRow, transaction: Transaction): void {
    const holders = this.#holders.get(row);
    if (holders === undefined) this.#holders.set(row, new Set([transaction]));
    else holders.add(transaction);
  }

  letGo(row: StoredRow, transaction: Transaction): void {
    const holders = this.#holders.get(row);
    holders?.delete(transaction);
    if (holders?.size === 0) this.#holders.delete(row);
  }

  /** Who else has written this row and is open. */
  holders(row: StoredRow, but: Transaction): Transaction[] {
    return [...(this.#holders.get(row) ?? [])].filter((holder) => holder !== but);
  }

  #beginLoading(): StorageTransaction {
    this.#loading += 1;
    const pictured = {
      table: (id: TableId) => this.table(id),
      held: (row: StoredRow, slot: number) => row.initial(slot),
    };
    return new LoadTransaction(this.#ids, pictured, () => {
      this.#loading -= 1;
    });
  }

  #newWindow(): Window {
    const giveUp = (transaction: Transaction): void => this.#forget(transaction);
    return new Window(new CommitOrders(), { windowMax: this.#windowMax, giveUp });
  }

  #newName(name: string): string {
    const count = (this.#names.get(name) ?? 0) + 1;
    this.#names.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  }
}

/** The rows of these cells, which have new versions, can be found by all. */
function publish(cells: readonly Cell[]): void {
  const columns = new Map<StoredRow, number[]>();
  const inserted = new Set<StoredRow>();
  for (const { row, slot, latest } of cells) {
    if (slot === 0 && isThere(latest.held)) inserted.add(row);
    else if (slot > 0) columns.set(row, [...(columns.get(row) ?? []), slot - 1]);
  }
  for (const row of inserted) {
    row.table.list(row);
    row.table.reindex(row);
  }
  for (const [row, written] of columns) if (row.isListed && !inserted.has(row)) row.table.reindex(row, written);
}

/** A row is known by its primary key and a key by its row, so two rows cannot share one even for a moment. */
function refuseDeferrable({ indexes }: TableShape): void {
  if (indexes.some(({ isDeferrable }) => isDeferrable)) throw notSupported('a DEFERRABLE key at an axiomatic level');
}
