/**
 * Phantoms: a reader of all rows for which conditions hold comes before the writer of another such row after its snapshot (Adya's predicate
 * anti-dependency). The row was inserted, or did not satisfy the conditions before: else it would have been returned.
 *
 * Cost: O(versions that a transaction installs x predicate reads of their tables that are kept).
 */
import { mayOverlap } from './anti-dependency.ts';
import type { Mirror } from './mirror.ts';
import type { PredicateReader } from './predicate-readers.ts';
import { none } from './slots.ts';
import { fateCode } from './transaction-table.ts';
import { qualifies } from './image.ts';

/** @param rows of which a version may satisfy the conditions: the reader is related to these, and to what is written from now on */
export function addPredicateReader(
  mirror: Mirror,
  read: Omit<PredicateReader, 'serial'>,
  rows: readonly number[],
): void {
  const { certifier } = mirror.mechanisms;
  const { fate, serial } = mirror.transactions;
  if (certifier === null || certifier === 'percolator' || fate[read.transaction] === fateCode.aborted) return;
  const reader = { ...read, serial: serial[read.transaction] };
  for (const row of rows) relateRow(mirror, reader, row);
  mirror.predicateReaders.add(reader, (kept) => isAlive(mirror, kept));
}

/** Relates readers to the versions that the transaction has installed. */
export function relatePhantoms(mirror: Mirror, transaction: number): void {
  const { rows, transactions, predicateReaders } = mirror;
  if (predicateReaders.isEmpty) return;
  const { owns } = rows;
  for (let own = transactions.firstOwn[transaction]; own !== none; own = owns.next[own])
    for (const [table, { readers }] of predicateReaders.byTable) {
      if (!rows.isOf(owns.row[own], table)) continue;
      for (const reader of readers)
        if (isAlive(mirror, reader)) relate(mirror, reader, owns.row[own], owns.version[own]);
    }
}

function isAlive({ transactions }: Mirror, { transaction, serial }: PredicateReader): boolean {
  return transactions.serial[transaction] === serial && !transactions.isRetired(transaction);
}

function relateRow(mirror: Mirror, reader: PredicateReader, row: number): void {
  const { versions } = mirror.rows;
  for (let version = versions.ofRow.first[row]; version !== none; version = versions.ofRow.next[version])
    relate(mirror, reader, row, version);
}

function relate(mirror: Mirror, reader: PredicateReader, row: number, version: number): void {
  const { rows, transactions } = mirror;
  const { versions } = rows;
  const { transaction, predicate, returned, end } = reader;
  const writer = versions.writer[version];
  if (writer === none || writer === transaction || versions.isDefinite[version] === 0) return;
  if (versions.start[version] <= end || !qualifies(versions.image[version], predicate.where)) return;
  if (returned.has(row) || rows.hasWritten(transaction, row)) return;
  if (transactions.fate[transaction] === fateCode.aborted || !mayOverlap(mirror, transaction, writer)) return;
  mirror.depend(transaction, writer, 'rw+', row);
}
