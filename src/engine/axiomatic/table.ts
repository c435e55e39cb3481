/**
 * The rows of one table with their cells, as all transactions may see them. A row is its primary key: deleted and inserted again it is the same row, with
 * the same cells. A row without a primary key is itself. Rows that no reader can find any more are not listed; those with a primary key are
 * remembered, because their cells have a past.
 */
import type { AccessPath, IndexId, RowId, TableShape, SqlValue } from '../../sql/model/index.ts';
import { IndexTree } from '../index-tree.ts';
import { initialWriter, Version } from './version.ts';
import { jsonValue, type Held } from './held.ts';
import { type Key, type RowEntry, RowIndex } from './row-index.ts';

export type Granularity = 'cell' | 'row';

export type TableIndex = RowIndex<StoredRow>;

/** Is the row there, as slot 0 holds it? */
export function isThere(existence: Held): boolean {
  return existence !== null && existence !== false;
}

/** Shared by all that have none. */
const noVersions: readonly Version[] = [];

/**
 * What the axioms call a key. At cell granularity a row has an existence cell (true, false) and one cell a column; at row granularity one cell, which
 * holds the row's values or `null`. A cell comes to be when the first transaction touches it; until then a row is no more than its initial values.
 */
export class Cell {
  readonly row: StoredRow;
  readonly initial: Held;
  /** 0: existence, or the whole row; else a column's position + 1. */
  readonly slot: number;
  /** Its number in the commit orders; -1 while they do not know it. */
  key = -1;
  /** What the initial state holds, with all that has become part of it. */
  base: Version;
  /** The versions after it, in order of commit. */
  versions: readonly Version[] = noVersions;

  constructor(row: StoredRow, slot: number, initial: Held) {
    this.row = row;
    this.slot = slot;
    this.initial = initial;
    this.base = new Version(initialWriter, initial);
  }

  addVersion(version: Version): void {
    this.versions = [...this.versions, version];
  }

  keepVersions(stays: (version: Version) => boolean): void {
    const kept = this.versions.filter(stays);
    this.versions = kept.length === 0 ? noVersions : kept;
  }

  get latest(): Version {
    return this.versions.at(-1) ?? this.base;
  }
}

export class StoredRow {
  readonly table: Table;
  readonly id: RowId;
  /** The primary key; `null` where there is none. */
  readonly primaryKey: Key | null;
  /** In the initial state; `null`: it was not there. */
  values: Key | null = null;
  /** By slot: those that were touched. */
  cells: (Cell | undefined)[] | null = null;
  /** By index: its keys in `RowIndex.committed`. */
  keys: (readonly Key[])[] = [];
  /** Can a reader find it there? */
  isListed = false;

  constructor(table: Table, id: RowId, primaryKey: Key | null) {
    this.table = table;
    this.id = id;
    this.primaryKey = primaryKey;
  }

  cell(slot: number): Cell {
    this.cells ??= [];
    return (this.cells[slot] ??= new Cell(this, slot, this.initial(slot)));
  }

  initial(slot: number): Held {
    if (this.table.granularity === 'row') return this.values;
    return slot === 0 ? this.values !== null : (this.values?.[slot - 1] ?? null);
  }

  latest(slot: number): Held {
    const cell = this.cells?.[slot];
    return cell === undefined ? this.initial(slot) : cell.latest.held;
  }

  /** The row that `held` makes of it, slot by slot; `null` where it is not there. */
  image(held: (slot: number) => Held): SqlValue[] | null {
    const existence = held(0);
    if (!isThere(existence)) return null;
    if (this.table.granularity === 'row') return [...(existence as Key)];
    return this.table.shape.columns.map((_, column) => held(column + 1) as SqlValue);
  }

  /** Its name in histories. */
  get name(): string {
    const key = this.primaryKey === null ? `#${this.id}` : this.primaryKey.map(nameOfValue).join(',');
    return `${this.table.name}/${key}`;
  }
}

function nameOfValue(value: SqlValue): string {
  const json = jsonValue(value);
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  return text.replaceAll(/[%/,]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

export class Table {
  shape: TableShape;
  /** In histories. */
  readonly name: string;
  readonly granularity: Granularity;
  /** The listed rows, in the order in which they were. */
  readonly rows = new Map<RowId, StoredRow>();
  indexes: TableIndex[] = [];
  primary: TableIndex | null;
  /** Rows with a primary key that were listed once or may be. */
  readonly #unlisted: IndexTree<RowEntry<StoredRow>> | null;
  #rowIds = 0;

  constructor(shape: TableShape, name: string, granularity: Granularity) {
    this.shape = shape;
    this.name = name;
    this.granularity = granularity;
    this.indexes = shape.indexes.map((index) => new RowIndex<StoredRow>(index));
    this.primary = primaryOf(this.indexes);
    this.#unlisted = this.primary === null ? null : new IndexTree(this.primary.shape.compare);
  }

  index(id: IndexId): TableIndex {
    return this.indexes.find(({ shape }) => shape.id === id) as TableIndex;
  }

  /** The keys that a row with these values has, by index. */
  keysOf(values: Key): (Key | null)[] {
    return this.indexes.map((index) => index.keyOf(values));
  }

  /** The row that a row with these keys is: there already, or new. */
  rowFor(keys: readonly (Key | null)[]): StoredRow {
    const { primary } = this;
    const key = (primary === null ? null : keys[this.indexes.indexOf(primary)]) ?? null;
    if (primary !== null && key !== null) {
      const there = primary.committed.firstWith(key) ?? this.#unlisted?.firstWith(key);
      if (there !== undefined) return there.row;
    }
    this.#rowIds += 1;
    return new StoredRow(this, this.#rowIds, key);
  }

  /** The listed rows for `path`, and those that `reader` has in hand. */
  candidates(path: AccessPath, reader: object | null, own: Iterable<StoredRow>): StoredRow[] {
    if (path.kind === 'index') return [...this.index(path.index).rows(path, reader)];
    const rows = [...this.rows.values()];
    for (const row of own) if (row.table === this && !row.isListed) rows.push(row);
    return rows;
  }

  /** A row that is not listed keeps its primary key. */
  remember(row: StoredRow): void {
    if (row.primaryKey !== null && !row.isListed) this.#unlisted?.insert({ key: row.primaryKey, id: row.id, row });
  }

  list(row: StoredRow): void {
    if (row.isListed) return;
    row.isListed = true;
    this.rows.set(row.id, row);
    if (row.primaryKey !== null) this.#unlisted?.remove(row.primaryKey, row.id);
  }

  /** No version of it is there to be seen. */
  unlist(row: StoredRow): void {
    row.isListed = false;
    this.rows.delete(row.id);
    for (const [i, index] of this.indexes.entries()) {
      this.#setKeys(row, i, []);
      index.wide.delete(row);
    }
    this.remember(row);
  }

  /** The keys of `row` in all indexes, or in those that depend on these columns. */
  reindex(row: StoredRow, columns?: readonly number[]): void {
    let choices: Key[] | null = null;
    for (const [i, index] of this.indexes.entries()) {
      if (columns !== undefined && row.keys[i] !== undefined && !index.dependsOn(columns)) continue;
      choices ??= this.granularity === 'cell' ? this.choices(row) : null;
      const keys = choices === null ? keysOfImages(index, images(row)) : index.keysOf(choices);
      if (keys === null) index.wide.add(row);
      else index.wide.delete(row);
      this.#setKeys(row, i, keys ?? []);
    }
  }

  /** A row that another table had, with its number. */
  adopt(row: StoredRow): void {
    this.#rowIds = Math.max(this.#rowIds, row.id);
    this.list(row);
    this.indexInitial(row, this.keysOf(row.values as Key));
  }

  /** The same columns and primary key, other indexes. */
  reshape(shape: TableShape): void {
    this.shape = shape;
    this.indexes = shape.indexes.map((index) => new RowIndex<StoredRow>(index));
    this.primary = primaryOf(this.indexes);
    for (const row of this.rows.values()) {
      row.keys = [];
      this.reindex(row);
    }
  }

  /** A row of the initial state: one key an index. */
  indexInitial(row: StoredRow, keys: readonly (Key | null)[]): void {
    for (let i = 0; i < keys.length; i += 1) {
      const key = keys[i] ?? null;
      this.#setKeys(row, i, key === null ? none : [key]);
    }
  }

  #setKeys(row: StoredRow, i: number, keys: readonly Key[]): void {
    const index = this.indexes[i] as TableIndex;
    const { compare } = index.shape;
    const old = row.keys[i] ?? none;
    for (const key of old) if (!keys.some((other) => compare(other, key) === 0)) index.committed.remove(key, row.id);
    for (const key of keys)
      if (!old.some((other) => compare(other, key) === 0)) index.committed.insert({ key, id: row.id, row });
    row.keys[i] = keys;
  }

  /** What each column may hold. */
  choices(row: StoredRow): Key[] {
    return this.shape.columns.map((_, column) => {
      const cell = row.cells?.[column + 1];
      const initial = row.initial(column + 1) as SqlValue;
      if (cell === undefined) return [initial];
      const values = cell.versions.map(({ held }) => held as SqlValue);
      // Before the row was first inserted no reader that sees it there reads its columns.
      if (values.length === 0 || cell.base.writer !== initialWriter || row.values !== null)
        values.unshift(cell.base.held as SqlValue);
      return values.length === 1 ? values : [...new Set(values)];
    });
  }
}

const none: readonly Key[] = [];

function primaryOf(indexes: readonly TableIndex[]): TableIndex | null {
  return indexes.find(({ shape }) => shape.isPrimary) ?? null;
}

/** The whole rows that a row may be seen as. */
function images(row: StoredRow): Key[] {
  const cell = row.cells?.[0];
  const held = cell === undefined ? [row.values] : [cell.base.held, ...cell.versions.map((version) => version.held)];
  return held.filter((image) => image !== null) as Key[];
}

function keysOfImages(index: TableIndex, rows: readonly Key[]): Key[] {
  const keys: Key[] = [];
  for (const values of rows) {
    const key = index.keyOf(values);
    if (key !== null && !keys.some((other) => index.shape.compare(other, key) === 0)) keys.push(key);
  }
  return keys;
}
