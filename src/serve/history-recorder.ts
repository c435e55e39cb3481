/**
 * A history out of what an engine profile tells: one operation a row that was read or written, keys `table/primary key`, values the row.
 * What a predicate did not match is not in it, so the anomalies that it shows are item anomalies.
 */
import type { ObservedVersion, StorageObserver } from '../engine/index.ts';
import {
  defaultId,
  type History,
  INITIAL,
  type Key,
  type Operation,
  type Transaction,
  type Value,
} from '../history/index.ts';
import { SqlError, type SqlValue } from '../sql/index.ts';

/** How the catalog names a row: its key, and its values as JSON. */
export interface RowNames {
  readonly keyOf: (table: number, row: number, values: readonly SqlValue[]) => Key;
  readonly valueOf: (table: number, values: readonly SqlValue[]) => Value;
}

interface RecordedOperation {
  readonly kind: 'read' | 'write';
  readonly table: number;
  readonly row: number;
  /** Of a read: who wrote what it saw. */
  readonly writer: number;
  readonly values: readonly SqlValue[] | null;
  /** Of a deleted row the values it had. */
  readonly lastValues: readonly SqlValue[];
}

interface RecordedTransaction {
  readonly id: number;
  readonly session: number;
  readonly operations: RecordedOperation[];
  status: 'open' | 'committed' | 'aborted';
}

export class HistoryRecorder implements StorageObserver {
  readonly #names: RowNames;
  readonly #operationsMax: number;
  #transactions = new Map<number, RecordedTransaction>();
  #operations = 0;

  /** @param operationsMax after so many nothing is kept until `start` */
  constructor(names: RowNames, operationsMax = 1_000_000) {
    this.#names = names;
    this.#operationsMax = operationsMax;
  }

  begun(transaction: number, session: number): void {
    this.#transactions.set(transaction, { id: transaction, session, operations: [], status: 'open' });
  }

  onRead(transaction: number, table: number, row: number, version: ObservedVersion): void {
    this.#note(transaction, 'read', table, row, version);
  }

  onWrite(transaction: number, table: number, row: number, version: ObservedVersion): void {
    this.#note(transaction, 'write', table, row, version);
  }

  onEnd(transaction: number, outcome: 'committed' | 'aborted'): void {
    const ended = this.#transactions.get(transaction);
    if (ended === undefined) return;
    ended.status = outcome;
    if (ended.operations.length === 0) this.#transactions.delete(transaction);
  }

  /** What has ended so far is the initial state. */
  start(): void {
    for (const [id, { status }] of this.#transactions) if (status !== 'open') this.#transactions.delete(id);
    this.#operations = 0;
    for (const { operations } of this.#transactions.values()) this.#operations += operations.length;
  }

  /** Transactions that have ended, in the order in which they began; sessions are named by their numbers. @throws SqlError 54000 too many */
  history(): History {
    if (this.#operations > this.#operationsMax) {
      throw new SqlError('54000', `no history is kept of more than ${this.#operationsMax} reads and writes`, {
        hint: 'Say /* moirai start */ before what is to be judged.',
      });
    }
    const ended = [...this.#transactions.values()].filter(({ status }) => status !== 'open');
    const indexOf = new Map(ended.map(({ id }, index) => [id, index]));
    const sessions = [...new Set(ended.map(({ session }) => session))].toSorted((a, b) => a - b);
    const ordinals = new Map<number, number>();
    const initial = new Map<Key, Value>();
    /** By table and row: a row keeps its key when its values change. */
    const keys = new Map<string, Key>();
    const transactions = ended.map(({ session, operations, status }): Transaction => {
      const ordinal = ordinals.get(session) ?? 0;
      ordinals.set(session, ordinal + 1);
      return {
        id: defaultId(String(session), ordinal),
        session: sessions.indexOf(session),
        status: status === 'committed' ? 'committed' : 'aborted',
        operations: operations.flatMap((operation) => this.#operation(operation, indexOf, initial, keys)),
      };
    });
    return { sessions: sessions.map(String), transactions, initial };
  }

  #note(transaction: number, kind: 'read' | 'write', table: number, row: number, version: ObservedVersion): void {
    const { writerTransactionId: writer, values, lastValues } = version;
    const operations = this.#transactions.get(transaction)?.operations;
    if (operations === undefined) return;
    this.#operations += 1;
    if (this.#operations <= this.#operationsMax) operations.push({ kind, table, row, writer, values, lastValues });
    else if (this.#operations === this.#operationsMax + 1) this.#forget();
  }

  /** What is only a part of a history would be judged wrongly. */
  #forget(): void {
    for (const { operations } of this.#transactions.values()) operations.length = 0;
  }

  #operation(
    { kind, table, row, writer, values, lastValues }: RecordedOperation,
    indexOf: ReadonlyMap<number, number>,
    initial: Map<Key, Value>,
    keys: Map<string, Key>,
  ): Operation[] {
    const key = this.#keyOf(keys, table, row, lastValues);
    const value = values === null ? null : this.#names.valueOf(table, values);
    if (kind === 'write') return [{ kind, key, value }];
    const from = indexOf.get(writer) ?? INITIAL;
    if (from === INITIAL) initial.set(key, value);
    return [{ kind, key, value, from }];
  }

  #keyOf(keys: Map<string, Key>, table: number, row: number, values: readonly SqlValue[]): Key {
    const place = `${table} ${row}`;
    let key = keys.get(place);
    if (key === undefined) keys.set(place, (key = this.#names.keyOf(table, row, values)));
    return key;
  }
}
