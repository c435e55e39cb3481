/**
 * A history out of what a recorder heard: an operation for each row that was read or written, keys `table/primary key`, values the row; and a
 * read for each row that a condition did not find though another version of it satisfies the condition (`missed-rows.ts`).
 */
import type { OperationTimes } from '../engine-profile.ts';
import type { ObservedVersion } from '../observer.ts';
import {
  defaultId,
  type History,
  INITIAL,
  type Key,
  type Operation,
  type Read,
  type Transaction,
  type Value,
} from '../../history/index.ts';
import type { SqlValue } from '../../sql/model/index.ts';
import { type KeyTimeline, leftKey, timelinesOf, type TimelineVersion } from './key-timelines.ts';
import { missedRow, type RecordedScan } from './missed-rows.ts';
import type { CatalogRead } from './catalog-reads.ts';
import type { RowVersions } from './row-versions.ts';

/** How the catalog names a row: its key, and its values as JSON. */
export interface RowNames {
  readonly keyOf: (table: number, row: number, values: readonly SqlValue[]) => Key;
  readonly valueOf: (table: number, values: readonly SqlValue[]) => Value;
}

/** Reads between which nothing else happened. */
interface RowReads {
  readonly kind: 'reads';
  readonly table: number;
  versions: ObservedVersion[];
  readonly at: number;
}

interface RowWrite {
  readonly kind: 'write';
  readonly table: number;
  readonly row: number;
  readonly version: ObservedVersion;
  readonly at: number;
  /** The version that it overwrites; `null`: there was no row. */
  readonly older: ObservedVersion | null;
}

interface TimedOperation {
  readonly operation: Operation;
  readonly at: number;
}

export type RecordedOperation =
  | RowReads
  | RowWrite
  | { readonly kind: 'scan'; readonly scan: RecordedScan }
  | CatalogRead;

export interface RecordedTransaction {
  readonly id: number;
  readonly session: number;
  operations: RecordedOperation[];
  /** Has it created, changed or dropped something? */
  hasDefined: boolean;
  /** Its place in the order of commits; Infinity where it wrote nothing or did not commit. */
  commit: number;
  status: 'open' | 'committed' | 'aborted';
}

export interface RecordedHistory {
  readonly history: History;
  readonly times: OperationTimes;
  readonly undecided: readonly string[];
}

export function recordedHistory(
  transactions: readonly RecordedTransaction[],
  versions: RowVersions,
  names: RowNames,
): RecordedHistory {
  return new Recording(transactions, versions, names).build();
}

/** Evaluations of conditions on versions, of all scans together. */
const evaluationsMax = 1_000_000;

class Recording {
  readonly #ended: readonly RecordedTransaction[];
  readonly #versions: RowVersions;
  readonly #names: RowNames;
  readonly #indexOf: ReadonlyMap<number, number>;
  readonly #commits: ReadonlyMap<number, number>;
  readonly #initial = new Map<Key, Value>();
  readonly #keys = new Map<ObservedVersion, Key>();
  /** By table, then by key; `null`: two rows had the key at once. */
  readonly #timelines = new Map<number, Map<Key, KeyTimeline | null>>();
  readonly #answers = new Map<Key, string>();
  readonly #operations: TimedOperation[][];
  /** Changes of answers, which come with the writes of a transaction. */
  readonly #answerWrites: TimedOperation[][];
  readonly #undecided = new Set<string>();
  #evaluations = 0;

  constructor(transactions: readonly RecordedTransaction[], versions: RowVersions, names: RowNames) {
    this.#ended = transactions.filter(({ status }) => status !== 'open');
    this.#versions = versions;
    this.#names = names;
    this.#indexOf = new Map(this.#ended.map(({ id }, index) => [id, index]));
    this.#commits = new Map(this.#ended.map(({ id, commit }) => [id, commit]));
    this.#operations = this.#ended.map(() => []);
    this.#answerWrites = this.#ended.map(() => []);
  }

  build(): RecordedHistory {
    this.#ended.forEach((transaction, t) => {
      for (const operation of transaction.operations) {
        if (operation.kind === 'scan') this.#addMissed(transaction, t, operation.scan);
        else if (operation.kind === 'catalog') this.#addCatalogRead(t, operation);
        else if (operation.kind === 'write') this.#addWrite(t, operation);
        else
          for (const version of operation.versions)
            this.#operations[t]?.push({ operation: this.#rowRead(operation.table, version), at: operation.at });
      }
    });
    return { ...this.#history(), undecided: [...this.#undecided] };
  }

  /** Transactions that neither read nor wrote a row are left out; the others keep the writers that their reads name. */
  #history(): Pick<RecordedHistory, 'history' | 'times'> {
    const operations = this.#ended.map((_, t) => [
      ...(this.#operations[t] ?? []),
      ...(this.#answerWrites[t] ?? []).toSorted((a, b) => compareKeys(a.operation.key, b.operation.key)),
    ]);
    const kept = this.#ended.flatMap((transaction, t) => (operations[t]?.length === 0 ? [] : [{ transaction, t }]));
    const positions = new Map(kept.map(({ t }, position) => [t, position]));
    const sessions = [...new Set(kept.map(({ transaction }) => transaction.session))].toSorted((a, b) => a - b);
    const ordinals = new Map<number, number>();
    const transactions = kept.map(({ transaction: { session, status }, t }): Transaction => {
      const ordinal = ordinals.get(session) ?? 0;
      ordinals.set(session, ordinal + 1);
      return {
        id: defaultId(String(session), ordinal),
        session: sessions.indexOf(session),
        status: status === 'committed' ? 'committed' : 'aborted',
        operations: (operations[t] ?? []).map(({ operation }) => renumbered(operation, positions)),
      };
    });
    const times = kept.map(({ t }) => (operations[t] ?? []).map(({ at }) => at));
    return { history: { sessions: sessions.map(String), transactions, initial: this.#initial }, times };
  }

  #rowRead(table: number, version: ObservedVersion): Read {
    const key = this.#keyOf(table, version.row, version);
    return this.#read(key, this.#valueOf(table, version.values), version.writerTransactionId);
  }

  /** A row that moves to another key is deleted at the old one. */
  #addWrite(t: number, { table, row, version, older, at }: RowWrite): void {
    const left = leftKey(row, { version, older }, (id, each) => this.#keyOf(table, id, each));
    if (left !== null) this.#operations[t]?.push({ operation: { kind: 'write', key: left, value: null }, at });
    const key = this.#keyOf(table, row, version);
    const value = this.#valueOf(table, version.values);
    this.#operations[t]?.push({ operation: { kind: 'write', key, value }, at });
  }

  #read(key: Key, value: Value, writer: number): Read {
    const from = this.#indexOf.get(writer) ?? INITIAL;
    if (from === INITIAL) this.#initial.set(key, value);
    return { kind: 'read', key, value, from };
  }

  #addMissed(reader: RecordedTransaction, t: number, scan: RecordedScan): void {
    if (scan.endedAt === Infinity) return;
    for (const [key, timeline] of this.#timelinesOf(scan.table)) {
      if (timeline === null) this.#undecided.add(scan.condition.text());
      else this.#addMissedRow(reader, t, scan, key, timeline);
    }
  }

  #addMissedRow(reader: RecordedTransaction, t: number, scan: RecordedScan, key: Key, timeline: KeyTimeline): void {
    const { versions } = timeline;
    this.#evaluations += versions.length;
    const wasRead = (): boolean => this.#hasRead(reader, scan, key);
    const missed =
      this.#evaluations > evaluationsMax
        ? { kind: 'undecided' as const }
        : missedRow(timeline, scan, reader.id, wasRead);
    if (missed === null) return;
    const condition = scan.condition.text();
    switch (missed.kind) {
      case 'undecided':
        this.#undecided.add(condition);
        return;
      case 'version': {
        const value = this.#valueOf(scan.table, missed.version.values);
        this.#addRead(t, { ...this.#read(key, value, missed.version.writer), condition }, scan.endedAt);
        return;
      }
      case 'answer': {
        const register = this.#register(`${key} where ${condition}`, versions, missed.answers);
        const from = versions[missed.read]?.writer ?? -1;
        this.#addRead(t, { ...this.#read(register, false, from), condition }, scan.endedAt);
      }
    }
  }

  /** A register that no DDL of another transaction changed is left out. */
  #addCatalogRead(t: number, { register, change, at }: CatalogRead): void {
    const { key, condition, initial, changes } = register;
    const reader = this.#ended[t]?.id;
    if (changes.every(({ transaction }) => transaction === reader)) return;
    this.#initial.set(key, initial);
    const seen = changes[change];
    if (seen?.transaction === reader && seen !== undefined) return;
    this.#addRead(t, { ...this.#read(key, seen?.rows ?? initial, seen?.transaction ?? -1), condition }, at);
    if (this.#answers.has(key)) return;
    this.#answers.set(key, 'catalog');
    for (const { transaction, rows, at: made } of changes) {
      const operation = { kind: 'write', key, value: rows } as const;
      this.#answerWrites[this.#indexOf.get(transaction) ?? -1]?.push({ operation, at: made });
    }
  }

  #addRead(t: number, read: Read, at: number): void {
    const operations = this.#operations[t];
    const isKnown = operations?.some(
      ({ operation: each }) =>
        each.key === read.key &&
        (each.kind === 'write' || (each.from === read.from && each.condition === read.condition)),
    );
    if (isKnown === false) operations?.push({ operation: read, at });
  }

  /** The key of a condition's answer on a row. Its writers are the transactions that change the answer. */
  #register(name: Key, timeline: readonly TimelineVersion[], answers: readonly boolean[]): Key {
    const content = answers.join();
    let key = name;
    for (let i = 2; (this.#answers.get(key) ?? content) !== content; i += 1) key = `${name} #${i}`;
    if (this.#answers.has(key)) return key;
    this.#answers.set(key, content);
    this.#initial.set(key, answers[0] ?? false);
    timeline.forEach(({ writer, at }, i) => {
      const value = answers[i] ?? false;
      const writes = this.#answerWrites[this.#indexOf.get(writer) ?? -1];
      if (i > 0 && value !== answers[i - 1]) writes?.push({ operation: { kind: 'write', key, value }, at });
    });
    return key;
  }

  #timelinesOf(table: number): Map<Key, KeyTimeline | null> {
    const known = this.#timelines.get(table);
    if (known !== undefined) return known;
    const found = timelinesOf(
      this.#versions.rowsOf(table),
      (row, version) => this.#keyOf(table, row, version),
      (transaction) => this.#commits.get(transaction) ?? Infinity,
    );
    // Not in the order in which the rows were written: histories that differ only in that are one.
    const timelines = new Map([...found].toSorted(([a], [b]) => compareKeys(a, b)));
    this.#timelines.set(table, timelines);
    return timelines;
  }

  /** Did the statement find a row under the key, in whatever version? */
  #hasRead(reader: RecordedTransaction, scan: RecordedScan, key: Key): boolean {
    const scans = scansOfStatement(reader, scan);
    const begunAt = Math.min(...scans.map((each) => each.begunAt));
    const endedAt = Math.max(...scans.map((each) => each.endedAt));
    return reader.operations.some(
      (each) =>
        each.kind === 'reads' &&
        each.table === scan.table &&
        each.at > begunAt &&
        each.at < endedAt &&
        each.versions.some((version) => this.#keyOf(each.table, version.row, version) === key),
    );
  }

  #keyOf(table: number, row: number, version: ObservedVersion): Key {
    let key = this.#keys.get(version);
    if (key === undefined) this.#keys.set(version, (key = this.#names.keyOf(table, row, version.lastValues)));
    return key;
  }

  #valueOf(table: number, values: readonly SqlValue[] | null): Value {
    return values === null ? null : this.#names.valueOf(table, values);
  }
}

function compareKeys(a: Key, b: Key): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function renumbered(operation: Operation, positions: ReadonlyMap<number, number>): Operation {
  if (operation.kind === 'write' || operation.from === undefined || operation.from === INITIAL) return operation;
  return { ...operation, from: positions.get(operation.from) ?? INITIAL };
}

/** IN scans an index once for each of its values, with one condition. */
function scansOfStatement({ operations }: RecordedTransaction, scan: RecordedScan): RecordedScan[] {
  const text = scan.condition.text();
  return operations.flatMap((each) => {
    if (each.kind !== 'scan' || each.scan.statement !== scan.statement || each.scan.table !== scan.table) return [];
    return each.scan.reading === scan.reading && each.scan.condition.text() === text ? [each.scan] : [];
  });
}
