/** The versions of a transaction that commits: where they stand among those of their rows, and what depends on them. */
import { verifyFirstUpdater } from './first-updater-wins.ts';
import type { Mirror } from './mirror.ts';
import { mayOverlap } from './consistent-read.ts';
import {
  dropGarbage,
  isColumns,
  isSurelyAfter,
  merged,
  type OwnWrite,
  type Row,
  type VerifiedTransaction,
  type Version,
} from './state.ts';
import type { RowImage, TraceOperation } from './trace.ts';

/** Puts a version of every row that the transaction wrote into the row's list. */
export function installVersions(mirror: Mirror, transaction: VerifiedTransaction, commit: TraceOperation): void {
  const start = mirror.mechanisms.install === 'commit' ? commit.start : transaction.first;
  const horizon = mirror.horizon();
  for (const [row, own] of transaction.own) {
    dropGarbage(row, horizon);
    const version: Version = {
      writer: transaction,
      operation: own.operation,
      start,
      end: commit.end,
      image: wholeImage(mirror, row, own, start),
      isDefinite: commit.end !== Infinity,
      successors: null,
      readers: null,
    };
    insert(row, version);
    transaction.versions.push({ row, version });
  }
}

function insert({ versions }: Row, version: Version): void {
  let at = versions.length;
  while (at > 0 && (versions[at - 1] as Version).start > version.start) at -= 1;
  versions.splice(at, 0, version);
}

/**
 * The columns that a write does not name are those of the version before it, where locks leave no doubt which that is; else they stay
 * unknown. Without locks another version may still come between.
 */
function wholeImage(mirror: Mirror, row: Row, { image, end }: OwnWrite, start: number): RowImage {
  const last = row.versions.at(-1);
  if (!isColumns(image) || last === undefined || mirror.mechanisms.mutualExclusion === 'none') return image;
  if (mirror.mechanisms.install !== 'commit' || end >= start || last.end >= start || !isColumns(last.image))
    return image;
  const isLast = row.versions.every((other) => other === last || (other.isDefinite && other.end < last.start));
  return isLast ? merged(last.image, image) : image;
}

/** What the transaction's versions follow, and who read what they overwrite. */
export function relateVersions(mirror: Mirror, transaction: VerifiedTransaction): void {
  const { firstUpdaterWins, certifier } = mirror.mechanisms;
  const isChecked = (firstUpdaterWins || certifier === 'percolator') && !transaction.isAbandoned;
  for (const { row, version } of transaction.versions) {
    if (isChecked) verifyFirstUpdater(mirror, row, version, follow);
    relateWriters(mirror, transaction, row, version);
    relateReaders(mirror, transaction, row, version);
  }
}

function follow(earlier: Version, later: Version): void {
  if (earlier.end < later.start) return;
  earlier.successors ??= [];
  if (!earlier.successors.includes(later)) earlier.successors.push(later);
}

function relateWriters(mirror: Mirror, transaction: VerifiedTransaction, row: Row, version: Version): void {
  let pivot = -Infinity;
  for (const { isDefinite, start, end } of row.versions)
    if (isDefinite && end < version.start) pivot = Math.max(pivot, start);
  for (const other of row.versions) {
    if (other === version || other.writer === null || other.end < pivot) continue;
    if (!other.isDefinite) mirror.counts.uncertain += 1;
    else if (isSurelyAfter(version, other)) mirror.depend(other.writer, transaction, 'ww', row.key);
    else if (isSurelyAfter(other, version)) mirror.depend(transaction, other.writer, 'ww', row.key);
    else mirror.counts.uncertain += 1;
  }
}

function relateReaders(mirror: Mirror, transaction: VerifiedTransaction, row: Row, version: Version): void {
  for (const other of row.versions) {
    if (other.readers === null || other === version || !isSurelyAfter(version, other)) continue;
    for (const reader of other.readers) {
      const counts = reader !== transaction && reader.fate !== 'aborted' && !reader.isRetired;
      if (counts && mayOverlap(reader, transaction)) mirror.depend(reader, transaction, 'rw', row.key);
    }
  }
}
