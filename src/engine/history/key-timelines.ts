/**
 * The versions of each key, in the order of commits. A key may name one row after another: a row is deleted or moves to another key, and a
 * row that is inserted or moves has its key. A row that moves is deleted at its old key and inserted at the new one.
 */
import type { ObservedVersion } from '../observer.ts';
import type { Key } from '../../history/index.ts';
import type { SqlValue } from '../../sql/model/index.ts';
import type { RecordedRow, RecordedVersion } from './row-versions.ts';

/** What was written to a key; `writer` -1: the state before the recording. */
export interface KeyVersion {
  readonly writer: number;
  /** `null`: there is no row. */
  readonly values: readonly SqlValue[] | null;
  readonly at: number;
  /** Infinity unless the write was undone and its transaction continued. */
  readonly undoneAt: number;
  readonly row: number;
  readonly sequence: number;
}

/** A committed version. */
export interface TimelineVersion extends KeyVersion {
  readonly commit: number;
}

export interface KeyTimeline {
  /** Of each transaction that committed its last version: other transactions see no other one. */
  readonly versions: readonly TimelineVersion[];
  /** By all transactions, also what was undone. */
  readonly written: readonly KeyVersion[];
}

/** The key of a version: of a deleted one, that of the row it was. */
export type KeyOf = (row: number, version: ObservedVersion) => Key;

/**
 * @param commitOf the place of a transaction in the order of commits; Infinity where it did not commit
 * @returns by key; `null`: two rows had the key at once, and are not told apart
 */
export function timelinesOf(
  rows: Iterable<RecordedRow>,
  keyOf: KeyOf,
  commitOf: (transaction: number) => number,
): Map<Key, KeyTimeline | null> {
  const bases = new Map<Key, KeyVersion[]>();
  const written = new Map<Key, KeyVersion[]>();
  for (const { row, base, versions } of rows) {
    if (base !== null && base.values !== null)
      add(bases, keyOf(row, base), keyVersion(row, { version: base, older: null, at: -1, undoneAt: Infinity }, -1));
    for (const each of versions) {
      const left = leftKey(row, each, keyOf);
      if (left !== null) add(written, left, { ...keyVersion(row, each), values: null });
      add(written, keyOf(row, each.version), keyVersion(row, each));
    }
  }
  return new Map([...written].map(([key, all]) => [key, timelineOf(bases.get(key) ?? [], all, commitOf)]));
}

/** The key that a row had before this version moved it to another one; `null`: it stays, or is new. */
export function leftKey(
  row: number,
  { version, older }: Pick<RecordedVersion, 'version' | 'older'>,
  keyOf: KeyOf,
): Key | null {
  if (older === null || older.values === null) return null;
  const left = keyOf(row, older);
  return left === keyOf(row, version) ? null : left;
}

function timelineOf(
  bases: readonly KeyVersion[],
  written: readonly KeyVersion[],
  commitOf: (transaction: number) => number,
): KeyTimeline | null {
  if (bases.length > 1) return null;
  const base = bases[0] ?? { writer: -1, values: null, at: -1, undoneAt: Infinity, row: -1, sequence: 0 };
  const committed = written
    .filter(({ undoneAt }) => undoneAt === Infinity)
    .map((each): TimelineVersion => ({ ...each, commit: commitOf(each.writer) }))
    .filter(({ commit }) => commit !== Infinity)
    .toSorted((a, b) => a.commit - b.commit || a.at - b.at);
  const all = [{ ...base, commit: -1 }, ...committed];
  if (!isOneRowAtATime(all)) return null;
  return { versions: all.filter(({ writer }, i) => writer !== all[i + 1]?.writer), written };
}

function isOneRowAtATime(timeline: readonly TimelineVersion[]): boolean {
  return timeline.every(({ row }, i) => {
    const before = timeline[i - 1];
    return before === undefined || before.values === null || before.row === row;
  });
}

function keyVersion(
  row: number,
  { version, at, undoneAt }: RecordedVersion,
  writer = version.writerTransactionId,
): KeyVersion {
  return { writer, values: version.values, at, undoneAt, row, sequence: version.sequence };
}

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}
