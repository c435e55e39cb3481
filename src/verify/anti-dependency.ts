/**
 * Anti-dependencies (rw): the reader of a version comes before the writer of a later one. Serializable snapshot isolation sees a conflict with who
 * wrote the next version only (PostgreSQL's scan of a row's versions stops at the visible one), and what it forbids is made of these: `rw`.
 * With who wrote a later one there is an order all the same: `rw+`.
 */
import type { Mirror, Relation } from './mirror.ts';
import { none } from './slots.ts';
import { fateCode } from './transaction-table.ts';

/** @param later a version that is surely after the one that was read. O(versions of the row and open transactions that have written it) */
export function antiDependency(mirror: Mirror, row: number, read: number, later: number): Relation {
  if (mirror.mechanisms.certifier !== 'ssi') return 'rw';
  return isNext(mirror, row, read, later) ? 'rw' : 'rw+';
}

/** Is it surely the next version? Whatever is before it was committed before its writer had the lock, and is known when its commit is. */
function isNext(mirror: Mirror, row: number, earlier: number, later: number): boolean {
  const { rows, operations } = mirror;
  const { versions } = rows;
  const locked = operations.end[versions.operation[later]];
  if (locked > versions.start[later] || rows.isHidden(row, versions.start[later])) return false;
  for (let other = rows.versions.ofRow.first[row]; other !== none; other = versions.ofRow.next[other]) {
    if (other === earlier || other === later) continue;
    if (!versions.isSurelyAfter(earlier, other) && !versions.isSurelyAfter(other, later)) return false;
  }
  return !mayHaveCommitted(mirror, row, locked);
}

/** Has an open transaction written the row before `time`? No one may have seen its commit. */
function mayHaveCommitted({ rows, transactions }: Mirror, row: number, time: number): boolean {
  const { owns } = rows;
  for (let own = rows.owns.ofRow.first[row]; own !== none; own = owns.ofRow.next[own])
    if (transactions.fate[owns.transaction[own]] === fateCode.open && owns.end[own] < time) return true;
  return false;
}

/** A reader that was over before the writer began can be on no cycle with it. */
export function mayOverlap({ transactions }: Mirror, reader: number, writer: number): boolean {
  return transactions.endEnd[reader] >= transactions.first[writer];
}
