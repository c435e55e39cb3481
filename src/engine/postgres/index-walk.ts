/**
 * The versions of a snapshot that one range of an index leads to, in its order. An iterator by hand: where a LIMIT reads a few rows, a generator costs
 * more than they do.
 */
import type { RowCondition } from '../../sql/model/index.ts';
import type { Footprint } from '../footprint.ts';
import type { IndexPath } from '../index-tree.ts';
import { readPath, readRow } from './dependencies.ts';
import * as footprints from './footprint.ts';
import type { Watched } from './serializable.ts';
import { hasKey, type PostgresTable, type StoredRow, type Version } from './table.ts';
import type { IndexRow } from './table-index.ts';
import type { PostgresTransaction } from './transaction.ts';
import { versionAt } from '../versions.ts';

export type Matches = RowCondition['matches'];

export interface SnapshotReader {
  readonly transaction: PostgresTransaction;
  /** The statement's number in its transaction: it does not see its own writes. */
  readonly command: number;
  readonly snapshot: number;
  /** Of the step that took the snapshot: what is read with it is recorded there. */
  readonly snapshotFootprint: Footprint | null;
}

export class IndexWalk implements IterableIterator<Version, undefined> {
  readonly #reader: SnapshotReader;
  readonly #table: PostgresTable;
  readonly #position: number;
  readonly #path: IndexPath;
  readonly #me: Watched | null;
  readonly #matches: Matches;
  /** The step in which it read last. */
  #step: Footprint | null;
  /** `null`: it has not begun. */
  #next: (() => IndexRow<StoredRow> | undefined) | null = null;
  #hasEnded = false;

  constructor(reader: SnapshotReader, table: PostgresTable, position: number, path: IndexPath, matches: Matches) {
    this.#reader = reader;
    this.#table = table;
    this.#position = position;
    this.#path = path;
    this.#me = reader.transaction.watched;
    this.#matches = matches;
    this.#step = reader.transaction.storage.footprint;
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Version, undefined> {
    if (this.#hasEnded) return finished;
    // A scan that fails is over.
    this.#hasEnded = true;
    const value = this.#nextVersion();
    if (value === undefined) return finished;
    this.#hasEnded = false;
    return { done: false, value };
  }

  return(): IteratorResult<Version, undefined> {
    this.#hasEnded = true;
    return finished;
  }

  #nextVersion(): Version | undefined {
    const { transaction, snapshot, command } = this.#reader;
    const table = this.#table;
    const position = this.#position;
    const me = this.#me;
    const next = (this.#next ??= this.#begin());
    if (me !== null) this.#noteStep(me);
    for (let entry = next(); entry !== undefined; entry = next()) {
      const { key, row } = entry;
      if (this.#path.accepts?.(key) === false) continue;
      const version = versionAt(row.newest, transaction.writer, snapshot, command);
      if (me !== null) readRow(transaction, me, row, version, (other) => hasKey(table, position, other, key));
      if (version !== null && !version.isDeleted && hasKey(table, position, version, key) && this.#matches(version))
        return version;
    }
    return undefined;
  }

  /** A statement that waited for a row's lock continues in another step. */
  #noteStep(me: Watched): void {
    const { storage } = this.#reader.transaction;
    if (this.#step === storage.footprint) return;
    this.#step = storage.footprint;
    footprints.recordRememberedRead(storage, me, this.#table, this.#path);
  }

  #begin(): () => IndexRow<StoredRow> | undefined {
    const { transaction, snapshot, command } = this.#reader;
    if (this.#me !== null) readPath(transaction, this.#me, this.#table, this.#path);
    const placeOf = placeIn(this.#table, transaction, snapshot, command);
    return nextEntry(this.#table, this.#position, this.#path, placeOf);
  }
}

const finished = { done: true, value: undefined } as const;

/** The place to which the entries of a row lead, for its visible version; `null`: rows have no places. */
function placeIn(
  { heap }: PostgresTable,
  { writer }: PostgresTransaction,
  snapshot: number,
  command: number,
): ((row: StoredRow) => number) | null {
  if (heap === null) return null;
  return ({ newest }) => {
    const version = versionAt(newest, writer, snapshot, command) ?? newest;
    return version === null ? 0 : (heap.get(version) ?? 0);
  };
}

/** One entry a call; `undefined`: there is no other. */
function nextEntry(
  table: PostgresTable,
  position: number,
  path: IndexPath,
  placeOf: ((row: StoredRow) => number) | null,
): () => IndexRow<StoredRow> | undefined {
  const tree = table.tree(position);
  if (placeOf === null) return tree.cursor(path);
  const entries = equalsByPlace(tree.range(path), table, position, path, placeOf);
  return () => entries.next().value;
}

/** Entries with one key come in the order of the places that they lead to. */
function* equalsByPlace(
  entries: Iterable<IndexRow<StoredRow>>,
  table: PostgresTable,
  position: number,
  { isDescending }: IndexPath,
  placeOf: (row: StoredRow) => number,
): Generator<IndexRow<StoredRow>, undefined> {
  const { compareKeys } = table.tree(position);
  const inOrder = (entriesOfKey: readonly IndexRow<StoredRow>[]): IndexRow<StoredRow>[] =>
    entriesOfKey.toSorted((a, b) => (isDescending ? -1 : 1) * (placeOf(a.row) - placeOf(b.row)));
  let group: IndexRow<StoredRow>[] = [];
  for (const entry of entries) {
    const isNext = group[0] !== undefined && compareKeys(group[0].key, entry.key) !== 0;
    if (isNext) {
      yield* inOrder(group);
      group = [];
    }
    group.push(entry);
  }
  yield* inOrder(group);
  return undefined;
}
