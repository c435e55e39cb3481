/**
 * What a scan did not find. A scan reads the existence of every row that may be there when it runs; a row that is inserted later, or gets a
 * key of the scanned range later, is none of them. For the axioms it was read all the same: it was found not to be there. So when the
 * transaction that brings such a row commits, those who have scanned its place before read, after the fact, a version that was there
 * then. At read committed this asks nothing of anyone, for what is visible to a read is what was read before it.
 */
import type { CommitOrders } from '../../isolation/index.ts';
import { initialWriter, type Version } from './version.ts';
import type { Key } from './row-index.ts';
import { isThere, type StoredRow, type Cell, type TableIndex } from './table.ts';
import type { Scan, Transaction } from './transaction.ts';
import type { Window } from './window.ts';

/** Makes the reads of those who missed what `writer` is about to commit. @returns false where one of them can have seen nothing else */
export function readMissed(writer: Transaction, window: Window): boolean {
  const brought = rowsBrought(writer);
  if (brought.length === 0) return true;
  for (const reader of window.transactions()) {
    if (reader === writer || reader.fixedAt >= 0 || reader.scans.length === 0) continue;
    for (const place of brought) {
      const scan = scanThatMissed(reader, place);
      if (scan !== null && !place.cells.every((cell) => readOlder(reader, cell, window, scan.at))) return false;
    }
  }
  return true;
}

/** A row that can be found where it could not be found before. */
interface Brought {
  readonly row: StoredRow;
  readonly keys: readonly { readonly index: TableIndex; readonly key: Key }[];
  /** What tells that it was not there. */
  readonly cells: readonly Cell[];
}

function rowsBrought(writer: Transaction): Brought[] {
  const keysOf = new Map<StoredRow, { index: TableIndex; key: Key }[]>();
  for (const row of writer.inHand) if (!row.isListed && writer.own.last(row.cell(0)) !== undefined) keysOf.set(row, []);
  for (const { row, index, key } of writer.pendingKeys) {
    const shape = row.table.indexes[index];
    if (shape !== undefined) keysOf.set(row, [...(keysOf.get(row) ?? []), { index: shape, key }]);
  }
  return [...keysOf].map(([row, keys]) => ({
    row,
    keys,
    cells: row.isListed ? keyCells(writer, row, keys) : [row.cell(0)],
  }));
}

/** The cells that `writer` has written and that keys are made of. */
function keyCells(writer: Transaction, row: StoredRow, keys: Brought['keys']): Cell[] {
  return writer.own.cells.filter(
    (cell) => cell.row === row && (cell.slot === 0 || keys.some(({ index }) => index.dependsOn([cell.slot - 1]))),
  );
}

function scanThatMissed(reader: Transaction, { row, keys }: Brought): Scan | null {
  const found = reader.scans.find(({ table, path }) => {
    if (table !== row.table) return false;
    if (path.kind === 'all') return !row.isListed;
    return keys.some(({ index, key }) => index.shape.id === path.index && index.covers(path, key));
  });
  return found ?? null;
}

/**
 * The newest version that it may have read; its own write and what it has read anyway need no other. It gets no new source, for that
 * would change what it and those who read from it see. @param at when it looked @returns is it settled?
 */
function readOlder(reader: Transaction, cell: Cell, window: Window, at: number): boolean {
  if (reader.hasRead(cell) || reader.own.last(cell) !== undefined || sawNoRow(reader, cell)) return true;
  const { orders } = window;
  const key = window.keyOf(cell);
  const version = window
    .offered(cell, reader)
    .findLast((each) => isOpenTo(reader, each, orders) && orders.allowsRead(reader.node, key, each.node));
  if (version === undefined) return weak.has(reader.level);
  orders.read(reader.node, key, version.node);
  reader.noteMissed(cell, version, at);
  return true;
}

/** Where it has found that the row is not there, its columns do not matter. */
function sawNoRow(reader: Transaction, { row }: Cell): boolean {
  const existence = row.cell(0);
  return reader.hasRead(existence) && !isThere(reader.lastRead(existence));
}

/** What has become part of the initial state since may have come after who has committed. */
function isOpenTo(reader: Transaction, { writer, node: source }: Version, { observed }: CommitOrders): boolean {
  if (source === 0) return reader.status === 'open' || writer === initialWriter;
  return observed.readsBy(reader.node).some((read) => observed.sourceOf(read) === source);
}

/** At these a key that changes later may have been seen by no one: earlier scans demand nothing. */
const weak: ReadonlySet<string> = new Set(['read-committed', 'read-atomic', 'causal']);
