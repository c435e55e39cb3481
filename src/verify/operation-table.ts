/** Operations in columns, from the moment when they are read until nothing that the verifier holds needs them. */
import { EntryTable } from './entry-table.ts';
import { fromImage, Shape, toImage } from './image.ts';
import { grownBytes, grownFloats, grownInts, none, Slots } from './slots.ts';
import {
  operationKinds,
  type PredicateRead,
  type RowValue,
  type TraceOperation,
  type TraceOperationKind,
} from '../trace/index.ts';

/** Positions in `operationKinds`. */
export const kindCode: Readonly<Record<TraceOperationKind, number>> = {
  begin: 0,
  read: 1,
  write: 2,
  commit: 3,
  abort: 4,
  savepoint: 5,
  'rollback-to': 6,
  release: 7,
  end: 8,
};
export const lockCode = { none: 0, update: 1, share: 2 } as const;

/** Names as small numbers, both ways. */
export class Names {
  readonly #ids = new Map<string, number>();
  readonly #names: string[] = [];

  get size(): number {
    return this.#names.length;
  }

  of(name: string): number {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    this.#ids.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }

  name(id: number): string {
    return this.#names[id];
  }
}

/** What few operations have. */
interface Extra {
  readonly predicates: readonly PredicateRead[];
  readonly mayWrite: readonly string[] | undefined;
  readonly savepoint: string | undefined;
}

export class OperationTable extends Slots {
  readonly sessions = new Names();
  readonly keys = new Names();
  readonly entries = new EntryTable();
  readonly emptyShape = new Shape();
  kind = new Uint8Array();
  lock = new Uint8Array();
  failed = new Uint8Array();
  /** Was what it wrote undone, or the savepoint that it set forgotten? */
  isUndone = new Uint8Array();
  /** May it have read more than it names, or other than by the key? */
  mayReadMore = new Uint8Array();
  session = new Int32Array();
  start = new Float64Array();
  end = new Float64Array();
  /** Its entries: what it read in `[reads, writes)`, what it wrote in `[writes, entriesEnd)`. */
  reads = new Int32Array();
  writes = new Int32Array();
  entriesEnd = new Int32Array();
  /** The next operation of whatever list it is in: of its session's queue, then of its transaction. */
  next = new Int32Array();
  readonly transaction: string[] = [];
  readonly #extra = new Map<number, Extra>();
  /** Has it predicates, or may it have written what it does not name? */
  hasExtra = new Uint8Array();

  /** An operation with room for its entries. O(1) */
  open(
    kind: number,
    session: number,
    transaction: string,
    start: number,
    end: number,
    reads: number,
    writes: number,
  ): number {
    const operation = this.take();
    const first = this.entries.take(reads + writes);
    this.kind[operation] = kind;
    this.lock[operation] = lockCode.none;
    this.failed[operation] = 0;
    this.session[operation] = session;
    this.start[operation] = start;
    this.end[operation] = end;
    this.reads[operation] = first;
    this.writes[operation] = first + reads;
    this.entriesEnd[operation] = first + reads + writes;
    this.next[operation] = none;
    this.transaction[operation] = transaction;
    this.hasExtra[operation] = 0;
    this.isUndone[operation] = 0;
    this.mayReadMore[operation] = 0;
    return operation;
  }

  /** O(rows of the operation) */
  add(given: TraceOperation): number {
    const { kind, session, transaction, reads, writes, predicates, mayWrite, savepoint, lock, failed, start, end } =
      given;
    const id = this.sessions.of(session);
    const operation = this.open(kindCode[kind], id, transaction, start, end, reads.length, writes.length);
    if (lock !== null) this.lock[operation] = lockCode[lock];
    if (failed) this.failed[operation] = 1;
    if (given.mayReadMore === true) this.mayReadMore[operation] = 1;
    this.#setRows(this.reads[operation], reads);
    this.#setRows(this.writes[operation], writes);
    this.setExtra(operation, predicates, mayWrite, savepoint);
    return operation;
  }

  setExtra(
    operation: number,
    predicates: readonly PredicateRead[],
    mayWrite: readonly string[] | undefined,
    savepoint: string | undefined,
  ): void {
    if (predicates.length === 0 && mayWrite === undefined && savepoint === undefined) return;
    this.hasExtra[operation] = 1;
    this.#extra.set(operation, { predicates, mayWrite, savepoint });
  }

  #setRows(first: number, rows: readonly RowValue[]): void {
    for (let i = 0; i < rows.length; i += 1) {
      const { key, image } = rows[i];
      this.entries.set(first + i, this.keys.of(key), toImage(image, this.emptyShape));
    }
  }

  predicatesOf(operation: number): readonly PredicateRead[] {
    return (this.hasExtra[operation] === 1 ? this.#extra.get(operation)?.predicates : undefined) ?? noPredicates;
  }

  mayWriteOf(operation: number): readonly string[] | undefined {
    return this.hasExtra[operation] === 1 ? this.#extra.get(operation)?.mayWrite : undefined;
  }

  savepointOf(operation: number): string | undefined {
    return this.hasExtra[operation] === 1 ? this.#extra.get(operation)?.savepoint : undefined;
  }

  /** Does it name a row that it read or wrote? */
  hasRows(operation: number): boolean {
    return this.reads[operation] !== this.entriesEnd[operation];
  }

  /** Is it a read or a write that names a row, or a condition on rows? */
  namesRows(operation: number): boolean {
    return this.hasRows(operation) || this.predicatesOf(operation).length > 0;
  }

  /** May it have read or written rows that it does not name? */
  isOpaque(operation: number): boolean {
    return this.mayReadMore[operation] === 1 || this.mayWriteOf(operation) !== undefined;
  }

  /** The rows that it returned. */
  rowsRead(operation: number): ReadonlySet<number> {
    return new Set(this.entries.row.subarray(this.reads[operation], this.writes[operation]));
  }

  remove(operation: number): void {
    const first = this.reads[operation];
    this.entries.give(first, this.entriesEnd[operation] - first);
    this.transaction[operation] = '';
    if (this.hasExtra[operation] === 1) this.#extra.delete(operation);
    this.give(operation);
  }

  /** As it was given: for evidence. */
  operationAt(operation: number): TraceOperation {
    const mayWrite = this.mayWriteOf(operation);
    const savepoint = this.savepointOf(operation);
    return {
      session: this.sessions.name(this.session[operation]),
      transaction: this.transaction[operation],
      kind: operationKinds[this.kind[operation]],
      reads: this.#rowsIn(this.reads[operation], this.writes[operation]),
      writes: this.#rowsIn(this.writes[operation], this.entriesEnd[operation]),
      predicates: this.predicatesOf(operation),
      ...(mayWrite === undefined ? {} : { mayWrite }),
      ...(this.mayReadMore[operation] === 0 ? {} : { mayReadMore: true }),
      ...(savepoint === undefined ? {} : { savepoint }),
      lock: ([null, 'update', 'share'] as const)[this.lock[operation]] ?? null,
      failed: this.failed[operation] === 1,
      start: this.start[operation],
      end: this.end[operation],
    };
  }

  #rowsIn(first: number, end: number): RowValue[] {
    const { entries, keys } = this;
    const rows: RowValue[] = [];
    for (let entry = first; entry < end; entry += 1)
      rows.push({ key: keys.name(entries.row[entry]), image: fromImage(entries.image[entry]) });
    return rows;
  }

  protected override grow(capacity: number): void {
    this.kind = grownBytes(this.kind, capacity);
    this.lock = grownBytes(this.lock, capacity);
    this.failed = grownBytes(this.failed, capacity);
    this.isUndone = grownBytes(this.isUndone, capacity);
    this.mayReadMore = grownBytes(this.mayReadMore, capacity);
    this.hasExtra = grownBytes(this.hasExtra, capacity);
    this.session = grownInts(this.session, capacity);
    this.start = grownFloats(this.start, capacity);
    this.end = grownFloats(this.end, capacity);
    this.reads = grownInts(this.reads, capacity);
    this.writes = grownInts(this.writes, capacity);
    this.entriesEnd = grownInts(this.entriesEnd, capacity);
    this.next = grownInts(this.next, capacity);
  }
}

const noPredicates: readonly PredicateRead[] = [];
