/**
 * Keeps the commit orders small: their cost grows with the square of the transactions. When more than `windowMax` finished transactions are
 * held, the older half becomes part of the initial state.
 *
 * Let P be the transactions that go. `CommitOrders.fix` first lets only those commit orders count that begin with P, in one fixed order;
 * there is one, for P is a start of a commit order that still fits. From then on no transaction may read a version by P but the last of its key in
 * that order, except who did so already (or may have to continue, to keep one snapshot): the old readers. When they have ended, P goes:
 * the last version of each key is taken for the initial one, and node 0 of the orders for each of P.
 *
 * Nothing but what the level allows comes of it. Let co' be a commit order of what is left, P standing for the initial state. Then P in its
 * order, followed by co', is one of the whole history. Take a read by t3 of a key from t1, and t2 that writes the key and is visible to the
 * read. Visible implies t2 < t3, at every level, along a way on which each step goes up in co:
 *  - t3 in P: so are t1 and t2, and the order of P satisfied the level when it was fixed.
 *  - t3 not in P, t2 not in P: the way lies outside P, so t2 is visible in what is left too: t2 < t1 in co' (t1 is not in P then).
 *  - t3 not in P, t2 in P, t1 not in P: t2 < t1.
 *  - t3 not in P, t2 and t1 in P: t1 is the last of P that wrote the key, and t2 < t1; or t3 is an old reader. It has ended, all pairs
 *    within P and from P to others are in the orders, and what is visible to a read at the levels but snapshot-isolation depends on
 *    nothing else: the read was checked against t2. At snapshot-isolation it depends also on which t4, with t2 before t4, writes a key
 *    that t3 writes and is before t3. For the t4 that have committed the orders have t3 < t4 (or t4 < t2), for that is what
 *    forbids; before those that are open or begin later t3 is put: the barrier.
 * At read-committed what is visible to a read is settled when it is made: no transaction is an old reader.
 *
 * The price: who began before P was fixed, reads at a strong level and stays open, is refused more often; after `openMax` transactions it is
 * given up, as servers do with snapshots that are too old.
 */
import type { CommitOrders } from '../../isolation/index.ts';
import type { Version } from './version.ts';
import { isThere, type StoredRow, type Cell } from './table.ts';
import type { Transaction } from './transaction.ts';

interface WindowOptions {
  /** `undefined`: 200, and 50 while reads at prefix or above are held. */
  readonly windowMax: number | undefined;
  /** The store gives up this transaction: it leaves no trace. */
  readonly giveUp: (transaction: Transaction) => void;
}

/** At prefix and up every read stays open to every later commit: what a read costs grows faster with what is held. */
const windowsMax = { weak: 200, strong: 50 };

/** What is about to go, and who still may read older versions of it. */
interface Leaving {
  readonly first: readonly Transaction[];
  readonly oldReaders: Set<Transaction>;
}

export class Window {
  orders: CommitOrders;
  /** The transactions by node; 0 is the initial state. */
  #transactions: (Transaction | null)[] = [null];
  #cells: Cell[] = [];
  readonly #options: WindowOptions;
  #open = 0;
  #leaving: Leaving | null = null;

  constructor(orders: CommitOrders, options: WindowOptions) {
    this.orders = orders;
    this.#options = options;
  }

  began(transaction: Transaction): void {
    this.#transactions[transaction.node] = transaction;
    this.#open += 1;
  }

  /** Those that are kept apart from the initial state. */
  *transactions(): Iterable<Transaction> {
    for (const transaction of this.#transactions)
      if (transaction !== null && (transaction.status === 'open' || transaction.status === 'committed'))
        yield transaction;
  }

  /** The cell's key in the commit orders. */
  keyOf(cell: Cell): number {
    if (cell.key < 0) cell.key = this.#cells.push(cell) - 1;
    return cell.key;
  }

  /** The versions that `reader` may choose from, by what has left or is leaving, the oldest first. */
  offered(cell: Cell, reader: Transaction): Version[] {
    const versions = [cell.base, ...cell.versions];
    if (this.#leaving === null || this.#leaving.oldReaders.has(reader)) return versions;
    const last = lastToLeave(cell);
    return last === null ? versions : versions.filter((v) => v === last || !(v === cell.base || v.writer.fixedAt >= 0));
  }

  ended(transaction: Transaction): void {
    this.#open -= 1;
    const windowMax = this.#max;
    if (this.#leaving === null && this.#finished > windowMax) this.#fix();
    this.#leaving?.oldReaders.delete(transaction);
    if (this.#leaving?.oldReaders.size === 0 && this.#settleSnapshots()) this.#leave();
    else if (this.#finished > windowMax * OPEN_MAX) this.#giveUpOldest();
  }

  get #max(): number {
    const { strongReads } = this.orders.observed;
    return this.#options.windowMax ?? (strongReads > 0 ? windowsMax.strong : windowsMax.weak);
  }

  get #finished(): number {
    return this.#transactions.length - 1 - this.#open;
  }

  #isOpen = (node: number): boolean => this.#transactions[node]?.status === 'open';

  #fix(): void {
    const start = this.orders.closedStart(this.#isOpen);
    const nodes = start.slice(0, Math.max(0, this.#finished - Math.floor(this.#max / 2)));
    if (nodes.length * 8 < this.#max) return; // what is open holds up too much: wait for it
    const first = nodes.map((node) => this.#transactions[node] as Transaction);
    for (const [i, transaction] of first.entries()) transaction.fixedAt = i;
    const lastOf = this.#lastWriters(nodes);
    const others = this.#transactions.filter((t): t is Transaction => t !== null && t.fixedAt < 0);
    const reachesBack = (t: Transaction): boolean => this.#readsOlder(t, lastOf);
    const barrier = others.filter((t) => t.level === 'snapshot-isolation' && (t.status === 'open' || reachesBack(t)));
    this.orders.fix(
      nodes,
      barrier.map(({ node }) => node),
    );
    const open = others.filter(({ status, level }) => status === 'open' && level !== 'read-committed');
    this.#leaving = { first, oldReaders: new Set(open.filter(reachesBack)) };
  }

  /** The barrier against who is open. Where one of them has to come earlier, its end is waited for too. */
  #settleSnapshots(): boolean {
    const { first, oldReaders } = this.#leaving as Leaving;
    const lastOf = this.#lastWriters(first.map(({ node }) => node));
    const others = this.#transactions.filter((t): t is Transaction => t !== null && t.fixedAt < 0);
    const readers = others.filter((t) => t.level === 'snapshot-isolation' && this.#readsOlder(t, lastOf));
    const nodes = readers.map(({ node }) => node);
    let isSettled = true;
    for (const transaction of readers.length === 0 ? [] : others) {
      if (transaction.status !== 'open' || this.orders.putBefore(nodes, [transaction.node])) continue;
      oldReaders.add(transaction);
      isSettled = false;
    }
    return isSettled;
  }

  /** The last writer of each key among `nodes`, which are in order. */
  #lastWriters(nodes: readonly number[]): Map<number, number> {
    const lastOf = new Map<number, number>();
    for (const node of nodes) for (const key of this.orders.observed.writesBy(node)) lastOf.set(key, node);
    return lastOf;
  }

  #readsOlder({ node }: Transaction, lastOf: ReadonlyMap<number, number>): boolean {
    const { observed } = this.orders;
    return observed.readsBy(node).some((read) => {
      const from = observed.sourceOf(read);
      const last = lastOf.get(observed.keyOf(read));
      const isLeaving = from === 0 || (this.#transactions[from] as Transaction).fixedAt >= 0;
      return last !== undefined && last !== from && isLeaving;
    });
  }

  #leave(): void {
    const { first } = this.#leaving as Leaving;
    this.#leaving = null;
    const cells = new Set(first.flatMap((t) => (t.status === 'committed' ? t.own.cells : [])));
    const rows = new Set<StoredRow>();
    for (const cell of cells) {
      cell.base = lastToLeave(cell) ?? cell.base;
      cell.keepVersions(({ writer }) => writer.fixedAt < 0);
      rows.add(cell.row);
    }
    this.#shorten(first.map(({ node }) => node));
    for (const transaction of first) {
      transaction.fixedAt = -1;
      transaction.own.forgetWrites();
    }
    for (const row of rows) if (row.isListed) forgetOldKeys(row);
  }

  #shorten(nodes: readonly number[]): void {
    const { orders, nodeOf, keyOf } = this.orders.without(nodes, this.#isOpen);
    const transactions: (Transaction | null)[] = [null];
    for (const transaction of this.#transactions) {
      if (transaction === null) continue;
      transaction.node = nodeOf[transaction.node] as number;
      if (transaction.node > 0) transactions[transaction.node] = transaction;
    }
    const cells: Cell[] = [];
    for (const [old, cell] of this.#cells.entries()) {
      cell.key = keyOf.get(old) ?? -1;
      if (cell.key >= 0) cells[cell.key] = cell;
    }
    this.orders = orders;
    this.#transactions = transactions;
    this.#cells = cells;
  }

  /** What blocks the window: the old readers, or the first that is open. */
  #giveUpOldest(): void {
    const open = this.#transactions.filter((t) => t?.status === 'open') as Transaction[];
    const oldest = this.#leaving === null ? open.slice(0, 1) : [...this.#leaving.oldReaders];
    for (const transaction of oldest) if (transaction.status === 'open') this.#options.giveUp(transaction);
  }
}

/** Over how many windows a transaction may stay open where others wait for it. */
const OPEN_MAX = 8;

/** The version that stays when those that are leaving have left; `null` where none is. */
function lastToLeave(cell: Cell): Version | null {
  let last: Version | null = null;
  for (const version of cell.versions) {
    if (version.writer.fixedAt >= 0 && version.writer.fixedAt > (last?.writer.fixedAt ?? -1)) last = version;
  }
  return last;
}

/** The row can no longer be seen as it was: its old keys go, and it itself, if it is nowhere to be seen. */
function forgetOldKeys(row: StoredRow): void {
  const existence = row.cell(0);
  const canBeSeen = [existence.base, ...existence.versions].some(({ held }) => isThere(held));
  if (!canBeSeen) row.table.unlist(row);
  else row.table.reindex(row);
}
