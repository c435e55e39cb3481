/** The versions of a table that a statement of the PostgreSQL profile finds by an access path. */
import type { AccessPath, SqlValue } from '../../sql/model/index.ts';
import type { IndexPath } from '../index-tree.ts';
import { readRow } from './dependencies.ts';
import * as footprints from './footprint.ts';
import { IndexWalk, type Matches, type SnapshotReader } from './index-walk.ts';
import { type ScanCondition, settledRowsMin, SettledWalk } from './settled-walk.ts';
import { hasKey, pathIndex, type PostgresTable, type StoredRow, type Version } from './table.ts';
import type { PostgresTransaction } from './transaction.ts';
import type { Watched } from './serializable.ts';
import { currentVersion, versionAt } from '../versions.ts';

/** Up to this many rows with one key are read at once; of more, a statement may stop before the last. */
const rowsAtOnceMax = 32;

/** The matching versions of a snapshot. */
export function visibleVersions(
  reader: SnapshotReader,
  table: PostgresTable,
  path: AccessPath,
  condition: ScanCondition,
): Iterable<Version> {
  return snapshotScanner(reader, table, condition)(path);
}

/** The same in two steps. */
export function snapshotScanner(
  reader: SnapshotReader,
  table: PostgresTable,
  condition: ScanCondition,
): (path: AccessPath) => Iterable<Version> {
  const { transaction } = reader;
  const { matches } = condition;
  let index = -1;
  let position = -1;
  return (path) => {
    footprints.recordSnapshotRead(reader, table, path);
    const me = transaction.watched;
    if (path.kind === 'all')
      return me === null ? scanTable(reader, table, condition) : walkWatched(reader, table, me, matches);
    if (path.index !== index) {
      index = path.index;
      position = table.indexPosition(index);
    }
    if (me !== null) return new IndexWalk(reader, table, position, path, matches);
    const only = table.index(position).only(path);
    if (only === undefined) return none;
    if (only !== null) {
      const version = visibleOf(reader, table, position, path.prefix, only);
      return version !== null && matches(version) ? [version] : none;
    }
    const found = table.heap !== null ? null : lookUp(reader, table, position, path);
    if (found !== null) return found.length === 0 ? found : filtered(found, matches);
    return new IndexWalk(reader, table, position, path, matches);
  };
}

/** The matching latest versions, committed or the transaction's own, whatever its snapshot. */
export function* latestVersions(
  transaction: PostgresTransaction,
  table: PostgresTable,
  path: AccessPath,
  matches: Matches,
): Iterable<Version> {
  footprints.recordLatestScan(transaction, table, path);
  const position = pathIndex(table, path);
  const entries = path.kind === 'all' || position === null ? null : table.tree(position).range(path);
  for (const entry of entries ?? table.rows.values()) {
    const row = 'row' in entry ? entry.row : entry;
    const version = currentVersion(row.newest, transaction.writer);
    if (version === null || version.isDeleted) continue;
    if ('row' in entry && position !== null && !hasKey(table, position, version, entry.key)) continue;
    if (matches(version)) yield version;
  }
}

/** The visible versions with one key; `null`: the path is no key, or many rows have it. */
function lookUp(
  reader: SnapshotReader,
  table: PostgresTable,
  position: number,
  path: IndexPath,
): readonly Version[] | null {
  const rows = table.index(position).point(path);
  if (rows === null || rows.length > (path.isDescending ? 1 : rowsAtOnceMax)) return null;
  const versions: Version[] = [];
  for (const row of rows) {
    const version = visibleOf(reader, table, position, path.prefix, row);
    if (version !== null) versions.push(version);
  }
  return versions;
}

const none: readonly Version[] = [];

/** The visible version that an entry with this key leads to. */
function visibleOf(
  { transaction, snapshot, command }: SnapshotReader,
  table: PostgresTable,
  position: number,
  key: readonly SqlValue[],
  row: StoredRow,
): Version | null {
  const version = versionAt(row.newest, transaction.writer, snapshot, command);
  return version !== null && !version.isDeleted && hasKey(table, position, version, key) ? version : null;
}

/** Each is tested when the statement asks for it. */
function* filtered(versions: readonly Version[], matches: Matches): Iterable<Version> {
  for (const version of versions) if (matches(version)) yield version;
}

function scanTable(reader: SnapshotReader, table: PostgresTable, condition: ScanCondition): Iterable<Version> {
  const { settled } = table;
  const isSeen = settled !== null && settled.since <= reader.snapshot;
  const { storage } = reader.transaction;
  return isSeen
    ? new SettledWalk(settled.versions, condition, (id) => storage.table(id))
    : walkTable(reader, table, condition.matches);
}

/** Keeps what it has seen for the next scan, where that sees the same. */
function* walkTable(
  { transaction: { writer }, snapshot, command }: SnapshotReader,
  table: PostgresTable,
  matches: Matches,
): Iterable<Version> {
  const { edition } = table;
  let seen: Version[] | null = table.rows.size < settledRowsMin ? null : [];
  let since = 0;
  for (const at of table.heap?.keys() ?? table.rows.values()) {
    const row = 'stored' in at ? at.stored : at;
    const version = versionAt(row.newest, writer, snapshot, command);
    if (version === null || version !== row.newest) seen = null;
    const isHere = row === at || version === at;
    if (!isHere || version === null) continue;
    since = Math.max(since, version.writer.commitSequence);
    if (version.isDeleted) continue;
    seen?.push(version);
    if (matches(version)) yield version;
  }
  if (seen !== null && table.edition === edition) table.settled = { versions: seen, since };
}

/** Under SERIALIZABLE. */
function* walkWatched(reader: SnapshotReader, table: PostgresTable, me: Watched, matches: Matches): Iterable<Version> {
  const { transaction, snapshot, command } = reader;
  table.reads.readTable(me);
  // PostgreSQL reads all rows of a page when it comes to the page.
  if (transaction.storage.readsWholeIndex) readAll(reader, me, table);
  for (const at of table.heap?.keys() ?? table.rows.values()) {
    const row = 'stored' in at ? at.stored : at;
    const version = versionAt(row.newest, transaction.writer, snapshot, command);
    readRow(transaction, me, row, version, null);
    const isHere = row === at || version === at;
    if (isHere && version !== null && !version.isDeleted && matches(version)) yield version;
  }
}

function readAll({ transaction, snapshot, command }: SnapshotReader, me: Watched, table: PostgresTable): void {
  for (const row of table.rows.values())
    readRow(transaction, me, row, versionAt(row.newest, transaction.writer, snapshot, command), null);
}
