/**
 * Rows as chains of versions, newest first. A version is the `Row` that statements see, so a read allocates nothing.
 * A version that is rolled back leaves its chain at once: what is in a chain is committed or belongs to an open transaction.
 */
import { assert } from '../base/index.ts';
import type { Row, RowId, TableId, SqlValue } from '../sql/model/index.ts';
import type { ObservedVersion } from './observer.ts';
import type { Watched } from './postgres/serializable.ts';

/** What a version remembers of its writer. */
export interface Writer {
  readonly id: number;
  /** Its place in the order of commits; Infinity while it is open. */
  commitSequence: number;
  /** Under PostgreSQL's SERIALIZABLE. */
  watched: Watched | null;
}

export type IndexKeys = readonly (readonly SqlValue[] | null)[];

export class RowVersion<S extends VersionedRow = VersionedRow> implements Row {
  readonly table: TableId;
  readonly id: RowId;
  /** Of a deleted row: the values it had. Replaced when the table is altered. */
  values: SqlValue[];
  readonly stored: S;
  readonly writer: Writer;
  /** The statement of its writer that wrote it, counted in the transaction. */
  readonly command: number;
  readonly isDeleted: boolean;
  /** PostgreSQL: may a FOR KEY SHARE not lock the version before it, because a key has changed or its writer had locked the row FOR UPDATE? */
  readonly changesKey: boolean;
  /** Its key in every index of the table; `null` where a partial index leaves the row out. */
  keys: IndexKeys;
  older: RowVersion<S> | null;
  /** Counts the versions of a row, from 1. */
  readonly sequence: number;
  /** Serializable transactions that have read it. */
  readers: Set<Watched> | null = null;
  /** What observers hear of it, made once. */
  #observed: ObservedVersion | null = null;

  constructor(
    stored: S,
    writer: Writer,
    command: number,
    older: RowVersion<S> | null,
    content: VersionContent,
    sequence = older === null ? 1 : older.sequence + 1,
  ) {
    this.table = stored.tableId;
    this.id = stored.id;
    this.values = content.values;
    this.stored = stored;
    this.writer = writer;
    this.command = command;
    this.isDeleted = content.isDeleted;
    this.changesKey = content.changesKey === true;
    this.keys = content.keys;
    this.older = older;
    this.sequence = sequence;
  }

  /** The same version of a copy of its row: committed, and in every snapshot from now on. */
  settledIn(copy: S): RowVersion<S> {
    assert(
      this.older === null && !this.isDeleted && this.writer.commitSequence !== Infinity,
      'no other version is left',
    );
    const writer = { id: this.writer.id, commitSequence: this.writer.commitSequence, watched: null };
    return new RowVersion(copy, writer, this.command, null, this, this.sequence);
  }

  get observed(): ObservedVersion {
    const { values } = this;
    if (this.#observed?.lastValues === values) return this.#observed;
    this.#observed = {
      row: this.id,
      writerTransactionId: this.writer.id,
      sequence: this.sequence,
      values: this.isDeleted ? null : values,
      lastValues: values,
    };
    return this.#observed;
  }

  load(_row: Row, column: number): SqlValue {
    assert(false, `row ${this.id} of table ${this.table} has no column ${column}`);
  }
}

export interface VersionContent {
  readonly values: SqlValue[];
  readonly keys: IndexKeys;
  readonly isDeleted: boolean;
  readonly changesKey?: boolean;
}

export interface VersionedRow {
  readonly id: RowId;
  readonly tableId: TableId;
}

/**
 * The version of a snapshot, deleted or not: committed by `snapshot`, or the own one of an earlier statement.
 * @param command own versions of this statement and later ones are not seen; Infinity sees all
 */
export function versionAt<S extends VersionedRow>(
  newest: RowVersion<S> | null,
  reader: Writer,
  snapshot: number,
  command: number,
): RowVersion<S> | null {
  for (let version = newest; version !== null; version = version.older) {
    if (version.writer === reader ? version.command < command : version.writer.commitSequence <= snapshot)
      return version;
  }
  return null;
}

/** The latest version that is committed or own. */
export function currentVersion<S extends VersionedRow>(
  newest: RowVersion<S> | null,
  reader: Writer,
): RowVersion<S> | null {
  let version = newest;
  while (version !== null && version.writer !== reader && version.writer.commitSequence === Infinity)
    version = version.older;
  return version;
}

/** The open transaction other than `reader` that has written this row; rows are written by one at a time. */
export function openWriter(newest: RowVersion | null, reader: Writer): Writer | null {
  if (newest === null || newest.writer === reader || newest.writer.commitSequence !== Infinity) return null;
  return newest.writer;
}
