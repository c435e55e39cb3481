/**
 * Which versions of a row a snapshot may see, when only intervals are known: the minimal candidate version set of Leopard (ICDE 2023, V.A).
 *
 * A version is no candidate where it is installed surely after the snapshot (a future version), or where another one is surely between
 * the two (a garbage version). For one row this is exact: every other version is the one that is seen under some choice of moments, taken
 * as late as possible for its installation and then as early as possible for the snapshot (Theorem 2).
 *
 * Cost: O(versions that are kept) for the candidates, and again for each that matches.
 */
import { agrees, type Image } from './image.ts';
import type { Mirror } from './mirror.ts';
import { none } from './slots.ts';
import type { View } from './transaction-table.ts';

/** What of the candidates agrees with what was read. One for all reads: nothing is made for every row of every read. */
export interface Candidates {
  /** How many match. */
  matches: number;
  /** The first version among them, or `none`. */
  match: number;
  /** Where the snapshot lies if it saw one of the matching. */
  start: number;
  end: number;
  /** The latest moment at which one of the matching may still be the row's last. */
  last: number;
}

/**
 * @param start,end of the interval in which the snapshot's moment lies
 * @param view what other reads of the same snapshot have shown: a transaction is seen as a whole or not at all
 * @param found is filled in
 */
export function findCandidates(
  mirror: Mirror,
  row: number,
  read: Image,
  start: number,
  end: number,
  view: View | null,
  found: Candidates,
): void {
  const { versions } = mirror.rows;
  const first = versions.ofRow.first[row];
  const pivot = pivotOf(mirror, first, start);
  let [matches, match] = [0, none];
  let [lower, upper] = [Infinity, -Infinity];
  for (let version = first; version !== none; version = versions.ofRow.next[version]) {
    if (!isCandidate(mirror, first, version, start, end, pivot, view) || !agrees(versions.image[version], read))
      continue;
    if (matches === 0) match = version;
    matches += 1;
    if (versions.start[version] < lower) lower = versions.start[version];
    const last = lastSeen(mirror, first, version);
    if (last > upper) upper = last;
  }
  found.matches = matches;
  found.match = match;
  found.start = lower > start ? lower : start;
  found.end = upper < end ? upper : end;
  found.last = upper;
}

/** All candidates, for explanations and predicates. */
export function listCandidates(mirror: Mirror, row: number, start: number, end: number, view: View | null): number[] {
  const { versions } = mirror.rows;
  const first = versions.ofRow.first[row];
  const pivot = pivotOf(mirror, first, start);
  const all: number[] = [];
  for (let version = first; version !== none; version = versions.ofRow.next[version])
    if (isCandidate(mirror, first, version, start, end, pivot, view)) all.push(version);
  return all;
}

/** Versions that end before this start are garbage for a snapshot from `start` on. */
function pivotOf({ rows: { versions } }: Mirror, first: number, start: number): number {
  let pivot = -Infinity;
  for (let version = first; version !== none; version = versions.ofRow.next[version]) {
    const from = versions.start[version];
    if (from > start) break;
    if (versions.isDefinite[version] === 1 && versions.end[version] < start && from > pivot) pivot = from;
  }
  return pivot;
}

function isCandidate(
  mirror: Mirror,
  first: number,
  version: number,
  start: number,
  end: number,
  pivot: number,
  view: View | null,
): boolean {
  const { versions } = mirror.rows;
  if (versions.start[version] > end || versions.end[version] < pivot) return false;
  // A version that is known to come after it is surely installed before the snapshot.
  if (versions.overwrittenBy[version] < start) return false;
  return view === null || !isRuledOut(mirror, first, version, view);
}

/** Is it of a transaction that the snapshot does not see, or surely before a version of one that it does? */
function isRuledOut({ rows, transactions }: Mirror, first: number, version: number, { seen, unseen }: View): boolean {
  const { versions } = rows;
  const writer = versions.writer[version];
  if (writer !== none && unseen.size > 0 && unseen.has(transactions.serial[writer])) return true;
  if (seen.size === 0) return false;
  for (let other = first; other !== none; other = versions.ofRow.next[other]) {
    const by = versions.writer[other];
    if (by !== none && seen.has(transactions.serial[by]) && versions.isSurelyAfter(other, version)) return true;
  }
  return false;
}

/** The latest moment at which the version may still be the row's last. */
function lastSeen({ rows: { versions } }: Mirror, first: number, version: number): number {
  let last = Infinity;
  for (let other = first; other !== none; other = versions.ofRow.next[other]) {
    const end = versions.end[other];
    if (end < last && versions.isDefinite[other] === 1 && versions.isSurelyAfter(other, version)) last = end;
  }
  return last;
}
