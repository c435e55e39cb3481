/**
 * A table of the PostgreSQL profile: rows with their versions, and index entries for every key that some version in a chain has. A scan
 * finds a row by an old key too, and passes over it when the version it sees has another one.
 */
import { assert } from '../../base/index.ts';
import {
  type AccessPath,
  type IndexShape,
  type RowId,
  type TableId,
  type TableShape,
  SqlError,
  type SqlValue,
} from '../../sql/model/index.ts';
import type { IndexTree } from '../index-tree.ts';
import { PredicateReads } from './predicate-reads.ts';
import type { RowLocks } from './row-locks.ts';
import { type IndexRow, TableIndex } from './table-index.ts';
import { RowVersion, type IndexKeys, type VersionContent, type Writer } from '../versions.ts';

export class StoredRow {
  newest: Version | null = null;
  readonly id: RowId;
  readonly tableId: TableId;
  readonly table: PostgresTable;
  /** Made when it is first locked. */
  locks: RowLocks | null = null;

  constructor(table: PostgresTable, id: RowId) {
    this.id = id;
    this.table = table;
    this.tableId = table.shape.id;
  }
}

export type Version = RowVersion<StoredRow>;

/**
 * In which order a scan of a whole table comes to its rows: as they were inserted, or as their versions were written, as on a server while the table's
 * pages have room and no VACUUM has freed any.
 */
export type ScanOrder = 'insertion' | 'heap';

/** What every snapshot from `since` on sees of a table, in the order of a scan. Infinity: a transaction that is open has written some of it. */
export interface SettledRows {
  readonly versions: readonly Version[];
  readonly since: number;
}

export class PostgresTable {
  shape: TableShape;
  indexes: readonly TableIndex<StoredRow>[];
  readonly rows = new Map<RowId, StoredRow>();
  readonly reads = new PredicateReads();
  /** `null`: not known since the last write. */
  settled: SettledRows | null = null;
  /** Counts the writes, and those that are undone. */
  edition = 0;
  /**
   * Where scans follow it: the versions in the order in which they were written, each with the place to which index entries lead. That is the place
   * of the oldest version from which on no key has changed (a HOT chain, `src/backend/access/heap/README.HOT`).
   */
  readonly heap: Map<Version, number> | null;
  #lastPlace = 0;
  #lastRowId = 0;

  constructor(shape: TableShape, scanOrder: ScanOrder) {
    this.shape = shape;
    this.heap = scanOrder === 'heap' ? new Map() : null;
    this.indexes = indexesOf(shape);
  }

  /** Its rows, each with its only version. */
  copy(scanOrder: ScanOrder): PostgresTable {
    const copy = new PostgresTable(this.shape, scanOrder);
    copy.#lastRowId = this.#lastRowId;
    copy.#lastPlace = this.#lastPlace;
    for (const { id, newest } of this.rows.values()) {
      const row = new StoredRow(copy, id);
      row.newest = newest?.settledIn(row) ?? null;
      copy.rows.set(id, row);
    }
    for (const [version, place] of this.heap ?? []) {
      const copied = copy.rows.get(version.id)?.newest;
      if (copied) copy.heap?.set(copied, place);
    }
    for (const [position, index] of this.indexes.entries())
      index.copyTo(copy.index(position), ({ id }) => copy.rows.get(id) as StoredRow);
    return copy;
  }

  /** The position in the shape. */
  indexPosition(index: number): number {
    const position = this.shape.indexes.findIndex(({ id }) => id === index);
    assert(position >= 0, `table ${this.shape.name} has no index ${index}`);
    return position;
  }

  index(position: number): TableIndex<StoredRow> {
    return this.indexes[position] as TableIndex<StoredRow>;
  }

  tree(position: number): IndexTree<IndexRow<StoredRow>> {
    return this.index(position).tree;
  }

  keysOf(values: readonly SqlValue[]): IndexKeys {
    return this.shape.indexes.map((index) => index.keyOf(values));
  }

  newRow(): StoredRow {
    return new StoredRow(this, ++this.#lastRowId);
  }

  /** A new version at the head of a row's chain. Its new keys are entered one by one, each when it is known to be free. */
  push(row: StoredRow, writer: Writer, command: number, content: VersionContent): Version {
    const version = new RowVersion(row, writer, command, row.newest, content);
    if (row.newest === null) this.rows.set(row.id, row);
    row.newest = version;
    this.#changed();
    this.#place(version);
    return version;
  }

  #place(version: Version): void {
    const { older } = version;
    const place = ++this.#lastPlace;
    const isHot = older !== null && !changesKey(older, version);
    this.heap?.set(version, isHot ? (this.heap.get(older) ?? place) : place);
  }

  enter(version: Version, position: number): void {
    const key = version.keys[position];
    if (key !== null && key !== undefined) this.index(position).insert(key, version.stored);
  }

  /** Undoes the newest version. */
  pop(version: Version): void {
    const row = version.stored;
    assert(row.newest === version, `row ${row.id} of ${this.shape.name}: only the newest version is rolled back`);
    row.newest = version.older;
    this.#changed();
    if (row.newest === null) this.rows.delete(row.id);
    this.#forget(row, version);
  }

  #changed(): void {
    this.edition++;
    this.settled = null;
  }

  /** Drops the versions that no snapshot from `oldest` on can see. */
  prune(row: StoredRow, oldest: number): void {
    let version = row.newest;
    while (version !== null && version.writer.commitSequence > oldest) version = version.older;
    if (version === null) return;
    let garbage = version.older;
    version.older = null;
    if (version.isDeleted && version === row.newest) {
      garbage = version;
      row.newest = null;
      this.rows.delete(row.id);
    }
    for (; garbage !== null; garbage = garbage.older) this.#forget(row, garbage);
  }

  /** Drops what no snapshot from `oldest` on can see, of every row. */
  pruneAll(oldest: number): void {
    for (const row of this.rows.values()) this.prune(row, oldest);
  }

  /** Removes the entries of a version that has left its row's chain, but for keys that another version has. */
  #forget(row: StoredRow, version: Version): void {
    this.heap?.delete(version);
    for (let i = 0; i < this.indexes.length; i++) {
      const key = version.keys[i];
      if (key === null || key === undefined || this.#isInUse(row, i, key)) continue;
      this.index(i).remove(key, row);
    }
  }

  #isInUse(row: StoredRow, position: number, key: readonly SqlValue[]): boolean {
    const { compareKeys } = this.tree(position);
    for (let version = row.newest; version !== null; version = version.older) {
      const other = version.keys[position];
      if (other === key || (other && compareKeys(other, key) === 0)) return true;
    }
    return false;
  }

  /** New values and keys for every version; nothing is changed when it fails. @throws SqlError 23505 */
  alter(shape: TableShape, convert: ((values: readonly SqlValue[]) => SqlValue[]) | undefined): void {
    const altered: [Version, SqlValue[], IndexKeys][] = [];
    const indexes = indexesOf(shape);
    for (const row of this.rows.values()) {
      for (let version = row.newest; version !== null; version = version.older) {
        const values = convert === undefined ? version.values : convert(version.values);
        const keys = shape.indexes.map((index) => index.keyOf(values));
        altered.push([version, values, keys]);
        keys.forEach((key, i) => key !== null && indexes[i]?.insert(key, row));
      }
    }
    checkUnique(shape, altered);
    this.shape = shape;
    this.indexes = indexes;
    for (const [version, values, keys] of altered) {
      version.values = values;
      version.keys = keys;
    }
  }
}

function indexesOf({ indexes }: TableShape): TableIndex<StoredRow>[] {
  return indexes.map((index) => new TableIndex(index));
}

/** @throws SqlError 23505 when two newest versions have the same key */
function checkUnique(shape: TableShape, altered: readonly (readonly [Version, SqlValue[], IndexKeys])[]): void {
  const live = altered.filter(([version]) => version.stored.newest === version && !version.isDeleted);
  shape.indexes.forEach((index, i) => {
    if (!index.isUnique) return;
    const keys = live.flatMap(([, , { [i]: key }]) => (key && isComparable(key, index.nullsAreEqual) ? [key] : []));
    keys.sort(index.compare);
    const isDuplicate = keys.some((key, at) => at > 0 && index.compare(keys[at - 1] ?? [], key) === 0);
    if (!isDuplicate) return;
    const message = `could not create unique index "${index.name}"`;
    throw new SqlError('23505', message, { table: shape.name, constraint: index.name });
  });
}

/** Keys with a NULL equal nothing, unless the index says otherwise. */
export function isComparable(key: readonly SqlValue[], nullsAreEqual: boolean): boolean {
  return nullsAreEqual || !key.includes(null);
}

export function changesKey(older: Version, newer: Version): boolean {
  return newer.keys.some((key, i) => key !== older.keys[i]);
}

/** Versions are compared with these keys when a path names an index. */
export function pathIndex(table: PostgresTable, path: AccessPath): number | null {
  return path.kind === 'all' ? null : table.indexPosition(path.index);
}

/** Is it a key that foreign keys may refer to? */
export function isReferable(index: IndexShape | undefined): boolean {
  return index?.isUnique === true && index.isReferable !== false;
}

/** The old key object where the new one is equal, so that equality is identity from here on. */
export function sameKey(
  table: PostgresTable,
  position: number,
  old: readonly SqlValue[] | null,
  key: readonly SqlValue[] | null,
): readonly SqlValue[] | null {
  return old !== null && key !== null && table.tree(position).compareKeys(old, key) === 0 ? old : key;
}

/** Of a version of a row that an entry with this key leads to: is it the version's own? */
export function hasKey(table: PostgresTable, position: number, version: Version, key: readonly SqlValue[]): boolean {
  // The entries of a row with one version are those of that version.
  if (version.older === null && version.stored.newest === version) return true;
  const other = version.keys[position];
  if (other === key) return true;
  return other !== null && other !== undefined && table.tree(position).compareKeys(other, key) === 0;
}

/** Does the open writer's work on the row touch this key: some version of its own or the committed one has it. */
export function mayHaveKey(table: PostgresTable, position: number, row: StoredRow, key: readonly SqlValue[]): boolean {
  for (let version = row.newest; version !== null; version = version.older) {
    if (!version.isDeleted && hasKey(table, position, version, key)) return true;
    if (version.writer.commitSequence !== Infinity) return false;
  }
  return false;
}
