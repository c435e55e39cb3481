/** A fixed picture of the rows, outside of the axioms and of the history: for loading, and for checks of the end. */
import {
  SqlError,
  type AccessPath,
  everyRow,
  type InsertResult,
  type LockRequest,
  type Row,
  type RowCondition,
  type StatementView,
  type StorageTransaction,
  type TableId,
  type UpdateResult,
  type Waiting,
  type SqlValue,
} from '../../sql/model/index.ts';
import { answer, atOnce, ours, SeenRow } from './seen-row.ts';
import type { StoredRow, Table } from './table.ts';
import type { Held } from './held.ts';

/** What a picture asks of its store. */
export interface Pictured {
  readonly table: (id: TableId) => Table;
  /** What a slot of a row holds in this picture. */
  readonly held: (row: StoredRow, slot: number) => Held;
}

export class SnapshotTransaction implements StorageTransaction {
  readonly id: number;
  readonly #pictured: Pictured;

  constructor(id: number, pictured: Pictured) {
    this.id = id;
    this.#pictured = pictured;
  }

  statement(): StatementView {
    return new SnapshotStatement(this.#pictured);
  }

  savepoint(): number {
    return 0;
  }

  rollbackTo(): void {}

  commit(): Waiting<void> {
    return atOnce(() => undefined);
  }

  rollback(): void {}
}

export class SnapshotStatement implements StatementView {
  readonly #pictured: Pictured;

  constructor(pictured: Pictured) {
    this.#pictured = pictured;
  }

  *scan(tableId: TableId, path: AccessPath, { matches }: RowCondition): Iterable<Row> {
    for (const stored of this.#pictured.table(tableId).candidates(path, this, [])) {
      const row = this.see(stored);
      if (row !== null && matches(row)) yield row;
    }
  }

  *lock(
    table: TableId,
    path: AccessPath,
    { matches }: RowCondition,
    _request: LockRequest,
    take: (row: Row) => boolean | Waiting<boolean>,
  ): Waiting<void> {
    const rows = [...this.scan(table, path, everyRow)]; // as they were before `take` writes
    for (const row of rows) if (matches(row) && !(yield* answer(take(row)))) return;
  }

  lockRow(row: Row, matches: (row: Row) => boolean): Waiting<Row | null> {
    return atOnce(() => {
      const now = this.see(ours(row).stored);
      return now !== null && matches(now) ? now : null;
    });
  }

  insert(_table: TableId, _values: readonly SqlValue[]): Waiting<InsertResult> {
    return atOnce(readOnly);
  }

  update(_row: Row, _values: readonly SqlValue[], _columns: readonly number[]): Waiting<UpdateResult> {
    return atOnce(readOnly);
  }

  delete(_row: Row): Waiting<void> {
    return atOnce(readOnly);
  }

  constraintQuery(): this {
    return this;
  }

  isOwn(): boolean {
    return true;
  }

  /** Statements run one after the other here, and a row's check comes before the next statement. */
  isCurrent(row: Row): boolean {
    const now = this.see(ours(row).stored);
    return now !== null && row.values.every((value, i) => value === now.values[i]);
  }

  isUnique(): Waiting<boolean> {
    return atOnce(readOnly);
  }

  undo(): void {}

  see(stored: StoredRow): SeenRow | null {
    const image = stored.image((slot) => this.#pictured.held(stored, slot));
    return image === null ? null : new SeenRow(stored, image);
  }
}

function readOnly(): never {
  throw new SqlError('25006', 'cannot write in a snapshot of the final state');
}
