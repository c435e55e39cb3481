/** The versions of a transaction that commits: where they stand among those of their rows, and what depends on them. */
import { antiDependency, mayOverlap } from './anti-dependency.ts';
import { verifyFirstUpdater } from './first-updater-wins.ts';
import { type Image, isColumns, merged } from './image.ts';
import type { Mirror } from './mirror.ts';
import { isKept } from './shared-locks.ts';
import { none } from './slots.ts';
import { fateCode } from './transaction-table.ts';

/**
 * Puts a version of every row that the transaction wrote into the row's list.
 * @param from,to the interval of its commit
 * @param onWriter of a version that was dropped to make room
 */
export function installVersions(
  mirror: Mirror,
  transaction: number,
  from: number,
  to: number,
  onWriter: (writer: number) => void,
): void {
  const { rows, transactions, mechanisms } = mirror;
  const { owns, versions } = rows;
  const start = mechanisms.install === 'commit' ? from : transactions.first[transaction];
  const horizon = mirror.horizon();
  for (let own = transactions.firstOwn[transaction]; own !== none; own = owns.next[own]) {
    const row = owns.row[own];
    rows.dropGarbage(row, horizon, onWriter);
    const image = wholeImage(mirror, own, start);
    const version = versions.add(row, transaction, owns.operation[own], start, to, image);
    if (image !== null) versions.isNew[version] = owns.isDeleter[own];
    rows.insert(version);
    owns.version[own] = version;
    transactions.references[transaction] += 1;
  }
}

/**
 * The columns that a write does not name are those of the version before it, where locks leave no doubt which that is; else they stay
 * unknown. Without locks another version may still come between.
 */
function wholeImage({ rows, mechanisms }: Mirror, own: number, start: number): Image {
  const { owns, versions } = rows;
  const image = owns.image[own];
  if (!isColumns(image) || mechanisms.mutualExclusion === 'none' || mechanisms.install !== 'commit') return image;
  const row = owns.row[own];
  const last = rows.versions.ofRow.last[row];
  const before = versions.image[last];
  if (rows.isHidden(row, start)) return image; // of which columns the last version says nothing any more
  if (owns.end[own] >= start || versions.end[last] >= start || !isColumns(before)) return image;
  for (let other = rows.versions.ofRow.first[row]; other !== last; other = versions.ofRow.next[other])
    if (versions.isDefinite[other] === 0 || versions.end[other] >= versions.start[last]) return image;
  return merged(before, image);
}

/** What the transaction's versions follow, and who read what they overwrite. */
export function relateVersions(mirror: Mirror, transaction: number): void {
  const { rows, transactions, mechanisms } = mirror;
  const { owns } = rows;
  const { firstUpdaterWins, certifier } = mechanisms;
  const isChecked = (firstUpdaterWins || certifier === 'percolator') && transactions.isAbandoned[transaction] === 0;
  for (let own = transactions.firstOwn[transaction]; own !== none; own = owns.next[own]) {
    const row = owns.row[own];
    const version = owns.version[own];
    if (isChecked) verifyFirstUpdater(mirror, row, version);
    relateWriters(mirror, transaction, row, version);
    relateReaders(mirror, transaction, row, version);
  }
}

function relateWriters(mirror: Mirror, transaction: number, row: number, version: number): void {
  const { rows, counts } = mirror;
  const { versions } = rows;
  const { start, end, isDefinite, writer } = versions;
  const { next } = versions.ofRow;
  const first = rows.versions.ofRow.first[row];
  let pivot = -Infinity;
  for (let other = first; other !== none; other = next[other])
    if (isDefinite[other] === 1 && end[other] < start[version]) pivot = Math.max(pivot, start[other]);
  for (let other = first; other !== none; other = next[other]) {
    const by = writer[other];
    if (other === version || by === none || end[other] < pivot) continue;
    if (isDefinite[other] === 0) counts.uncertain += 1;
    else if (versions.isSurelyAfter(version, other)) mirror.depend(by, transaction, 'ww', row);
    else if (versions.isSurelyAfter(other, version)) mirror.depend(transaction, by, 'ww', row);
    else counts.uncertain += 1;
  }
}

function relateReaders(mirror: Mirror, transaction: number, row: number, version: number): void {
  const { rows, transactions } = mirror;
  const { versions, readers } = rows;
  for (let other = rows.versions.ofRow.first[row]; other !== none; other = versions.ofRow.next[other]) {
    let reader = versions.firstReader[other];
    if (reader === none || other === version || !versions.isSurelyAfter(version, other)) continue;
    for (; reader !== none; reader = readers.next[reader]) {
      const by = readers.transaction[reader];
      if (by === transaction || !rows.isReaderAlive(reader) || transactions.fate[by] === fateCode.aborted) continue;
      if (
        !mayOverlap(mirror, by, transaction) ||
        !isKept(mirror, readers.operation[reader], row, versions.image[version])
      )
        continue;
      mirror.depend(by, transaction, antiDependency(mirror, row, other, version), row);
    }
  }
}
