/**
 * Which versions of a row a snapshot may see, when only intervals are known: the minimal candidate version set of Leopard (ICDE 2023, V.A).
 *
 * A version is no candidate where it is installed surely after the snapshot (a future version), or where another one is surely between
 * the two (a garbage version). For one row this is exact: every other version is the one that is seen under some choice of moments, taken
 * as late as possible for its installation and then as early as possible for the snapshot (Theorem 2).
 *
 * Cost: O(versions that are kept) for the candidates, and again for each that matches.
 */
import { agrees, isSurelyAfter, type Row, type Version, type View } from './state.ts';
import type { RowImage } from './trace.ts';

export interface Candidates {
  readonly all: readonly Version[];
  /** Those with what was read. */
  readonly matching: readonly Version[];
  /** Where the snapshot lies if it saw one of the matching. */
  readonly start: number;
  readonly end: number;
}

/**
 * @param start,end of the interval in which the snapshot's moment lies
 * @param view what other reads of the same snapshot have shown: a transaction is seen as a whole or not at all
 */
export function candidatesOf(row: Row, read: RowImage, start: number, end: number, view: View | null): Candidates {
  let pivot = -Infinity;
  for (const { isDefinite, end: installed, start: from } of row.versions) {
    if (isDefinite && installed < start && from > pivot) pivot = from;
  }
  const all: Version[] = [];
  const matching: Version[] = [];
  let [lower, upper] = [Infinity, -Infinity];
  for (const version of row.versions) {
    if (version.start > end || version.end < pivot || isOverwritten(version, start)) continue;
    if (view !== null && isRuledOut(row, version, view)) continue;
    all.push(version);
    if (!agrees(version.image, read)) continue;
    matching.push(version);
    lower = Math.min(lower, version.start);
    upper = Math.max(upper, lastSeen(row, version));
  }
  return { all, matching, start: Math.max(start, lower), end: Math.min(end, upper) };
}

/** Is a version that is known to come after it surely installed before `start`? */
function isOverwritten({ successors }: Version, start: number): boolean {
  return successors !== null && successors.some(({ isDefinite, end }) => isDefinite && end < start);
}

/** Is it of a transaction that the snapshot does not see, or surely before a version of one that it does? */
function isRuledOut(row: Row, version: Version, { seen, unseen }: View): boolean {
  if (version.writer !== null && unseen.has(version.writer)) return true;
  if (seen.size === 0) return false;
  return row.versions.some((other) => other.writer !== null && seen.has(other.writer) && isSurelyAfter(other, version));
}

/** The latest moment at which the version may still be the row's last. */
function lastSeen(row: Row, version: Version): number {
  let last = Infinity;
  for (const other of row.versions) {
    if (other.isDefinite && other.end < last && isSurelyAfter(other, version)) last = other.end;
  }
  return last;
}
