/** Consistent read (Leopard, ICDE 2023, V.A): is what a read returned in the state that its snapshot may see? */
import { candidatesOf, type Candidates, listCandidates } from './candidates.ts';
import type { Mirror } from './mirror.ts';
import {
  agrees,
  isColumns,
  isSurelyAfter,
  type OwnWrite,
  type Row,
  type VerifiedTransaction,
  type Version,
  type View,
} from './state.ts';
import {
  type PredicateRead,
  type RowImage,
  type RowValue,
  type Scalar,
  type TraceOperation,
  unknownMark,
} from './trace.ts';
import { type Evidence, formatInterval, formatVersionImage, type Violation } from './violation.ts';

/** A read that waits until every commit that it may have seen is known. */
export interface PendingRead {
  readonly transaction: VerifiedTransaction;
  readonly operation: TraceOperation;
  readonly rows: readonly RowValue[];
  /** Rows that the transaction has written itself, of which other columns were read: their base may be as old as the snapshot. */
  readonly beside: readonly { readonly read: RowValue; readonly written: OwnWrite }[];
  readonly predicates: readonly PredicateRead[];
  /** The snapshot of the transaction, one of the operation, or a moment for each row. */
  readonly snapshot: 'transaction' | 'window' | 'operation' | 'rows';
}

/** Compares what was read with what the transaction has written itself; what is left is for the snapshot. */
export function splitOwn(
  mirror: Mirror,
  transaction: VerifiedTransaction,
  operation: TraceOperation,
): Pick<PendingRead, 'rows' | 'beside'> {
  if (transaction.own.size === 0) return { rows: operation.reads, beside: [] };
  const rows: RowValue[] = [];
  const beside: { read: RowValue; written: OwnWrite }[] = [];
  for (const read of operation.reads) {
    if (mirror.rows.isClouded(read.key)) {
      mirror.counts.skipped += 1;
      continue;
    }
    const written = transaction.own.get(mirror.rows.get(read.key));
    if (written === undefined) rows.push(read);
    else if (!agrees(written.image, read.image)) mirror.report(ownViolation(transaction, operation, read, written));
    else {
      const rest = columnsBeside(read.image, written.image);
      if (rest !== null) beside.push({ read: { key: read.key, image: rest }, written });
    }
  }
  return { rows, beside };
}

function columnsBeside(read: RowImage, written: RowImage): RowImage | null {
  if (!isColumns(read) || !isColumns(written)) return null;
  const rest = new Map([...read].filter(([column]) => !written.has(column)));
  return rest.size === 0 ? null : rest;
}

/** Checks a read whose candidates are all known. */
export function verifyRead(mirror: Mirror, pending: PendingRead): void {
  const { transaction, operation, rows, beside, snapshot } = pending;
  if (transaction.isAbandoned) {
    mirror.counts.skipped += rows.length + beside.length;
    return;
  }
  let { start, end } = operation;
  const view = viewOf(pending);
  for (const { key, image } of rows) {
    if (mirror.rows.isClouded(key)) {
      mirror.counts.skipped += 1;
      continue;
    }
    if (snapshot === 'transaction') ({ snapshotStart: start, snapshotEnd: end } = transaction);
    if (snapshot === 'window') start = transaction.first;
    const row = mirror.rows.get(key);
    const found = candidatesOf(row, image, start, end, view);
    if (found.matches === 0) {
      fail(mirror, pending, row, image, { start, end }, view);
      continue;
    }
    if (snapshot === 'operation') ({ start, end } = found);
    if (snapshot === 'transaction') {
      transaction.snapshotStart = found.start;
      transaction.snapshotEnd = found.end;
    }
    if (snapshot === 'window') narrowWindow(mirror, pending, found, row, image);
    noteDependencies(mirror, transaction, row, image, found, view);
  }
  for (const { read, written } of beside)
    if (!mirror.rows.isClouded(read.key)) verifyBeside(mirror, pending, read, written);
  for (const predicate of pending.predicates) verifyPredicate(mirror, pending, predicate);
}

function viewOf({ transaction, snapshot }: PendingRead): View | null {
  if (snapshot === 'transaction') return transaction.view;
  return snapshot === 'operation' ? { seen: new Set(), unseen: new Set() } : null;
}

/** One moment for all reads of the transaction: later than every version that was read, no later than what overwrites one. */
function narrowWindow(mirror: Mirror, pending: PendingRead, found: Candidates, row: Row, image: RowImage): void {
  const { transaction } = pending;
  const start = Math.max(transaction.snapshotStart, found.start);
  const end = Math.min(transaction.snapshotEnd, found.last);
  if (start > end) {
    const window = { start: transaction.snapshotStart, end };
    transaction.ifCommitted.push(readViolation(mirror, pending, row, image, window, null));
    return;
  }
  transaction.snapshotStart = start;
  transaction.snapshotEnd = end;
}

function noteDependencies(
  mirror: Mirror,
  transaction: VerifiedTransaction,
  row: Row,
  image: RowImage,
  { match: version, matches }: Candidates,
  view: View | null,
): void {
  if (version === null || matches > 1) {
    mirror.counts.uncertain += 1;
    return;
  }
  learn(version, image);
  if (version.writer !== null) mirror.depend(version.writer, transaction, 'wr', row.key);
  if (version.writer !== null) view?.seen.add(version.writer);
  const isReader = transaction.fate !== 'aborted' && mirror.mechanisms.certifier !== null;
  for (const other of row.versions) {
    const { writer } = other;
    if (writer === null || !isSurelyAfter(other, version)) continue;
    view?.unseen.add(writer);
    if (isReader && other.isDefinite && mayOverlap(transaction, writer))
      mirror.depend(transaction, writer, 'rw', row.key);
  }
  if (isReader) addReader(version, transaction);
}

/** A reader that was over before the writer began can be on no cycle with it. */
export function mayOverlap(reader: VerifiedTransaction, writer: VerifiedTransaction): boolean {
  return reader.endEnd >= writer.first;
}

function addReader(version: Version, reader: VerifiedTransaction): void {
  version.readers ??= [];
  if (version.readers.length >= 64 && (version.readers.length & 63) === 0)
    version.readers = version.readers.filter(({ isRetired, fate }) => !isRetired && fate !== 'aborted');
  version.readers.push(reader);
}

/** The one version that explains a read holds what was read, also where that was not known. */
function learn(version: Version, read: RowImage): void {
  if (version.image === undefined) version.image = read;
  else if (isColumns(version.image) && isColumns(read)) {
    const { image } = version;
    const isKnown = (column: string): boolean =>
      (image.get(column) ?? unknownMark) !== unknownMark || image.get(column) === null;
    if ([...read.keys()].every(isKnown)) return;
    version.image = new Map<string, Scalar>([
      ...read,
      ...[...image].filter(([column]) => isKnown(column) || !read.has(column)),
    ]);
  }
}

function verifyBeside(mirror: Mirror, pending: PendingRead, { key, image }: RowValue, written: OwnWrite): void {
  const { transaction, operation } = pending;
  const first = written.operation.start;
  const snapshotStart = Number.isNaN(transaction.snapshotStart) ? first : transaction.snapshotStart;
  const interval = { start: Math.min(snapshotStart, first), end: operation.end };
  const row = mirror.rows.get(key);
  const found = candidatesOf(row, image, interval.start, interval.end, null);
  if (found.matches === 0) fail(mirror, pending, row, image, interval, null);
}

/** A row that every candidate says is there and satisfies the predicate must have been returned. */
function verifyPredicate(mirror: Mirror, pending: PendingRead, { table, where }: PredicateRead): void {
  const { transaction, operation, snapshot } = pending;
  const returned = new Set(operation.reads.map(({ key }) => key));
  const interval =
    snapshot === 'transaction'
      ? { start: transaction.snapshotStart, end: transaction.snapshotEnd }
      : { start: snapshot === 'window' ? transaction.first : operation.start, end: operation.end };
  if (mirror.rows.isClouded(`${table}/`)) return;
  for (const row of mirror.rows.all()) {
    if (!row.key.startsWith(`${table}/`) || returned.has(row.key) || transaction.own.has(row)) continue;
    const candidates = listCandidates(row, interval.start, interval.end, null);
    if (candidates.every(({ image }) => where.every((condition) => satisfies(image, condition)) && isPresent(image)))
      fail(mirror, pending, row, null, interval, null);
  }
}

function isPresent(image: RowImage | undefined): boolean {
  return image !== null && image !== undefined;
}

function satisfies(
  image: RowImage | undefined,
  { column, comparison, value }: PredicateRead['where'][number],
): boolean {
  const known = isColumns(image) ? image.get(column) : undefined;
  if (known === undefined || known === unknownMark || known === null || value === null || typeof known !== typeof value)
    return false;
  // Texts are compared by the collation of a column, which is not known.
  if (typeof known === 'string' && comparison !== '=' && comparison !== '!=') return false;
  switch (comparison) {
    case '=':
      return known === value;
    case '!=':
      return known !== value;
    case '<':
      return known < value;
    case '<=':
      return known <= value;
    case '>':
      return known > value;
    case '>=':
      return known >= value;
  }
}

function fail(
  mirror: Mirror,
  pending: PendingRead,
  row: Row,
  image: RowImage,
  snapshot: { readonly start: number; readonly end: number },
  view: View | null,
): void {
  const violation = readViolation(mirror, pending, row, image, snapshot, view);
  // What it read may be of a transaction that has not committed as far as is known: its fate decides.
  const dirty = row.locks.find(
    (lock) =>
      lock.image !== undefined &&
      lock.transaction !== pending.transaction &&
      lock.transaction.fate === 'open' &&
      agrees(lock.image, image),
  );
  if (dirty === undefined) mirror.report(violation);
  else dirty.transaction.suspicions.push(violation);
}

function readViolation(
  mirror: Mirror,
  { transaction, operation }: PendingRead,
  row: Row,
  image: RowImage,
  snapshot: { readonly start: number; readonly end: number },
  view: View | null,
): Violation {
  const base = mirror.base();
  const all = listCandidates(row, snapshot.start, snapshot.end, view);
  const seen = all.map(({ image: known, writer }) => `${formatVersionImage(known)}${by(writer)}`).join(', ');
  const source = sourceOf(row, image, transaction, snapshot);
  const written = row.locks.filter(({ image: of }) => of !== undefined && agrees(of, image));
  const others = [
    ...new Set([
      ...all.flatMap(({ writer }) => (writer === null ? [] : [writer])),
      ...row.versions.flatMap((version) =>
        version.writer === null || !agrees(version.image, image) ? [] : [version.writer],
      ),
      ...written.map((lock) => lock.transaction),
    ]),
  ].filter((other) => other !== transaction);
  return {
    mechanism: 'consistent-read',
    reason:
      `${transaction.name} read ${row.key} = ${formatVersionImage(image)} under a snapshot in ${formatInterval(snapshot, base)}, ` +
      `where it can only be ${seen === '' ? 'nothing that is known' : seen}; ${source}`,
    transactions: [transaction.name, ...others.map(({ name }) => name)],
    rows: [row.key],
    evidence: [
      { operation, role: 'the read' },
      ...all.flatMap((version): Evidence[] => evidenceOf(version, 'a version that it may see')),
    ],
    // Later: what a transaction does next belongs to it too.
    get context() {
      return [transaction, ...others].flatMap(({ operations }) => operations);
    },
  };
}

function evidenceOf({ operation, writer }: Version, role: string): Evidence[] {
  if (operation === null || writer === null) return [];
  const commit = writer.operations.findLast(({ kind }) => kind === 'commit');
  return [{ operation, role }, ...(commit === undefined ? [] : [{ operation: commit, role: 'installs it' }])];
}

function by(writer: VerifiedTransaction | null): string {
  return writer === null ? '' : ` by ${writer.name}`;
}

/** Where the value that was read comes from, if that is still known. */
function sourceOf(
  row: Row,
  image: RowImage,
  reader: VerifiedTransaction,
  snapshot: { readonly start: number; readonly end: number },
): string {
  const version = row.versions.find(({ image: known }) => known !== undefined && agrees(known, image));
  if (version !== undefined) {
    const isLater = version.start > snapshot.end;
    return `what it read${by(version.writer)} was ${isLater ? 'committed only later' : 'already overwritten'}`;
  }
  const lock = row.locks.find(
    ({ image: written, transaction }) => transaction !== reader && written !== undefined && agrees(written, image),
  );
  if (lock === undefined) return 'what it read was overwritten long before, or nobody wrote it';
  const { fate, name } = lock.transaction;
  if (fate === 'aborted') return `what it read was written by ${name}, which aborted`;
  return fate === 'open'
    ? `${name} wrote what it read and had not committed`
    : `${name} wrote it before its last write`;
}

function ownViolation(
  transaction: VerifiedTransaction,
  operation: TraceOperation,
  { key, image }: RowValue,
  written: OwnWrite,
): Violation {
  return {
    mechanism: 'consistent-read',
    reason: `${transaction.name} read ${key} = ${formatVersionImage(image)}, but had written ${formatVersionImage(written.image)} itself`,
    transactions: [transaction.name],
    rows: [key],
    evidence: [
      { operation: written.operation, role: 'its own write' },
      { operation, role: 'the read' },
    ],
    context: [...transaction.operations],
  };
}
