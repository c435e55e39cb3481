/**
 * Schedules of row operations by some sessions, as text that a storage and a real server can both follow: one step after another, a session
 * whose step waits has no further step until that one ends.
 */
import { SqlError } from '../sql/model/sql-error.ts';
import type {
  AccessPath,
  LockRequest,
  LockStrength,
  Row,
  Storage,
  StorageTransaction,
  Waiting,
} from '../sql/model/storage.ts';
import { everyRow, unrecorded } from '../sql/model/storage.ts';
import type { SqlValue } from '../sql/model/value.ts';
import { table, type Level } from './engine.test-support.ts';

/** `id`, `u`, `v`: the columns of t, each with its index. */
export type Column = 'id' | 'u' | 'v';

export type Where =
  | { readonly kind: 'all' }
  | { readonly kind: 'point'; readonly column: Column; readonly value: number }
  | { readonly kind: 'range'; readonly column: Column; readonly from: number; readonly to: number };

export type Operation =
  | {
      readonly kind: 'select';
      readonly where: Where;
      readonly isEvenOnly: boolean;
      readonly lock: { readonly strength: LockStrength; readonly ifLocked: LockRequest['ifLocked'] } | null;
    }
  | { readonly kind: 'insert'; readonly row: readonly [number, number | null, number] }
  | {
      readonly kind: 'update';
      readonly where: Where;
      readonly isEvenOnly: boolean;
      /** `v = v + 3` or `u = 7`. */
      readonly set:
        | { readonly column: Column; readonly plus: number }
        | { readonly column: Column; readonly to: number };
    }
  | { readonly kind: 'delete'; readonly where: Where; readonly isEvenOnly: boolean }
  | { readonly kind: 'savepoint' | 'rollback to' | 'commit' | 'rollback' };

export interface ScheduleStep {
  readonly session: number;
  readonly operation: Operation;
}

export interface Schedule {
  readonly levels: readonly Level[];
  readonly rows: readonly (readonly [number, number | null, number])[];
  readonly steps: readonly ScheduleStep[];
}

/** What became of a statement: `rows 1/10/100 2/20/200`, `count 1`, `ok`, `error 40001`. */
export type Outcome = string;

/** A place where sessions run statements. `start` begins one; `settle` says which are over since. */
export interface Follower {
  start(session: number, operation: Operation, level: Level): Promise<void>;
  settle(): Promise<ReadonlyMap<number, Outcome>>;
}

/** One line a step: who did what, what came of it and of those who waited. */
export async function follow(schedule: Schedule, follower: Follower): Promise<string[]> {
  const lines: string[] = [];
  const waiting = new Set<number>();
  for (const { session, operation } of [...schedule.steps, ...endings(schedule)]) {
    if (waiting.has(session)) {
      if (operation.kind === 'rollback') lines.push(`${session}: still waits`);
      continue;
    }
    await follower.start(session, operation, schedule.levels[session] ?? 'read committed');
    waiting.add(session);
    const over = await follower.settle();
    const news = [...over].toSorted(([a], [b]) => a - b).map(([id, outcome]) => `${id} ${outcome}`);
    for (const id of over.keys()) waiting.delete(id);
    lines.push(`${session}: ${formatOperation(operation)} -> ${news.join('; ') || 'waits'}`);
  }
  return lines;
}

/** In the end everyone rolls back, twice: one who waited may have gone on when another ended. */
function endings(schedule: Schedule): ScheduleStep[] {
  const rollbacks = schedule.levels.map((_, session) => ({ session, operation: { kind: 'rollback' as const } }));
  return schedule.levels.flatMap(() => rollbacks);
}

export function formatOperation(operation: Operation): string {
  switch (operation.kind) {
    case 'select': {
      const { lock } = operation;
      const suffix = { wait: '', error: ' nowait', skip: ' skip locked' };
      const locking = lock === null ? '' : ` for ${lock.strength}${suffix[lock.ifLocked]}`;
      return `select * from t${formatWhere(operation)}${locking}`;
    }
    case 'insert':
      return `insert into t values (${operation.row.map((value) => value ?? 'null').join(', ')})`;
    case 'update': {
      const { set } = operation;
      const value = 'plus' in set ? `${set.column} + ${set.plus}` : String(set.to);
      return `update t set ${set.column} = ${value}${formatWhere(operation)}`;
    }
    case 'delete':
      return `delete from t${formatWhere(operation)}`;
    case 'savepoint':
      return 'savepoint s';
    case 'rollback to':
      return 'rollback to s';
    case 'commit':
    case 'rollback':
      return operation.kind;
  }
}

export function formatWhere({ where, isEvenOnly }: { readonly where: Where; readonly isEvenOnly: boolean }): string {
  const conditions: string[] = [];
  if (where.kind === 'point') conditions.push(`${where.column} = ${where.value}`);
  if (where.kind === 'range') conditions.push(`${where.column} between ${where.from} and ${where.to}`);
  if (isEvenOnly) conditions.push('mod(u + v, 2) = 0');
  return conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
}

const columns: readonly Column[] = ['id', 'u', 'v'];

function pathOf(where: Where): AccessPath {
  if (where.kind === 'all') return where;
  const index = 10 + columns.indexOf(where.column);
  if (where.kind === 'point') return { kind: 'index', index, prefix: [where.value], isDescending: false };
  return {
    kind: 'index',
    index,
    prefix: [],
    from: { value: where.from, isInclusive: true },
    to: { value: where.to, isInclusive: true },
    isDescending: false,
  };
}

function matcher({
  where,
  isEvenOnly,
}: {
  readonly where: Where;
  readonly isEvenOnly: boolean;
}): (row: Row) => boolean {
  return (row) => {
    const [, u = null, v = null] = row.values;
    if (isEvenOnly && (u === null || (Number(u) + Number(v)) % 2 !== 0)) return false;
    if (where.kind === 'all') return true;
    const value = row.values[columns.indexOf(where.column)];
    if (typeof value !== 'number') return false;
    return where.kind === 'point' ? value === where.value : value >= where.from && value <= where.to;
  };
}

interface Session {
  transaction: StorageTransaction | null;
  isFailed: boolean;
  savepoints: number[];
  steps: Waiting<Outcome> | null;
  isReady: () => boolean;
  waitsSince: number;
}

/** Runs a schedule on a storage, with a session's rules about errors. */
export class StorageFollower implements Follower {
  readonly #storage: Storage;
  readonly #engine: 'postgres' | 'innodb';
  readonly #firstToWake: 'longest' | 'last';
  readonly #sessions = new Map<number, Session>();
  readonly #over = new Map<number, Outcome>();
  #waits = 0;

  /** @param firstToWake of those who may go on: who has waited longest, or least; on a server that is a race */
  constructor(storage: Storage, engine: 'postgres' | 'innodb', firstToWake: 'longest' | 'last' = 'longest') {
    this.#storage = storage;
    this.#engine = engine;
    this.#firstToWake = firstToWake;
  }

  start(id: number, operation: Operation, level: Level): Promise<void> {
    let session = this.#sessions.get(id);
    if (session === undefined) {
      session = { transaction: null, isFailed: false, savepoints: [], steps: null, isReady: () => true, waitsSince: 0 };
      this.#sessions.set(id, session);
    }
    if (session.transaction === null && operation.kind !== 'commit' && operation.kind !== 'rollback')
      session.transaction = this.#storage.begin(id, { isolation: level, isReadOnly: false });
    session.steps = this.#run(session, operation);
    this.#go(id, session);
    return Promise.resolve();
  }

  settle(): Promise<ReadonlyMap<number, Outcome>> {
    let isMoving = true;
    while (isMoving) {
      isMoving = false;
      const sessions = [...this.#sessions].toSorted(([, a], [, b]) => a.waitsSince - b.waitsSince);
      for (const [id, session] of this.#firstToWake === 'longest' ? sessions : sessions.toReversed()) {
        if (session.steps === null || !session.isReady()) continue;
        this.#go(id, session);
        isMoving = true;
      }
    }
    const over = new Map(this.#over);
    this.#over.clear();
    return Promise.resolve(over);
  }

  #go(id: number, session: Session): void {
    const { steps } = session;
    if (steps === null) return;
    try {
      const step = steps.next();
      if (step.done === true) {
        session.steps = null;
        this.#over.set(id, step.value);
      } else {
        session.isReady = step.value.isReady;
        session.waitsSince = ++this.#waits;
      }
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      session.steps = null;
      this.#over.set(id, this.#fail(session, error));
    }
  }

  #fail(session: Session, error: SqlError): Outcome {
    const { mysqlNumber } = error.detail;
    if (this.#engine === 'innodb') {
      if (mysqlNumber === 1213) this.#close(session);
      // MariaDB has one error for a wait that is over and one that is not wanted.
      return `error ${mysqlNumber === 3572 ? 1205 : (mysqlNumber ?? error.code)}`;
    }
    this.#failPostgres(session);
    return `error ${error.code}`;
  }

  #failPostgres(session: Session): void {
    const last = session.savepoints.at(-1);
    if (last === undefined) session.transaction?.rollback();
    else session.transaction?.rollbackTo(last);
    session.isFailed = true;
  }

  #close(session: Session): void {
    session.transaction = null;
    session.isFailed = false;
    session.savepoints = [];
  }

  *#run(session: Session, operation: Operation): Waiting<Outcome> {
    const { transaction } = session;
    if (transaction === null) return 'ok';
    if (session.isFailed && !['commit', 'rollback', 'rollback to'].includes(operation.kind)) return 'error 25P02';
    switch (operation.kind) {
      case 'commit': {
        const isFailed = session.isFailed;
        this.#close(session);
        if (isFailed) transaction.rollback();
        else yield* transaction.commit();
        return 'ok';
      }
      case 'rollback':
        this.#close(session);
        transaction.rollback();
        return 'ok';
      case 'savepoint':
        session.savepoints.push(transaction.savepoint());
        return 'ok';
      case 'rollback to': {
        const last = session.savepoints.at(-1);
        if (last === undefined) return this.#noSavepoint(session);
        transaction.rollbackTo(last);
        session.isFailed = false;
        return 'ok';
      }
      default:
        return yield* this.#statement(session, transaction, operation);
    }
  }

  #noSavepoint(session: Session): Outcome {
    if (this.#engine === 'innodb') return 'error 1305';
    if (!session.isFailed) this.#failPostgres(session);
    return 'error 3B001';
  }

  *#statement(session: Session, transaction: StorageTransaction, operation: Operation): Waiting<Outcome> {
    const view = transaction.statement();
    try {
      const outcome = yield* runStatement(view, operation);
      if (outcome !== 'duplicate') return outcome;
    } catch (error) {
      if (error instanceof SqlError && error.detail.mysqlNumber !== 1213 && this.#engine === 'innodb') view.undo();
      throw error;
    }
    if (this.#engine === 'innodb') {
      view.undo();
      return 'error 1062';
    }
    this.#failPostgres(session);
    return 'error 23505';
  }
}

function* runStatement(view: ReturnType<StorageTransaction['statement']>, operation: Operation): Waiting<Outcome> {
  if (operation.kind === 'insert') {
    const result = yield* view.insert(table.id, operation.row, 'share');
    return result.kind === 'inserted' ? 'count 1' : 'duplicate';
  }
  if (operation.kind !== 'select' && operation.kind !== 'update' && operation.kind !== 'delete') return 'ok';
  const matches = matcher(operation);
  const path = pathOf(operation.where);
  const rows: Row[] = [];
  if (operation.kind === 'select' && operation.lock === null && view.scansLock !== true) {
    for (const row of view.scan(table.id, path, everyRow)) if (matches(row)) rows.push(row);
    return formatRows(rows);
  }
  const write = operation.kind === 'select' ? null : (row: Row) => writeRow(view, operation, row);
  // A change of the index that leads to the rows waits until they are all found.
  const isDeferred = operation.kind === 'update' && view.scansLock !== undefined && changesPath(operation);
  let isDuplicate = false;
  yield* view.lock(table.id, path, unrecorded(matches), requestOf(operation), function* (row) {
    rows.push(row);
    if (write !== null && !isDeferred) isDuplicate = yield* write(row);
    return !isDuplicate;
  });
  if (operation.kind === 'select') return formatRows(rows);
  if (write !== null && isDeferred) for (const row of rows) isDuplicate ||= yield* write(row);
  return isDuplicate ? 'duplicate' : `count ${rows.length}`;
}

/** Does the update change the order of the index that it goes along? The primary key is part of every index. */
function changesPath({ where, set }: Extract<Operation, { kind: 'update' }>): boolean {
  return set.column === 'id' || (where.kind !== 'all' && where.column === set.column);
}

/** @returns is there a duplicate? */
function* writeRow(
  view: ReturnType<StorageTransaction['statement']>,
  operation: Extract<Operation, { kind: 'update' | 'delete' }>,
  row: Row,
): Waiting<boolean> {
  if (operation.kind === 'delete') {
    yield* view.delete(row);
    return false;
  }
  const position = columns.indexOf(operation.set.column);
  const changed = assigned(operation.set, row);
  const values = row.values.map((value, i) => (i === position ? changed : (value ?? null)));
  const result = yield* view.update(row, values, [position]);
  return result.kind === 'duplicate';
}

function requestOf(operation: Operation): LockRequest {
  if (operation.kind === 'select')
    return { ...(operation.lock ?? { strength: 'share', ifLocked: 'wait' }), reading: 'statement' };
  const common = { ifLocked: 'wait', reading: 'statement' } as const;
  if (operation.kind !== 'update') return { ...common, strength: 'update', purpose: 'delete' };
  const { set } = operation;
  const position = columns.indexOf(set.column);
  const changesKey = (row: Row): boolean => set.column !== 'v' && row.values[position] !== assigned(set, row);
  const strengthFor = (row: Row): LockStrength => (changesKey(row) ? 'update' : 'no key update');
  return { ...common, strength: 'no key update', strengthFor, purpose: 'update' };
}

function assigned(set: Extract<Operation, { kind: 'update' }>['set'], row: Row): SqlValue {
  if ('to' in set) return set.to;
  const old = row.values[columns.indexOf(set.column)] ?? null;
  return old === null ? null : Number(old) + set.plus;
}

function formatRows(rows: readonly Row[]): Outcome {
  return formatValues(rows.map((row) => row.values.map((value) => (value ?? null) as number | null)));
}

export function formatValues(rows: readonly (readonly (number | null)[])[]): Outcome {
  return `rows ${rows
    .map((row) => row.map((value) => value ?? 'null').join('/'))
    .toSorted()
    .join(' ')}`;
}
