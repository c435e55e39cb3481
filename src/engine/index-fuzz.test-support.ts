/**
 * Random statements of several sessions over one small table. After every step each index is read in each way and compared with the whole
 * table, at every level, and the committed rows with a model that knows only what the statements have answered.
 */
import { assert } from '../base/assert.ts';
import { SqlError } from '../sql/model/sql-error.ts';
import {
  everyRow,
  unrecorded,
  type AccessPath,
  type Row,
  type Storage,
  type StorageTransaction,
} from '../sql/model/storage.ts';
import type { StatementView, TableShape, Waiting } from '../sql/model/storage.ts';
import type { SqlValue } from '../sql/model/value.ts';
import { all, request, table, type Level } from './engine.test-support.ts';
import { seededRandom, type Random } from './random-schedule.test-support.ts';

type Values = readonly SqlValue[];
/** By primary key; `null`: deleted. In order of the statements. */
type Changes = (readonly [id: SqlValue, values: Values | null])[];

export interface FuzzedEngine {
  readonly storage: () => Storage;
  readonly shape: TableShape;
  readonly levels: readonly Level[];
  /** InnoDB: a failed statement is undone and its transaction stays open, unless it was a deadlock's victim. */
  readonly undoesStatements: boolean;
}

interface Session {
  transaction: StorageTransaction | null;
  level: Level;
  view: StatementView | null;
  steps: Waiting<void> | null;
  isReady: () => boolean;
  /** Of the statement under way, of the transaction, and where its savepoints are in that. */
  pending: Changes;
  changes: Changes;
  savepoints: { readonly mark: number; readonly at: number }[];
}

const sessionsMax = 4;
const indexes = [10, 11, 12];

/** @returns the first difference, with what led to it; `null`: there is none */
export function fuzzIndexes(engine: FuzzedEngine, seed: number, steps: number): string | null {
  const run = new Run(engine, seededRandom(seed));
  for (let step = 0; step < steps; step++) {
    run.step();
    const difference = run.difference();
    if (difference !== null) return [`seed ${seed}, step ${step}: ${difference}`, ...run.log].join('\n');
  }
  return null;
}

class Run {
  readonly log: string[] = [];
  readonly #engine: FuzzedEngine;
  readonly #random: Random;
  readonly #storage: Storage;
  readonly #sessions: Session[] = [];
  /** Few keys come back to what was deleted more often, many meet more neighbours. */
  readonly #keys: number;
  readonly #committed = new Map<SqlValue, Values>();
  /** Old snapshots: while one is open nothing that it sees is purged. */
  readonly #readers: StorageTransaction[] = [];

  constructor(engine: FuzzedEngine, random: Random) {
    this.#engine = engine;
    this.#random = random;
    this.#keys = 1 + random(4);
    this.#storage = engine.storage();
    this.#storage.createTable(engine.shape);
    for (let id = 0; id < sessionsMax; id++)
      this.#sessions.push({
        transaction: null,
        level: 'read committed',
        view: null,
        steps: null,
        isReady: () => true,
        pending: [],
        changes: [],
        savepoints: [],
      });
  }

  step(): void {
    const id = this.#random(sessionsMax + 1);
    const session = this.#sessions[id];
    if (session === undefined) return this.#moveReaders();
    if (session.steps !== null) return this.#resume(id, session);
    if (session.transaction === null) this.#begin(id, session);
    const kind = this.#random(20);
    if (kind < 3) this.#end(id, session, 'commit');
    else if (kind < 5) this.#end(id, session, 'rollback');
    else if (kind < 7) this.#savepoint(id, session);
    else this.#statement(id, session, kind);
  }

  #begin(id: number, session: Session): void {
    const { levels } = this.#engine;
    session.level = levels[this.#random(levels.length)] ?? 'read committed';
    const takesSnapshot = this.#random(2) === 0;
    const options = { isolation: session.level, isReadOnly: false, takesSnapshot };
    session.transaction = this.#storage.begin(id, options);
    this.log.push(`${id}: begin ${session.level}${takesSnapshot ? ' with consistent snapshot' : ''}`);
  }

  #moveReaders(): void {
    if (this.#readers.length > 0 && this.#random(2) === 0) {
      this.log.push('a reader ends');
      this.#readers.splice(this.#random(this.#readers.length), 1)[0]?.rollback();
    } else if (this.#readers.length < 2) {
      this.log.push('a reader takes its snapshot');
      const reader = this.#storage.begin(9, { isolation: 'repeatable read', isReadOnly: true, takesSnapshot: true });
      rowsBy(reader.statement(), all);
      this.#readers.push(reader);
    }
  }

  #savepoint(id: number, session: Session): void {
    const last = session.savepoints.at(-1);
    const { transaction } = session;
    if (last === undefined || this.#random(2) === 0) {
      session.savepoints.push({ mark: transaction?.savepoint() ?? 0, at: session.changes.length });
      this.log.push(`${id}: savepoint`);
    } else {
      transaction?.rollbackTo(last.mark);
      session.changes.length = last.at;
      this.log.push(`${id}: rollback to savepoint`);
    }
  }

  #statement(id: number, session: Session, kind: number): void {
    const { transaction } = session;
    assert(transaction !== null, 'a statement runs in a transaction');
    const view = transaction.statement();
    session.view = view;
    session.pending = [];
    const path = this.#path();
    const [title, steps] =
      kind < 12
        ? this.#insert(view, session.pending)
        : kind < 17
          ? this.#update(view, path, session.pending)
          : this.#delete(view, path, session.pending);
    this.log.push(`${id}: ${title}`);
    session.steps = steps;
    this.#go(id, session, null);
  }

  #key(): number {
    return 1 + this.#random(this.#keys);
  }

  #nullableKey(): number | null {
    return this.#random(6) === 0 ? null : 10 * this.#key();
  }

  #path(): AccessPath {
    const index = indexes[this.#random(3)] ?? 10;
    const value = (index === 10 ? 1 : index === 11 ? 10 : 100) * this.#key();
    const isDescending = this.#random(4) === 0;
    if (this.#random(6) > 0) return { kind: 'index', index, prefix: [value], isDescending };
    return { kind: 'index', index, prefix: [], from: { value, isInclusive: true }, isDescending };
  }

  #insert(view: StatementView, pending: Changes): [string, Waiting<void>] {
    const row = [this.#key(), this.#nullableKey(), 100 * this.#key()];
    const lock = this.#random(2) === 0 ? 'share' : 'update';
    function* steps(): Waiting<void> {
      const result = yield* view.insert(table.id, row, lock);
      if (result.kind === 'duplicate') throw new SqlError('23505', 'duplicate key');
      pending.push([row[0] ?? null, row]);
    }
    return [`insert ${row.map(String).join(', ')}`, steps()];
  }

  #update(view: StatementView, path: AccessPath, pending: Changes): [string, Waiting<void>] {
    const column = this.#random(3);
    const value = column === 0 ? this.#key() : column === 1 ? this.#nullableKey() : 100 * this.#key();
    function* write(row: Row): Waiting<void> {
      const values = valuesOf(row);
      const next = values.map((old, i) => (i === column ? value : old));
      const result = yield* view.update(row, next, [column]);
      if (result.kind === 'duplicate') throw new SqlError('23505', 'duplicate key');
      pending.push([values[0] ?? null, null], [next[0] ?? null, next]);
    }
    function* steps(): Waiting<void> {
      const found: Row[] = [];
      const asked = { ...request('update'), purpose: 'update' } as const;
      yield* view.lock(table.id, path, everyRow, asked, (row) => found.push(row) > 0);
      for (const row of found) yield* write(row);
    }
    return [`update column ${column} = ${value} where ${pathText(path)}`, steps()];
  }

  #delete(view: StatementView, path: AccessPath, pending: Changes): [string, Waiting<void>] {
    function* steps(): Waiting<void> {
      const asked = { ...request('update'), purpose: 'delete' } as const;
      yield* view.lock(table.id, path, everyRow, asked, function* take(row) {
        yield* view.delete(row);
        pending.push([valuesOf(row)[0] ?? null, null]);
        return true;
      });
    }
    return [`delete where ${pathText(path)}`, steps()];
  }

  #resume(id: number, session: Session): void {
    if (session.isReady()) this.#go(id, session, null);
    else if (this.#random(6) === 0)
      this.#go(id, session, new SqlError('55P03', 'waited too long', { mysqlNumber: 1205 }));
  }

  #go(id: number, session: Session, error: SqlError | null): void {
    const { steps } = session;
    assert(steps !== null, 'a statement is under way');
    try {
      const step = error === null ? steps.next() : steps.throw(error);
      if (step.done !== true) {
        session.isReady = step.value.isReady;
        this.log.push(`${id}: waits`);
        return;
      }
      session.changes.push(...session.pending);
      this.log.push(`${id}: done`);
      if (this.#random(2) === 0) this.#end(id, session, 'commit');
    } catch (thrown) {
      if (!(thrown instanceof SqlError)) throw new Error([String(thrown), ...this.log].join('\n'), { cause: thrown });
      this.#fail(id, session, thrown);
    }
    session.steps = null;
  }

  #fail(id: number, session: Session, error: SqlError): void {
    this.log.push(`${id}: fails with ${error.code}`);
    const last = session.savepoints.at(-1);
    const isOver = error.code === '40001' || error.code === '40P01';
    if (this.#engine.undoesStatements && !isOver) session.view?.undo();
    else if (!this.#engine.undoesStatements && last !== undefined) {
      session.transaction?.rollbackTo(last.mark);
      session.changes.length = last.at;
    } else this.#end(id, session, 'rollback');
  }

  #end(id: number, session: Session, how: 'commit' | 'rollback'): void {
    this.log.push(`${id}: ${how}`);
    const { transaction, changes } = session;
    session.transaction = null;
    session.changes = [];
    session.savepoints = [];
    if (transaction === null) return;
    if (how === 'rollback') return transaction.rollback();
    try {
      assert(transaction.commit().next().done === true, 'COMMIT does not wait');
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      return;
    }
    for (const [key, values] of changes) {
      if (values === null) this.#committed.delete(key);
      else this.#committed.set(key, values);
    }
  }

  /** Reads at every level, by a transaction of its own and by those whose snapshots are open. */
  difference(): string | null {
    for (const isolation of this.#engine.levels) {
      if (isolation === 'serializable') continue;
      // A row that waits to get into its next index is in those before it, and uncommitted reads see that.
      if (isolation === 'read uncommitted' && this.#sessions.some(({ steps }) => steps !== null)) continue;
      const reader = this.#storage.begin(8, { isolation, isReadOnly: true });
      const found = indexDifference(reader.statement());
      const rows = rowsBy(reader.statement(), all);
      reader.rollback();
      if (found !== null) return `${isolation}: ${found}`;
      const expected = sorted([...this.#committed.values()].map(text));
      if (isolation !== 'read uncommitted' && rows.join(' ') !== expected.join(' '))
        return `${isolation}: reads ${rows.join(' ')} where ${expected.join(' ')} is committed`;
    }
    for (const reader of this.#readers) {
      const found = indexDifference(reader.statement());
      if (found !== null) return `a snapshot: ${found}`;
    }
    return null;
  }
}

/** Every index, forwards, backwards and key by key. */
function indexDifference(view: StatementView): string | null {
  const rows = [...view.scan(table.id, all, everyRow)].map(valuesOf);
  const expected = sorted(rows.map(text)).join(' ');
  for (const [column, index] of indexes.entries()) {
    for (const isDescending of [false, true]) {
      const found = rowsBy(view, { kind: 'index', index, prefix: [], isDescending }).join(' ');
      if (found !== expected) return `index ${index} has ${found || 'nothing'}, the table ${expected}`;
    }
    for (const key of new Set(rows.map((row) => row[column] ?? null))) {
      const found = rowsBy(view, { kind: 'index', index, prefix: [key], isDescending: false }).join(' ');
      const wanted = sorted(rows.filter((row) => row[column] === key).map(text)).join(' ');
      if (found !== wanted) return `index ${index} has ${found || 'nothing'} for ${text([key])}, the table ${wanted}`;
      if (index !== 12 && key !== null && wanted.includes(' ')) return `${wanted} share a unique key`;
    }
  }
  return null;
}

function rowsBy(view: StatementView, path: AccessPath): string[] {
  return sorted(
    [
      ...view.scan(
        table.id,
        path,
        unrecorded(() => true),
      ),
    ].map((row) => text(valuesOf(row))),
  );
}

function sorted(rows: readonly string[]): string[] {
  return rows.toSorted();
}

/** `[1,10,null]` */
function text(values: Values): string {
  return JSON.stringify(values);
}

function valuesOf(row: Row): SqlValue[] {
  return row.values.map((value) => value ?? null);
}

function pathText(path: AccessPath): string {
  if (path.kind === 'all') return 'true';
  return `index ${path.index} ${path.from === undefined ? `= ${text(path.prefix)}` : `>= ${text([path.from.value])}`}`;
}
