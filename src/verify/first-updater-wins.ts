/**
 * First updater wins (Leopard, ICDE 2023, V.C): of two committed transactions that write one row, one has committed before the other's
 * snapshot. At most one of the two orders is possible (Theorem 4); none is a violation, one is a dependency.
 *
 * A row that one of them deletes is left out: an insert of its key afterwards makes another row, and engines let it pass. Percolator
 * checks the same when it prewrites, and calls it a write conflict.
 */
import type { Mirror } from './mirror.ts';
import type { Row, VerifiedTransaction, Version } from './state.ts';
import { formatInterval, type Violation } from './violation.ts';

export function verifyFirstUpdater(
  mirror: Mirror,
  row: Row,
  version: Version,
  onOrder: (earlier: Version, later: Version) => void,
): void {
  for (const other of row.versions) {
    if (other === version || other.writer === null || !other.isDefinite) continue;
    if (other.image === null || version.image === null) continue;
    const isFirst = precedesSnapshot(other, version.writer);
    const isSecond = precedesSnapshot(version, other.writer);
    if (isFirst && !isSecond) onOrder(other, version);
    else if (isSecond && !isFirst) onOrder(version, other);
    else if (!isFirst && !isSecond) mirror.report(concurrentWriters(mirror, row, other, version));
  }
}

/** May the version have been committed before the transaction's snapshot? */
function precedesSnapshot(version: Version, transaction: VerifiedTransaction | null): boolean {
  if (transaction === null || transaction.isAbandoned || Number.isNaN(transaction.snapshotEnd)) return true;
  return version.start <= transaction.snapshotEnd;
}

function concurrentWriters(mirror: Mirror, row: Row, first: Version, second: Version): Violation {
  const base = mirror.base();
  const writers = [first, second].map(({ writer }) => writer as VerifiedTransaction);
  const shown = [first, second].map(({ writer, start, end }) => {
    const { name, snapshotStart, snapshotEnd } = writer as VerifiedTransaction;
    const snapshot = formatInterval({ start: snapshotStart, end: snapshotEnd }, base);
    return `${name} has its snapshot in ${snapshot} and commits in ${formatInterval({ start, end }, base)}`;
  });
  return {
    mechanism: mirror.mechanisms.firstUpdaterWins ? 'first-updater-wins' : 'serialization-certifier',
    reason: `both wrote ${row.key} and committed, and neither had committed before the other's snapshot: ${shown.join(', ')}`,
    transactions: writers.map(({ name }) => name).toReversed(),
    rows: [row.key],
    evidence: writers.flatMap(({ operations, name }, i) => [
      ...operations.slice(0, 1).map((operation) => ({ operation, role: `the snapshot of ${name}` })),
      { operation: ([first, second][i] as Version).operation as NonNullable<Version['operation']>, role: 'the write' },
      ...operations.slice(-1).map((operation) => ({ operation, role: 'the commit' })),
    ]),
    context: writers.flatMap(({ operations }) => operations),
  };
}
