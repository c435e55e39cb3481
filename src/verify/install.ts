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
  const start = mechanisms.install === 'commit' ? from : (transactions.first[transaction] as number);
  const horizon = mirror.horizon();
  for (let own = transactions.firstOwn[transaction] as number; own !== none; own = owns.next[own] as number) {
    const row = owns.row[own] as number;
    rows.dropGarbage(row, horizon, onWriter);
    const image = wholeImage(mirror, own, start);
    const version = versions.add(row, transaction, owns.operation[own] as number, start, to, image);
    if (image !== null) versions.isNew[version] = owns.isDeleter[own] as number;
    rows.insert(version);
    owns.version[own] = version;
    transactions.versions[transaction] = (transactions.versions[transaction] as number) + 1;
  }
}

/**
 * The columns that a write does not name are those of the version before it, where locks leave no doubt which that is; else they stay
 * unknown. Without locks another version may still come between.
 */
function wholeImage({ rows, mechanisms }: Mirror, own: number, start: number): Image {
  const { owns, versions } = rows;
  const image = owns.image[own] as Image;
  if (!isColumns(image) || mechanisms.mutualExclusion === 'none' || mechanisms.install !== 'commit') return image;
  const row = owns.row[own] as number;
  const last = rows.lastVersion[row] as number;
  const before = versions.image[last];
  if (rows.isHidden(row, start)) return image; // of which columns the last version says nothing any more
  if ((owns.end[own] as number) >= start || (versions.end[last] as number) >= start || !isColumns(before)) return image;
  for (let other = rows.firstVersion[row] as number; other !== last; other = versions.next[other] as number)
    if (versions.isDefinite[other] === 0 || (versions.end[other] as number) >= (versions.start[last] as number))
      return image;
  return merged(before, image);
}

/** What the transaction's versions follow, and who read what they overwrite. */
export function relateVersions(mirror: Mirror, transaction: number): void {
  const { rows, transactions, mechanisms } = mirror;
  const { owns } = rows;
  const { firstUpdaterWins, certifier } = mechanisms;
  const isChecked = (firstUpdaterWins || certifier === 'percolator') && transactions.isAbandoned[transaction] === 0;
  for (let own = transactions.firstOwn[transaction] as number; own !== none; own = owns.next[own] as number) {
    const row = owns.row[own] as number;
    const version = owns.version[own] as number;
    if (isChecked) verifyFirstUpdater(mirror, row, version);
    relateWriters(mirror, transaction, row, version);
    relateReaders(mirror, transaction, row, version);
  }
}

function relateWriters(mirror: Mirror, transaction: number, row: number, version: number): void {
  const { rows, counts } = mirror;
  const { versions } = rows;
  const { start, end, next, isDefinite, writer } = versions;
  const first = rows.firstVersion[row] as number;
  let pivot = -Infinity;
  for (let other = first; other !== none; other = next[other] as number)
    if (isDefinite[other] === 1 && (end[other] as number) < (start[version] as number))
      pivot = Math.max(pivot, start[other] as number);
  for (let other = first; other !== none; other = next[other] as number) {
    const by = writer[other] as number;
    if (other === version || by === none || (end[other] as number) < pivot) continue;
    if (isDefinite[other] === 0) counts.uncertain += 1;
    else if (versions.isSurelyAfter(version, other)) mirror.depend(by, transaction, 'ww', row);
    else if (versions.isSurelyAfter(other, version)) mirror.depend(transaction, by, 'ww', row);
    else counts.uncertain += 1;
  }
}

function relateReaders(mirror: Mirror, transaction: number, row: number, version: number): void {
  const { rows, transactions } = mirror;
  const { versions, readers } = rows;
  for (let other = rows.firstVersion[row] as number; other !== none; other = versions.next[other] as number) {
    let reader = versions.firstReader[other] as number;
    if (reader === none || other === version || !versions.isSurelyAfter(version, other)) continue;
    for (; reader !== none; reader = readers.next[reader] as number) {
      const by = readers.transaction[reader] as number;
      if (by === transaction || !rows.isReaderAlive(reader) || transactions.fate[by] === fateCode.aborted) continue;
      if (
        !mayOverlap(mirror, by, transaction) ||
        !isKept(mirror, readers.operation[reader] as number, row, versions.image[version])
      )
        continue;
      mirror.depend(by, transaction, antiDependency(mirror, row, other, version), row);
    }
  }
}
