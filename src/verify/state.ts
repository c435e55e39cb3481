/**
 * What the verifier mirrors of the database's inside: rows with their versions and locks, transactions with their dependencies.
 * Points in time are known as closed intervals only; "surely before" means that the intervals do not touch.
 */
import { type RowImage, type Scalar, type TraceOperation, unknownMark } from './trace.ts';
import type { Violation } from './violation.ts';

export type Fate = 'open' | 'committed' | 'aborted' | 'unknown';

export type Relation = 'wr' | 'ww' | 'rw';

export interface Dependency {
  readonly to: VerifiedTransaction;
  readonly relation: Relation;
  readonly key: string;
}

/** A transaction while it matters. */
export class VerifiedTransaction {
  readonly name: string;
  readonly session: string;
  /** Start of its first operation. */
  readonly first: number;
  fate: Fate = 'open';
  /** Its operations, until nothing that is still open overlaps with it. */
  operations: TraceOperation[] = [];
  /** The moment of its snapshot lies here; NaN as long as it has none. What reads saw makes it smaller. */
  snapshotStart = Number.NaN;
  snapshotEnd = Number.NaN;
  /** What it wrote last, by row. */
  readonly own = new Map<Row, OwnWrite>();
  readonly locks: Lock[] = [];
  readonly versions: OwnVersion[] = [];
  /** The moment of its commit or abort lies here. */
  endStart = Infinity;
  endEnd = Infinity;
  /** Locks go no earlier than this: an error may end the transaction inside the database before its client says so. */
  releaseStart = Infinity;
  pendingReads = 0;
  /** Was it given up on, with locks and snapshot forgotten? */
  isAbandoned = false;
  /** Dependencies of other transactions on it, and its on others; those on transactions that have not committed wait. */
  readonly out: Dependency[] = [];
  readonly in: { readonly from: VerifiedTransaction; readonly relation: Relation; readonly key: string }[] = [];
  readonly waiting: { from: VerifiedTransaction; to: VerifiedTransaction; relation: Relation; key: string }[] = [];
  /** Position in the topological order of the dependency graph; -1: not in it. */
  order = -1;
  /** Is it over, and everything that overlapped with it? */
  isRetired = false;
  isWriter = false;
  /** Is its end being looked at? What overlaps with it is still needed. */
  isEnding = false;
  readonly view: View = { seen: new Set(), unseen: new Set() };
  /** For searches of the graph. */
  mark = 0;
  /** Others read what it had not committed: violations, unless it turns out that its fate is unknown. */
  readonly suspicions: Violation[] = [];
  /** What counts only if it commits: until then an engine without locks may let it read what does not fit together. */
  readonly ifCommitted: Violation[] = [];

  constructor(name: string, session: string, first: number) {
    this.name = name;
    this.session = session;
    this.first = first;
  }

  get isActive(): boolean {
    return this.isEnding || (this.fate === 'open' && !this.isAbandoned) || this.pendingReads > 0;
  }
}

/** Of one snapshot: transactions that had committed before it, and that had not, as what it read shows. */
export interface View {
  readonly seen: Set<VerifiedTransaction>;
  readonly unseen: Set<VerifiedTransaction>;
}

export interface OwnWrite {
  image: RowImage;
  /** Of the last operation that wrote the row. */
  end: number;
  readonly operation: TraceOperation;
}

/** What a row is from a commit on. */
export interface Version {
  /** `null`: the initial state. */
  readonly writer: VerifiedTransaction | null;
  readonly operation: TraceOperation | null;
  /** The moment from which it can be seen lies here. */
  readonly start: number;
  readonly end: number;
  image: RowImage | undefined;
  /** Did its transaction surely commit? */
  readonly isDefinite: boolean;
  /** Versions that come after it although the intervals overlap, as locks or snapshots show. */
  successors: Version[] | null;
  readers: VerifiedTransaction[] | null;
}

/** With the row that it is of: only while its transaction is not retired. */
export interface OwnVersion {
  readonly row: Row;
  readonly version: Version;
}

export interface Lock {
  readonly row: Row;
  readonly transaction: VerifiedTransaction;
  readonly operation: TraceOperation;
  readonly isExclusive: boolean;
  /** The moment of its acquisition lies here. */
  readonly start: number;
  readonly end: number;
  /** What was written under it; undefined for reads. */
  readonly image: RowImage | undefined;
}

export interface Row {
  readonly key: string;
  /** By start. */
  versions: Version[];
  /** Of transactions that have not ended, or not long ago. */
  locks: Lock[];
}

/** Is `later` surely a version after `earlier`? */
export function isSurelyAfter(later: Version, earlier: Version): boolean {
  return earlier.end < later.start || earlier.successors?.includes(later) === true;
}

export function initialVersion(image: RowImage | undefined): Version {
  return {
    writer: null,
    operation: null,
    start: -Infinity,
    end: -Infinity,
    image,
    isDefinite: true,
    successors: null,
    readers: null,
  };
}

export function isColumns(image: RowImage | undefined): image is ReadonlyMap<string, Scalar> {
  return typeof image === 'object' && image !== null;
}

/** Does the version's row agree with what was read, in the columns that both know? An unknown initial state agrees with everything. */
export function agrees(version: RowImage | undefined, read: RowImage): boolean {
  if (version === undefined || version === read) return true;
  if (!isColumns(version) || !isColumns(read)) return false;
  for (const [column, value] of read) {
    const known = version.get(column);
    if (known !== undefined && known !== unknownMark && known !== value) return false;
  }
  return true;
}

/** The row after a write on top of what it was. */
export function merged(before: RowImage | undefined, write: RowImage): RowImage {
  if (!isColumns(before) || !isColumns(write)) return write;
  return new Map([...before, ...write]);
}

/** Drops versions that no snapshot from `horizon` on can see. */
export function dropGarbage(row: Row, horizon: number): void {
  if (row.versions.length < 2) return;
  let pivot = -Infinity;
  for (const { isDefinite, end, start } of row.versions) {
    if (isDefinite && end < horizon && start > pivot) pivot = start;
  }
  if (pivot > -Infinity) row.versions = row.versions.filter(({ end }) => end >= pivot);
}

/** Drops locks that nothing which is open or still to come can meet. */
export function dropLocks(row: Row, horizon: number): void {
  row.locks = row.locks.filter(({ transaction }) => !transaction.isAbandoned && transaction.endEnd >= horizon);
}
