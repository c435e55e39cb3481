/**
 * A table of the InnoDB profile: a clustered index of rows by primary key and secondary indexes by key and primary key. A record stays in its
 * index while some version of its row has its key: InnoDB's delete-marked records, which carry locks until they are purged.
 */
import { assert } from '../../base/index.ts';
import {
  SqlError,
  type IndexShape,
  type RowId,
  type TableId,
  type TableShape,
  type SqlValue,
} from '../../sql/model/index.ts';
import { lockableCounter } from './auto-increment-lock.ts';
import { noLocks, type LockableRecord, type RecordLock } from './gap-locks.ts';
import { IndexTree, type IndexEntry } from '../index-tree.ts';
import { RowVersion, type IndexKeys, type VersionContent, type Writer } from '../versions.ts';

export type InnodbVersion = RowVersion<InnodbRow>;

export class InnodbRow {
  readonly id: RowId;
  readonly tableId: TableId;
  readonly table: InnodbTable;
  /** For the life of the row: an UPDATE of the primary key makes another row. */
  clusteredKey: readonly SqlValue[];
  newest: InnodbVersion | null = null;

  constructor(table: InnodbTable, id: RowId, clusteredKey: readonly SqlValue[]) {
    this.table = table;
    this.tableId = table.shape.id;
    this.id = id;
    this.clusteredKey = clusteredKey;
  }
}

export class IndexRecord implements IndexEntry, LockableRecord {
  readonly key: readonly SqlValue[];
  readonly id: RowId;
  readonly row: InnodbRow;
  readonly index: InnodbIndex;
  readonly isSupremum = false;
  locks: RecordLock[] = noLocks;
  /** Its row has been written already, but who wrote it still waits for the lock to delete-mark this. */
  isMarkPending = false;

  constructor(index: InnodbIndex, key: readonly SqlValue[], row: InnodbRow) {
    this.index = index;
    this.key = key;
    this.id = row.id;
    this.row = row;
  }

  /** The same in each run of a program. */
  get name(): string {
    const { table } = this.row;
    const index = this.index.isClustered ? 'rows' : this.index.shape.name;
    return `${table.shape.name} ${index} #${this.id}`;
  }

  /** Has one of the writer's versions of the row made or delete-marked this record? In the clustered index each has. */
  isWrittenBy(writer: Writer): boolean {
    const isIn = (version: InnodbVersion | null): boolean =>
      version !== null && !version.isDeleted && this.index.hasKey(version, this.key);
    let version = this.row.newest;
    for (; version !== null && version.writer === writer; version = version.older)
      if (this.index.isClustered || isIn(version) !== isIn(version.older)) return true;
    return false;
  }
}

export class InnodbIndex {
  readonly shape: IndexShape;
  /** In the table's list, and in a version's keys. */
  readonly position: number;
  readonly isClustered: boolean;
  /** The columns of its records: its own and the primary key's. */
  readonly cells: ReadonlySet<number>;
  readonly tree: IndexTree<IndexRecord>;
  readonly supremum: LockableRecord = { isSupremum: true, locks: noLocks, index: this, row: null };

  /** The table's number. */
  readonly table: TableId;
  /** How often a page may have been split: a record was added to it, or one of its rows grew. */
  splits = 0;
  /** Read views from before this commit cannot read it: they would miss older versions. */
  since: number;
  /** Of the clustered index: tells records with equal keys apart. */
  readonly compareRows: IndexShape['compare'];

  constructor(table: TableId, shape: IndexShape, position: number, clustered: IndexShape, since: number) {
    this.table = table;
    this.since = since;
    this.shape = shape;
    this.position = position;
    this.isClustered = shape === clustered;
    this.cells = new Set([...shape.cells, ...clustered.cells]);
    const { compare } = clustered;
    this.compareRows = compare;
    this.tree = new IndexTree<IndexRecord>(shape.compare, (a, b) => compare(a.row.clusteredKey, b.row.clusteredKey));
  }

  /** The record after a place: what carries the locks of the gap before it. */
  after(record: IndexRecord): LockableRecord {
    return this.tree.next(record) ?? this.supremum;
  }

  hasKey(version: InnodbVersion, key: readonly SqlValue[]): boolean {
    const other = version.keys[this.position];
    if (other === key) return true;
    return other !== null && other !== undefined && this.shape.compare(other, key) === 0;
  }
}

export class InnodbTable {
  shape: TableShape;
  indexes: readonly InnodbIndex[];
  /** Of AUTO_INCREMENT. */
  readonly counter: LockableRecord;
  #lastRowId = 0;

  /** @param since the commit that it comes with */
  constructor(shape: TableShape, since: number) {
    this.shape = shape;
    this.counter = lockableCounter(shape.id);
    this.indexes = indexesOf(shape, since, []);
  }

  /** Its rows, each with its only version, and no locks. */
  copy(): InnodbTable {
    const copy = new InnodbTable(this.shape, 0);
    copy.#lastRowId = this.#lastRowId;
    const rows = new Map<InnodbRow, InnodbRow>();
    for (const { row } of this.clustered.tree) {
      const copied = new InnodbRow(copy, row.id, row.clusteredKey);
      copied.newest = row.newest?.settledIn(copied) ?? null;
      rows.set(row, copied);
    }
    for (const [position, { tree, since }] of this.indexes.entries()) {
      const index = copy.indexes[position] as InnodbIndex;
      index.since = since;
      tree.mapped(({ key, row }) => new IndexRecord(index, key, rows.get(row) as InnodbRow), index.tree);
    }
    return copy;
  }

  get clustered(): InnodbIndex {
    return this.indexes[0] as InnodbIndex;
  }

  index(id: number): InnodbIndex {
    const index = this.indexes.find(({ shape }) => shape.id === id);
    assert(index !== undefined, `table ${this.shape.name} has index ${id}`);
    return index;
  }

  /** Without a primary key the row's number is the hidden one. */
  keysOf(values: readonly SqlValue[], row: RowId): IndexKeys {
    return this.indexes.map(({ shape }) => (shape === hiddenKey ? [row] : shape.keyOf(values)));
  }

  /** Do rows without a primary key get their key from their number? */
  get isKeyHidden(): boolean {
    return this.clustered.shape === hiddenKey;
  }

  nextRowId(): RowId {
    return ++this.#lastRowId;
  }

  push(row: InnodbRow, writer: Writer, command: number, content: VersionContent): InnodbVersion {
    const version = new RowVersion(row, writer, command, row.newest, content);
    row.newest = version;
    return version;
  }

  /** Does some version of the row have this key? */
  isInUse(row: InnodbRow, index: InnodbIndex, key: readonly SqlValue[]): boolean {
    for (let version = row.newest; version !== null; version = version.older)
      if (index.hasKey(version, key)) return true;
    return false;
  }

  /**
   * New values and keys for every version; nothing is changed when it fails. Locks on records are lost. @param since the commit that new indexes
   * come with; a new clustered index makes all of them anew @throws SqlError 23505
   */
  alter(shape: TableShape, since: number, convert: ((values: readonly SqlValue[]) => SqlValue[]) | undefined): void {
    const indexes = indexesOf(shape, since, this.indexes);
    const altered: [InnodbVersion, SqlValue[], IndexKeys][] = [];
    const rows = new Set<InnodbRow>();
    for (const { row } of this.clustered.tree) rows.add(row);
    for (const row of rows) {
      for (let version = row.newest; version !== null; version = version.older) {
        const values = convert === undefined ? version.values : convert(version.values);
        const keys = indexes.map((index) => (index.shape === hiddenKey ? [row.id] : index.shape.keyOf(values)));
        altered.push([version, values, keys]);
      }
    }
    checkUnique(shape, indexes, altered);
    this.shape = shape;
    this.indexes = indexes;
    for (const [version, values, keys] of altered) {
      version.values = values;
      version.keys = keys;
      version.stored.clusteredKey = keys[0] ?? [];
    }
    for (const [{ stored }, , keys] of altered)
      for (const index of indexes) {
        const key = keys[index.position];
        if (key) index.tree.insert(new IndexRecord(index, key, stored));
      }
  }
}

const hiddenKey: IndexShape = {
  id: -1,
  name: 'GEN_CLUST_INDEX',
  isPrimary: true,
  isUnique: true,
  nullsAreEqual: false,
  isDeferrable: false,
  cells: [],
  keyOf: () => null,
  compare: (a, b) => (a.length === 0 || b.length === 0 ? 0 : Number(a[0]) - Number(b[0])),
};

function indexesOf(shape: TableShape, since: number, before: readonly InnodbIndex[]): readonly InnodbIndex[] {
  const primary = shape.indexes.find(({ isPrimary }) => isPrimary);
  const clustered = primary ?? hiddenKey;
  const shapes = [clustered, ...shape.indexes.filter((index) => index !== primary)];
  const kept = before[0]?.shape.id === clustered.id ? before : [];
  return shapes.map((index, position) => {
    const old = kept.find((each) => each.shape.id === index.id);
    return new InnodbIndex(
      shape.id,
      index,
      position,
      clustered,
      shape.isTemporary === true ? 0 : (old?.since ?? since),
    );
  });
}

function checkUnique(
  shape: TableShape,
  indexes: readonly InnodbIndex[],
  altered: readonly (readonly [InnodbVersion, SqlValue[], IndexKeys])[],
): void {
  const live = altered.filter(([version]) => version.stored.newest === version && !version.isDeleted);
  for (const { shape: index, position } of indexes) {
    if (!index.isUnique) continue;
    const keys = live.flatMap(([, , { [position]: key }]) => (key && isComparable(key, index) ? [key] : []));
    keys.sort(index.compare);
    const duplicate = keys.find((key, at) => at > 0 && index.compare(keys[at - 1] ?? [], key) === 0);
    if (duplicate === undefined) continue;
    const message = `Duplicate entry '${duplicate.map(String).join('-')}' for key '${index.isPrimary ? 'PRIMARY' : index.name}'`;
    throw new SqlError('23505', message, { table: shape.name, constraint: index.name, mysqlNumber: 1062 });
  }
}

/** Keys with a NULL equal nothing, unless the index says otherwise. */
export function isComparable(key: readonly SqlValue[], index: IndexShape): boolean {
  return index.nullsAreEqual || !key.includes(null);
}

/** Delete-marked: the newest version is a deletion or has another key. */
export function isMarked(index: InnodbIndex, record: IndexRecord): boolean {
  const { newest } = record.row;
  if (record.isMarkPending) return false;
  return newest === null || newest.isDeleted || !index.hasKey(newest, record.key);
}
