/**
 * First updater wins (Leopard, ICDE 2023, V.C): of two committed transactions that write one row, one has committed before the other's
 * snapshot. At most one of the two orders is possible (Theorem 4); none is a violation, one is a dependency.
 *
 * A row that is deleted first is left out: an insert of its key afterwards makes another row, and engines let it pass. Percolator
 * checks the same when it prewrites, and calls it a write conflict.
 */
import { contextOf, operationsOf } from './evidence.ts';
import type { Mirror } from './mirror.ts';
import { mayBeUnwritten } from './same-writes.ts';
import { none } from './slots.ts';
import { formatInterval, type Violation } from './violation.ts';

/** @param version the one that the transaction at hand installs */
export function verifyFirstUpdater(mirror: Mirror, row: number, version: number): void {
  const { rows } = mirror;
  if (mayBeUnwritten(mirror, row, version)) return;
  const { versions } = rows;
  const writer = versions.writer[version];
  for (let other = rows.versions.ofRow.first[row]; other !== none; other = versions.ofRow.next[other]) {
    const by = versions.writer[other];
    if (other === version || by === none || versions.isDefinite[other] === 0) continue;
    if (mayBeAnother(mirror, other, version) || mayBeDeletedBetween(mirror, row, other, version)) continue;
    if (mayBeUnwritten(mirror, row, other)) continue;
    const isFirst = precedesSnapshot(mirror, other, writer);
    const isSecond = precedesSnapshot(mirror, version, by);
    if (isFirst && !isSecond) versions.follow(other, version);
    else if (isSecond && !isFirst) versions.follow(version, other);
    else if (!isFirst && !isSecond) mirror.report(concurrentWriters(mirror, row, other, version));
  }
}

/** May the later of the two be a row that was inserted after the earlier one was deleted? */
function mayBeAnother({ rows: { versions } }: Mirror, one: number, two: number): boolean {
  const [isOneGone, isTwoGone] = [versions.image[one] === null, versions.image[two] === null];
  if (isOneGone === isTwoGone) return isOneGone;
  const [deleted, other] = isOneGone ? [one, two] : [two, one];
  return !versions.isSurelyAfter(deleted, other);
}

/** May the row have been deleted after the earlier of the two, and inserted again by the later? */
function mayBeDeletedBetween({ rows }: Mirror, row: number, one: number, two: number): boolean {
  const { versions } = rows;
  if (rows.isHidden(row, Math.max(versions.start[one], versions.start[two]))) return true;
  for (let other = rows.versions.ofRow.first[row]; other !== none; other = versions.ofRow.next[other]) {
    if (versions.image[other] !== null || other === one || other === two) continue;
    const isBefore = versions.isSurelyAfter(one, other) && versions.isSurelyAfter(two, other);
    const isAfter = versions.isSurelyAfter(other, one) && versions.isSurelyAfter(other, two);
    if (!isBefore && !isAfter) return true;
  }
  return false;
}

/** May the version have been committed before the transaction's snapshot? */
function precedesSnapshot({ rows, transactions }: Mirror, version: number, transaction: number): boolean {
  const snapshotEnd = transactions.snapshotEnd[transaction];
  if (transactions.isAbandoned[transaction] === 1 || Number.isNaN(snapshotEnd)) return true;
  return rows.versions.start[version] <= snapshotEnd;
}

function concurrentWriters(mirror: Mirror, row: number, first: number, second: number): Violation {
  const { rows, transactions, operations } = mirror;
  const { versions } = rows;
  const base = mirror.base();
  const writers = [first, second].map((version) => ({
    version,
    transaction: versions.writer[version],
    name: transactions.name[versions.writer[version]],
  }));
  const shown = writers.map(({ version, transaction, name }) => {
    const [start, end] = [transactions.snapshotStart[transaction], transactions.snapshotEnd[transaction]];
    const commit = { start: versions.start[version], end: versions.end[version] };
    const snapshot = formatInterval({ start: start, end: end }, base);
    return `${name} has its snapshot in ${snapshot} and commits in ${formatInterval(commit, base)}`;
  });
  return {
    mechanism: mirror.mechanisms.firstUpdaterWins ? 'first-updater-wins' : 'serialization-certifier',
    reason: `both wrote ${rows.key(row)} and committed, and neither had committed before the other's snapshot: ${shown.join(', ')}`,
    transactions: writers.map(({ name }) => name).toReversed(),
    rows: [rows.key(row)],
    evidence: writers.flatMap(({ version, transaction, name }) => {
      const all = operationsOf(mirror, transaction);
      return [
        ...all.slice(0, 1).map((operation) => ({ operation, role: `the snapshot of ${name}` })),
        { operation: operations.operationAt(versions.operation[version]), role: 'the write' },
        ...all.slice(-1).map((operation) => ({ operation, role: 'the commit' })),
      ];
    }),
    context: contextOf(
      mirror,
      writers.map(({ transaction }) => transaction),
    )(),
  };
}
