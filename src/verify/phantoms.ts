/**
 * Phantoms: a reader of all rows for which conditions hold comes before the writer of another such row after its snapshot (Adya's predicate
 * anti-dependency). The row was inserted, or did not satisfy the conditions before: else it would have been returned.
 *
 * Cost: O(versions that a transaction installs x predicate reads of their tables that are kept).
 */
import { mayOverlap } from './anti-dependency.ts';
import type { Mirror } from './mirror.ts';
import { qualifies } from './predicate-read.ts';
import { none } from './slots.ts';
import type { PredicateRead } from '../trace/index.ts';
import { fateCode } from './transaction-table.ts';

export interface PredicateReader {
  readonly transaction: number;
  readonly predicate: PredicateRead;
  readonly returned: ReadonlySet<number>;
  /** Its snapshot is not later. */
  readonly end: number;
}

interface Kept extends PredicateReader {
  /** Of the transaction, whose position may be another's by now. */
  readonly serial: number;
}

interface Table {
  readers: Kept[];
  /** So many are taken before those that no longer matter are looked for. */
  max: number;
}

export class Phantoms {
  readonly #tables = new Map<string, Table>();

  /** @param rows of which a version may satisfy the conditions: the reader is related to these, and to what is written from now on */
  add(mirror: Mirror, reader: PredicateReader, rows: readonly number[]): void {
    const { certifier } = mirror.mechanisms;
    const { fate, serial } = mirror.transactions;
    if (certifier === null || certifier === 'percolator' || fate[reader.transaction] === fateCode.aborted) return;
    for (const row of rows) relateRow(mirror, reader, row);
    const { table } = reader.predicate;
    const known = this.#tables.get(table) ?? { readers: [], max: 16 };
    this.#tables.set(table, known);
    if (known.readers.length >= known.max) {
      known.readers = known.readers.filter((kept) => isAlive(mirror, kept));
      known.max = Math.max(16, 2 * known.readers.length);
    }
    known.readers.push({ ...reader, serial: serial[reader.transaction] });
  }

  /** Relates readers to the versions that the transaction has installed. */
  relate(mirror: Mirror, transaction: number): void {
    if (this.#tables.size === 0) return;
    const { rows, transactions } = mirror;
    const { owns } = rows;
    for (let own = transactions.firstOwn[transaction]; own !== none; own = owns.next[own])
      for (const [table, { readers }] of this.#tables) {
        if (!rows.isOf(owns.row[own], table)) continue;
        for (const reader of readers)
          if (isAlive(mirror, reader)) relate(mirror, reader, owns.row[own], owns.version[own]);
      }
  }
}

function isAlive({ transactions }: Mirror, { transaction, serial }: Kept): boolean {
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
