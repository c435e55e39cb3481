/** A small table and the steps of a generator, for tests of the storages. */
import type {
  AccessPath,
  LockRequest,
  LockStrength,
  Row,
  StatementView,
  Storage,
  StorageTransaction,
  TableShape,
  Wait,
  Waiting,
} from '../sql/model/storage.ts';
import { everyRow, unrecorded } from '../sql/model/storage.ts';
import type { SqlValue } from '../sql/model/value.ts';

/** `t (id primary key, u unique, v)` with a plain index on v. NULLs last. */
export const table: TableShape = {
  id: 1,
  name: 't',
  columns: ['id', 'u', 'v'],
  indexes: [
    {
      id: 10,
      name: 't_pkey',
      isPrimary: true,
      isUnique: true,
      nullsAreEqual: false,
      isDeferrable: false,
      cells: [0],
      keyOf: ([id = null]) => [id],
      compare,
    },
    {
      id: 11,
      name: 't_u_key',
      isPrimary: false,
      isUnique: true,
      nullsAreEqual: false,
      isDeferrable: false,
      cells: [1],
      keyOf: ([, u = null]) => [u],
      compare,
    },
    {
      id: 12,
      name: 't_v',
      isPrimary: false,
      isUnique: false,
      nullsAreEqual: false,
      isDeferrable: false,
      cells: [2],
      keyOf: ([, , v = null]) => [v],
      compare,
    },
  ],
};

/** The same with NULLs first, as MySQL orders them. */
export const mysqlTable: TableShape = {
  ...table,
  indexes: table.indexes.map((index) => ({ ...index, compare: (a, b) => compareKeys(a, b, -1) })),
};

function compare(a: readonly SqlValue[], b: readonly SqlValue[]): number {
  return compareKeys(a, b, 1);
}

function compareKeys(a: readonly SqlValue[], b: readonly SqlValue[], nullOrder: number): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [x, y] = [a[i] ?? null, b[i] ?? null];
    if (x === y) continue;
    if (x === null) return nullOrder;
    if (y === null) return -nullOrder;
    return x < y ? -1 : 1;
  }
  return 0;
}

export const all: AccessPath = { kind: 'all' };
export const idIs = (id: number): AccessPath => ({ kind: 'index', index: 10, prefix: [id], isDescending: false });

/** A statement that should not wait. @throws Error when it does */
export function now<T>(steps: Waiting<T>): T {
  const step = steps.next();
  if (step.done !== true) throw new Error(`waits for ${step.value.reason} of ${step.value.blockers.join(', ')}`);
  return step.value;
}

/** A statement that may wait: `wait` is set while it does. */
export class Running<T> {
  readonly #steps: Waiting<T>;
  wait: Wait | null = null;
  result: T | undefined;
  error: unknown = null;
  isDone = false;

  constructor(steps: Waiting<T>) {
    this.#steps = steps;
    this.go();
  }

  go(): this {
    try {
      const step = this.#steps.next();
      this.wait = step.done === true ? null : step.value;
      this.isDone = step.done === true;
      if (step.done === true) this.result = step.value;
    } catch (error) {
      this.error = error;
      this.wait = null;
      this.isDone = true;
    }
    return this;
  }
}

export function rowsOf(view: StatementView, path: AccessPath = all): SqlValue[][] {
  return [...view.scan(table.id, path, everyRow)].map((row) => row.values.map((value) => value ?? null));
}

function values(row: Row): SqlValue[] {
  return row.values.map((value) => value ?? null);
}

export const request = (strength: LockStrength, ifLocked: LockRequest['ifLocked'] = 'wait'): LockRequest => ({
  strength,
  ifLocked,
  reading: 'statement',
});

export type Level = Parameters<Storage['begin']>[1]['isolation'];

export function begin(storage: Storage, isolation: Level = 'read committed'): StorageTransaction {
  return storage.begin(0, { isolation, isReadOnly: false });
}

/** `insert into t values (...)` */
export function insert(transaction: StorageTransaction, ...row: SqlValue[]) {
  return transaction.statement().insert(table.id, row, 'share');
}

/** `select * from t where path and matches for strength` */
export function* lock(
  transaction: StorageTransaction,
  path: AccessPath,
  strength: LockStrength,
  matches: (row: Row) => boolean = () => true,
  ifLocked: LockRequest['ifLocked'] = 'wait',
): Waiting<SqlValue[][]> {
  const rows: SqlValue[][] = [];
  yield* transaction.statement().lock(table.id, path, unrecorded(matches), request(strength, ifLocked), (row) => {
    rows.push(values(row));
    return true;
  });
  return rows;
}

/** `update t set ... where path and matches`: the rows after it, or the duplicate's kind. */
export function* update(
  transaction: StorageTransaction,
  path: AccessPath,
  change: (row: SqlValue[]) => SqlValue[],
  matches: (row: Row) => boolean = () => true,
): Waiting<SqlValue[][] | 'duplicate'> {
  const view = transaction.statement();
  const rows: Row[] = [];
  yield* view.lock(
    table.id,
    path,
    unrecorded(matches),
    { ...request('no key update'), purpose: 'update' },
    (row) => rows.push(row) > 0,
  );
  const results: SqlValue[][] = [];
  for (const row of rows) {
    const result = yield* view.update(row, change(values(row)), [0, 1, 2]);
    if (result.kind === 'duplicate') {
      view.undo();
      return 'duplicate';
    }
    results.push(values(result.row));
  }
  return results;
}

export function* remove(transaction: StorageTransaction, path: AccessPath): Waiting<number> {
  const view = transaction.statement();
  const rows: Row[] = [];
  yield* view.lock(table.id, path, everyRow, request('update'), (row) => rows.push(row) > 0);
  for (const row of rows) yield* view.delete(row);
  return rows.length;
}

/** A storage with `t` and these rows. */
export function withRows(storage: Storage, rows: readonly (readonly SqlValue[])[], shape: TableShape = table): Storage {
  storage.createTable(shape);
  const transaction = begin(storage);
  for (const row of rows) now(insert(transaction, ...row));
  now(transaction.commit());
  return storage;
}
