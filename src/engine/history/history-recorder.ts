/**
 * What a recorder hears of an engine profile: rows that were read and written, and what each scan asked for. `recorded-history.ts` makes a
 * history of it.
 */
import type { OperationTimes, Recorder } from '../engine-profile.ts';
import type { ObservedReading, ObservedScan, ObservedVersion, StorageObserver, UndoneWrite } from '../observer.ts';
import type { History } from '../../history/index.ts';
import type { CatalogQuery, Table } from '../../sql/index.ts';
import { type Dialect, type KeptCondition, SqlError } from '../../sql/model/index.ts';
import { CatalogReads } from './catalog-reads.ts';
import type { RecordedScan } from './missed-rows.ts';
import {
  type RecordedHistory,
  recordedHistory,
  type RecordedOperation,
  type RecordedTransaction,
  type RowNames,
} from './recorded-history.ts';
import { rowNames } from './row-names.ts';
import { RowVersions } from './row-versions.ts';
import { undoWrites } from './undo-writes.ts';

/** Conditions that are kept. A loop over rows asks one condition of an inner table for each outer row. */
const scansMax = 100_000;

export class HistoryRecorder implements StorageObserver, Recorder {
  readonly #names: RowNames;
  readonly #operationsMax: number;
  readonly #transactions = new Map<number, RecordedTransaction>();
  readonly #versions = new RowVersions();
  readonly #catalog = new CatalogReads();
  #operations = 0;
  #scans = 0;
  /** Counts what is heard. */
  #clock = 0;
  #startedAt = 0;

  /** @param operationsMax after so many nothing is kept until `start` */
  constructor(dialect: Dialect, tableById: (id: number) => Table | undefined, operationsMax = 1_000_000) {
    this.#names = rowNames(tableById, dialect);
    this.#operationsMax = operationsMax;
  }

  begun(transaction: number, session: number): void {
    const begun: RecordedTransaction = {
      id: transaction,
      session,
      operations: [],
      hasDefined: false,
      commit: Infinity,
      status: 'open',
    };
    this.#transactions.set(transaction, begun);
  }

  onRead(transaction: number, table: number, _row: number, version: ObservedVersion): void {
    const operations = this.#counted(transaction);
    const last = operations?.at(-1);
    // Nothing has happened since the read before: both are at one time.
    if (last?.kind === 'reads' && last.table === table && last.at === this.#clock) last.versions.push(version);
    else operations?.push({ kind: 'reads', table, versions: [version], at: (this.#clock += 1) });
  }

  onUnread(transaction: number, table: number, row: number, sequence: number): void {
    const operations = this.#transactions.get(transaction)?.operations ?? [];
    for (let at = operations.length - 1; at >= 0; at -= 1) {
      const each = operations[at];
      if (each?.kind !== 'reads' || each.table !== table) continue;
      const read = each.versions.findLastIndex((version) => version.row === row && version.sequence === sequence);
      if (read < 0) continue;
      each.versions.splice(read, 1);
      if (each.versions.length === 0) operations.splice(at, 1);
      return;
    }
  }

  onWrite(
    transaction: number,
    table: number,
    row: number,
    version: ObservedVersion,
    older: ObservedVersion | null,
  ): void {
    const at = (this.#clock += 1);
    this.#counted(transaction)?.push({ kind: 'write', table, row, version, older, at });
    if (this.#operations <= this.#operationsMax) this.#versions.write(table, row, version, older, at);
  }

  /** What the transaction read of its own writes goes with them. */
  onUndo(transaction: number, undone: readonly UndoneWrite[]): void {
    const recorded = this.#transactions.get(transaction);
    if (recorded !== undefined) undoWrites(recorded.operations, undone);
    for (const { table, id, sequence } of undone) this.#versions.undo(table, id, sequence, (this.#clock += 1));
  }

  /** What is kept is judged as a whole: when it is too much, nothing is. */
  get isRecording(): boolean {
    return this.#operations <= this.#operationsMax;
  }

  onScan(
    transaction: number,
    statement: number,
    table: number,
    keep: () => KeptCondition,
    reading: ObservedReading,
    snapshot: number,
  ): ObservedScan | null {
    const operations = this.#transactions.get(transaction)?.operations;
    if (operations === undefined) return null;
    this.#scans += 1;
    if (this.#scans > scansMax) return null;
    const condition = keep();
    const begunAt = (this.#clock += 1);
    const scan: RecordedScan = {
      statement,
      table,
      condition,
      reading,
      snapshot,
      begunAt,
      endedAt: Infinity,
      passed: null,
    };
    operations.push({ kind: 'scan', scan });
    return {
      passed: (row, sequence) => (scan.passed ??= new Map()).set(row, sequence),
      ended: () => {
        scan.endedAt = this.#clock += 1;
        trimReads(operations.at(-1));
      },
      stopped: (lookedAt) => {
        scan.condition = new BothConditions(condition, lookedAt);
        scan.endedAt = this.#clock += 1;
        trimReads(operations.at(-1));
      },
    };
  }

  onCatalogQuery(transaction: number, session: number, query: CatalogQuery): void {
    const isSeen = (definer: number): boolean =>
      definer === transaction || this.#transactions.get(definer)?.status !== 'open';
    this.#transactions
      .get(transaction)
      ?.operations.push(this.#catalog.asked(session, query, isSeen, (this.#clock += 1)));
  }

  onDdl(transaction: number, session: number, outcome: 'made' | 'refused'): void {
    const definer = this.#transactions.get(transaction);
    if (definer === undefined) return;
    if (outcome === 'refused') definer.operations.push(...this.#catalog.refused(session, (this.#clock += 1)));
    else {
      definer.hasDefined = true;
      this.#catalog.defined(transaction, (this.#clock += 1));
    }
  }

  onEnd(transaction: number, outcome: 'committed' | 'aborted', commit: number): void {
    const ended = this.#transactions.get(transaction);
    if (ended === undefined) return;
    ended.status = outcome;
    ended.commit = outcome === 'committed' ? commit : Infinity;
    if (ended.hasDefined && outcome === 'committed') this.#catalog.defined(transaction, (this.#clock += 1));
    if (ended.operations.length === 0 && !ended.hasDefined) this.#transactions.delete(transaction);
    else ended.operations = ended.operations.slice();
  }

  /** What has ended so far is the initial state. */
  start(): void {
    for (const [id, { status }] of this.#transactions) if (status !== 'open') this.#transactions.delete(id);
    this.#catalog.clear();
    this.#versions.begin((writer) => !this.#transactions.has(writer));
    this.#startedAt = this.#clock;
    this.#operations = 0;
    this.#scans = 0;
    for (const { operations } of this.#transactions.values())
      for (const each of operations) this.#operations += each.kind === 'reads' ? each.versions.length : 1;
  }

  /** Transactions that have ended, in the order in which they began; sessions are named by their numbers. @throws SqlError 54000 too many */
  history(): History {
    return this.#recorded().history;
  }

  operationTimes(): OperationTimes {
    return this.#recorded().times.map((operations) => operations.map((at) => at - this.#startedAt));
  }

  get now(): number {
    return this.#clock - this.#startedAt;
  }

  /** Conditions that may have missed rows, which could not be decided: the history says nothing of them. */
  undecidedConditions(): readonly string[] {
    const { undecided } = this.#recorded();
    return this.#scans > scansMax ? [...undecided, `${this.#scans - scansMax} more conditions`] : undecided;
  }

  #recorded(): RecordedHistory {
    if (this.#operations > this.#operationsMax) {
      throw new SqlError('54000', `no history is kept of more than ${this.#operationsMax} reads and writes`, {
        hint: 'Say /* moirai start */ before what is to be judged.',
      });
    }
    return recordedHistory([...this.#transactions.values()], this.#versions, this.#names);
  }

  /** Where to keep one more read or write of a transaction; `undefined`: it is not kept. */
  #counted(transaction: number): RecordedOperation[] | undefined {
    const operations = this.#transactions.get(transaction)?.operations;
    if (operations === undefined) return undefined;
    this.#operations += 1;
    if (this.#operations <= this.#operationsMax) return operations;
    if (this.#operations === this.#operationsMax + 1) this.#forget();
    return undefined;
  }

  /** What is only a part of a history would be judged wrongly. */
  #forget(): void {
    for (const { operations } of this.#transactions.values()) operations.length = 0;
    this.#versions.clear();
  }
}

/** Many are kept, so a list gives up the room that it reserved as it grew. */
function trimReads(last: RecordedOperation | undefined): void {
  if (last?.kind === 'reads') last.versions = last.versions.slice();
}

class BothConditions implements KeptCondition {
  readonly #condition: KeptCondition;
  readonly #lookedAt: KeptCondition;

  constructor(condition: KeptCondition, lookedAt: KeptCondition) {
    this.#condition = condition;
    this.#lookedAt = lookedAt;
  }

  text(): string {
    return [this.#condition.text(), this.#lookedAt.text()].filter((text) => text !== '').join(' and ');
  }

  holds(values: Parameters<KeptCondition['holds']>[0]): boolean | null {
    return this.#lookedAt.holds(values) === true ? this.#condition.holds(values) : false;
  }
}
