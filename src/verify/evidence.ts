/** Violations in words: what is known of operations, transactions and versions, taken out of their columns. Objects are made only here. */
import { listCandidates } from './candidates.ts';
import { agrees, fromImage, type Image } from './image.ts';
import type { Mirror } from './mirror.ts';
import { none } from './slots.ts';
import type { TraceOperation } from '../trace/index.ts';
import { fateCode, type View } from './transaction-table.ts';
import { type Evidence, formatInterval, formatVersionImage, type Violation } from './violation.ts';

/** The transaction's operations that are known. */
export function operationsOf({ operations, transactions }: Mirror, transaction: number): TraceOperation[] {
  const all: TraceOperation[] = [];
  for (
    let operation = transactions.firstOperation[transaction];
    operation !== none;
    operation = operations.next[operation]
  )
    all.push(operations.operationAt(operation));
  return all;
}

/** The operations of transactions, later also what they do next: for as long as they are still the same. */
export function contextOf(mirror: Mirror, transactions: readonly number[]): () => TraceOperation[] {
  const known = transactions.map((transaction) => ({
    transaction,
    serial: mirror.transactions.serial[transaction],
    operations: operationsOf(mirror, transaction),
  }));
  return () =>
    known.flatMap(({ transaction, serial, operations }) =>
      mirror.transactions.serial[transaction] === serial ? operationsOf(mirror, transaction) : operations,
    );
}

function shownImage(image: Image | undefined): string {
  return formatVersionImage(image === undefined ? undefined : fromImage(image));
}

/** @param snapshot where it lies, as intervals and as what other reads have shown */
export function readViolation(
  mirror: Mirror,
  transaction: number,
  operation: number,
  row: number,
  image: Image,
  snapshot: { readonly start: number; readonly end: number; readonly view: View | null },
): Violation {
  const { transactions, rows, operations } = mirror;
  const { versions } = rows;
  const all = listCandidates(mirror, row, snapshot.start, snapshot.end, snapshot.view);
  const seen = all.map((version) => `${shownImage(versions.image[version])}${by(mirror, versions.writer[version])}`);
  const others = otherWriters(mirror, row, image, all).filter((other) => other !== transaction);
  const name = transactions.name[transaction];
  const context = contextOf(mirror, [transaction, ...others]);
  return {
    mechanism: 'consistent-read',
    reason:
      `${name} read ${rows.key(row)} = ${shownImage(image)} under a snapshot in ${formatInterval(snapshot, mirror.base())}, ` +
      `where it can only be ${seen.length === 0 ? 'nothing that is known' : seen.join(', ')}; ` +
      sourceOf(mirror, row, image, transaction, snapshot.end),
    transactions: [name, ...others.map((other) => transactions.name[other])],
    rows: [rows.key(row)],
    evidence: [
      { operation: operations.operationAt(operation), role: 'the read' },
      ...all.flatMap((version): Evidence[] => versionEvidence(mirror, version)),
    ],
    // Later: what a transaction does next belongs to it too.
    get context() {
      return context();
    },
  };
}

/** Who wrote a candidate, or what was read. */
function otherWriters({ rows }: Mirror, row: number, image: Image, candidates: readonly number[]): number[] {
  const { versions, locks } = rows;
  const writers = new Set(candidates.map((version) => versions.writer[version]));
  for (let version = rows.versions.ofRow.first[row]; version !== none; version = versions.ofRow.next[version])
    if (agrees(versions.image[version], image)) writers.add(versions.writer[version]);
  for (let lock = rows.locks.ofRow.first[row]; lock !== none; lock = locks.ofRow.next[lock]) {
    const written = locks.image[lock];
    if (written !== undefined && agrees(written, image)) writers.add(locks.transaction[lock]);
  }
  writers.delete(none);
  return [...writers];
}

function versionEvidence(mirror: Mirror, version: number): Evidence[] {
  const { operation, writer } = mirror.rows.versions;
  const transaction = writer[version];
  if (transaction === none) return [];
  const commit = operationsOf(mirror, transaction).findLast(({ kind }) => kind === 'commit');
  return [
    { operation: mirror.operations.operationAt(operation[version]), role: 'a version that it may see' },
    ...(commit === undefined ? [] : [{ operation: commit, role: 'installs it' }]),
  ];
}

function by({ transactions }: Mirror, writer: number | undefined): string {
  return writer === undefined || writer === none ? '' : ` by ${transactions.name[writer]}`;
}

/** Where the value that was read comes from, if that is still known. */
function sourceOf(mirror: Mirror, row: number, image: Image, reader: number, snapshotEnd: number): string {
  const { rows, transactions } = mirror;
  const { versions, locks } = rows;
  for (let version = rows.versions.ofRow.first[row]; version !== none; version = versions.ofRow.next[version]) {
    const known = versions.image[version];
    if (known === undefined || !agrees(known, image)) continue;
    const isLater = versions.start[version] > snapshotEnd;
    return `what it read${by(mirror, versions.writer[version])} was ${isLater ? 'committed only later' : 'already overwritten'}`;
  }
  for (let lock = rows.locks.ofRow.first[row]; lock !== none; lock = locks.ofRow.next[lock]) {
    const [written, writer] = [locks.image[lock], locks.transaction[lock]];
    if (writer === reader || written === undefined || !agrees(written, image)) continue;
    const name = transactions.name[writer];
    const fate = transactions.fate[writer];
    if (fate === fateCode.aborted) return `what it read was written by ${name}, which aborted`;
    return fate === fateCode.open
      ? `${name} wrote what it read and had not committed`
      : `${name} wrote it before its last write`;
  }
  return 'what it read was overwritten long before, or no transaction wrote it';
}

export function ownViolation(
  mirror: Mirror,
  transaction: number,
  operation: number,
  row: number,
  image: Image,
  own: number,
): Violation {
  const { transactions, rows, operations } = mirror;
  const { owns } = rows;
  const name = transactions.name[transaction];
  const written = shownImage(owns.image[own]);
  const read = shownImage(image);
  return {
    mechanism: 'consistent-read',
    reason: `${name} read ${rows.key(row)} = ${read}, but had written ${written} itself`,
    transactions: [name],
    rows: [rows.key(row)],
    evidence: [
      { operation: operations.operationAt(owns.operation[own]), role: 'its own write' },
      { operation: operations.operationAt(operation), role: 'the read' },
    ],
    context: operationsOf(mirror, transaction),
  };
}

/** @param lock under which another transaction had written the row */
export function hiddenViolation(
  mirror: Mirror,
  transaction: number,
  operation: number,
  row: number,
  image: Image,
  lock: number,
): Violation {
  const { transactions, rows, operations } = mirror;
  const writer = rows.locks.transaction[lock];
  const [name, other] = [transactions.name[transaction], transactions.name[writer]];
  const written = shownImage(rows.locks.image[lock]);
  const context = contextOf(mirror, [transaction, writer]);
  return {
    mechanism: 'consistent-read',
    reason: `${name} read ${rows.key(row)} = ${shownImage(image)}, but ${other} had written ${written} and had neither committed nor taken it back`,
    transactions: [name, other],
    rows: [rows.key(row)],
    evidence: [
      { operation: operations.operationAt(operation), role: 'the read' },
      { operation: operations.operationAt(rows.locks.operation[lock]), role: 'the write' },
    ],
    // Later: the end of the other belongs to it too.
    get context() {
      return context();
    },
  };
}
