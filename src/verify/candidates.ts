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

/** What of the candidates agrees with what was read. No arrays: this is made for every row of every read. */
export interface Candidates {
  /** How many match. */
  readonly matches: number;
  /** The first of them. */
  readonly match: Version | null;
  /** Where the snapshot lies if it saw one of the matching. */
  readonly start: number;
  readonly end: number;
  /** The latest moment at which one of the matching may still be the row's last. */
  readonly last: number;
}

/**
 * @param start,end of the interval in which the snapshot's moment lies
 * @param view what other reads of the same snapshot have shown: a transaction is seen as a whole or not at all
 */
export function candidatesOf(row: Row, read: RowImage, start: number, end: number, view: View | null): Candidates {
  const pivot = pivotOf(row, start);
  let match: Version | null = null;
  let matches = 0;
  let [lower, upper] = [Infinity, -Infinity];
  for (const version of row.versions) {
    if (!isCandidate(row, version, start, end, pivot, view) || !agrees(version.image, read)) continue;
    match ??= version;
    matches += 1;
    lower = Math.min(lower, version.start);
    upper = Math.max(upper, lastSeen(row, version));
  }
  return { matches, match, start: Math.max(start, lower), end: Math.min(end, upper), last: upper };
}

/** All candidates, for explanations and predicates. */
export function listCandidates(row: Row, start: number, end: number, view: View | null): Version[] {
  const pivot = pivotOf(row, start);
  return row.versions.filter((version) => isCandidate(row, version, start, end, pivot, view));
}

/** Versions that end before this start are garbage for a snapshot from `start` on. */
function pivotOf({ versions }: Row, start: number): number {
  let pivot = -Infinity;
  for (const { isDefinite, end, start: from } of versions) if (isDefinite && end < start && from > pivot) pivot = from;
  return pivot;
}

function isCandidate(
  row: Row,
  version: Version,
  start: number,
  end: number,
  pivot: number,
  view: View | null,
): boolean {
  if (version.start > end || version.end < pivot || isOverwritten(version, start)) return false;
  return view === null || !isRuledOut(row, version, view);
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
