/** The transaction of one session: what BEGIN, savepoints, SET TRANSACTION and errors do to it, in both dialects. */
import {
  constraintsNamed,
  type DdlOutcome,
  dropTemporary,
  type IsolationName,
  running,
  type StatementResult,
  temporaryTables,
  type TransactionModes,
} from '../../sql/index.ts';
import {
  everyRow,
  type Row,
  SqlError,
  type StatementView,
  type StorageTransaction,
  type TableId,
  type Waiting,
} from '../../sql/model/index.ts';
import type { SqlDatabase } from '../database.ts';
import { type Savepoint, Savepoints } from './savepoints.ts';
import { searchPathOf } from '../settings/search-path.ts';
import { savepointTitles } from './session-notices.ts';
import type { Session } from '../sql-session.ts';
import { checkNotFailed } from '../statement/statement-checks.ts';
import { emptyResult } from '../statement/statement-result.ts';

export class SessionTransaction {
  /** The client has sent BEGIN or turned autocommit off. */
  isExplicit = false;
  /** Are several statements of one simple query under way? Without BEGIN they are one transaction. */
  isBlock = false;
  /** PostgreSQL: an error ended it, and the client has not sent ROLLBACK yet. */
  isFailed = false;
  /** Microseconds since 1970: when it began. */
  time = 0n;
  readonly #session: Session;
  readonly #database: SqlDatabase;
  readonly #savepoints: Savepoints;
  /** How to undo the DDL that it ran, in order. */
  readonly #ddlUndos: DdlOutcome['undo'][] = [];
  #stored: StorageTransaction | null = null;
  #modes: TransactionModes = {};
  /** MySQL: SET TRANSACTION without a scope is for the next transaction only. */
  #nextModes: TransactionModes = {};

  constructor(session: Session, database: SqlDatabase) {
    this.#session = session;
    this.#database = database;
    this.#savepoints = new Savepoints(database.rules);
  }

  get status(): 'idle' | 'open' | 'failed' {
    if (this.isFailed) return 'failed';
    return this.isExplicit || this.hasBegun ? 'open' : 'idle';
  }

  /** Has it read or written, or could it have? */
  get hasBegun(): boolean {
    return this.#stored !== null;
  }

  /** Is it of more than one statement? */
  get isInside(): boolean {
    return this.isExplicit || this.isBlock;
  }

  /** Will the client send another statement that others should wait for? */
  get isExpected(): boolean {
    return this.hasBegun || (this.isExplicit && !this.isFailed);
  }

  /** 0 where none is open. */
  get number(): number {
    return this.#stored?.id ?? 0;
  }

  get modes(): TransactionModes {
    return this.#modes;
  }

  get isolation(): IsolationName {
    return (
      this.#modes.isolation ??
      this.#database.engine.isolation(this.#session.settings.chosen('default_transaction_isolation'))
    );
  }

  get isReadOnly(): boolean {
    return (
      this.#modes.isReadOnly ??
      ['on', 'true', '1'].includes(this.#session.settings.get('default_transaction_read_only') ?? 'off')
    );
  }

  setting(name: string): string | undefined {
    if (/^(?:transaction|tx)[_ ]isolation/.test(name)) return this.isolation;
    if (!this.#database.rules.modesOfOpen) return undefined;
    if (name === 'transaction_read_only') return this.isReadOnly ? 'on' : 'off';
    if (name === 'transaction_deferrable') return this.#modes.isDeferrable === true ? 'on' : 'off';
    return undefined;
  }

  // ---- its life

  begin(modes: TransactionModes): void {
    this.#start(modes);
    this.isExplicit = true;
  }

  /** The engine's side of it, begun when it is first needed. @param isRead by a statement that only reads */
  open(isRead = false): StorageTransaction {
    if (this.#stored !== null) return this.#stored;
    if (!this.isExplicit) this.#start({});
    if (!this.#session.isAutocommit) this.isExplicit = true;
    this.#stored = this.#database.engine.begin({
      session: this.#session.id,
      isolation: this.isolation,
      isOneRead: isRead && !this.isExplicit,
      readsStrongly: this.#session.readsStrongly,
      isSetUp: this.#session.options.isSetUp === true,
      setting: (name) => this.#session.settings.get(name),
      isReadOnly: this.isReadOnly,
      takesSnapshot: this.#modes.takesSnapshot === true,
      isDeferrable: this.#modes.isDeferrable === true,
    });
    return this.#stored;
  }

  *commit(): Waiting<void> {
    yield* this.checkDue(true);
    const temporary = temporaryTables(this.#database.catalog, this.#session.id);
    if (this.#stored !== null) {
      for (const { id, onCommit } of temporary)
        if (onCommit === 'delete rows') yield* deleteAll(id, this.#stored.statement());
      yield* this.#stored.commit();
    }
    dropTemporary(
      this.#database.catalog,
      temporary.filter(({ onCommit }) => onCommit === 'drop'),
    );
    this.#ended(true);
  }

  /** COMMIT or ROLLBACK. @throws SqlError, and is rolled back then */
  *end(command: 'COMMIT' | 'ROLLBACK'): Waiting<StatementResult> {
    try {
      if (command === 'ROLLBACK') this.rollback();
      else {
        this.#database.maySpuriouslyFail(this.#session, this.isolation);
        yield* this.commit();
      }
      return emptyResult(command);
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  /** Runs the checks that SET CONSTRAINTS has brought forward, or, at the end, all that are pending. @throws SqlError 23503, 23505 */
  *checkDue(atCommit: boolean): Waiting<void> {
    const { deferred } = this.#session;
    if (this.#stored === null || !deferred.hasDue(atCommit)) return;
    const execution = { parameters: [], surroundings: this.#session.surroundings };
    yield* deferred.runDue(running(execution, this.#stored.statement()), atCommit);
  }

  /** SET CONSTRAINTS; what it brings forward is still to be run. Outside a transaction it has no effect. @throws SqlError 42704, 42809 */
  setConstraints(names: readonly (readonly string[])[] | null, isDeferred: boolean): void {
    const searchPath = searchPathOf(this.#session, this.#database.catalog);
    const constraints = names?.flatMap((each) => constraintsNamed(each, this.#database.catalog, searchPath)) ?? null;
    if (this.isInside) this.#session.deferred.set(constraints, isDeferred);
  }

  /** Undoes its writes and releases its locks. */
  rollback(): void {
    this.#undo();
    this.#ended(false);
  }

  /** PostgreSQL, at an error: rolls back at once to the last savepoint, or all of it. The client has to send ROLLBACK still. */
  abort(): void {
    if (this.isFailed) return;
    this.isFailed = true;
    const { newest } = this.#savepoints;
    if (newest === undefined) this.#undo();
    else this.#backTo(newest);
    this.#tellScheduler();
  }

  /** @param undo of a DDL statement that it ran */
  defined(undo: DdlOutcome['undo']): void {
    this.#ddlUndos.push(undo);
  }

  // ---- parts of it

  /** @throws SqlError 25P01 outside a block, 25P02 after an error, 3B001, MySQL's 1305 */
  savepointStatement(what: 'savepoint' | 'release' | 'rollback to', name: string): void {
    if (this.#database.rules.savepointsNeedTransaction && !this.isExplicit)
      throw new SqlError('25P01', `${savepointTitles[what]} can only be used in transaction blocks`);
    if (what !== 'rollback to') checkNotFailed(this);
    // MySQL: outside a transaction a savepoint is one of a transaction of its own.
    if (what === 'savepoint' && (this.isExplicit || !this.#session.isAutocommit)) this.savepoint(name);
    if (what === 'release') this.release(name);
    if (what === 'rollback to') this.rollbackTo(name);
  }

  /** @throws SqlError 25P01 outside a block */
  savepoint(name: string): void {
    const mark = this.open().savepoint();
    const settings = this.#session.settings.mark();
    const deferral = this.#session.deferred.mark();
    const locks = this.#database.engine.advisoryLocks.mark(this.#session.id);
    const ddlUndos = this.#ddlUndos.length;
    this.#savepoints.add({ name, mark, ddlUndos, settings, modes: this.#modes, deferral, locks });
  }

  /** @throws SqlError 3B001, MySQL's 1305 */
  release(name: string): void {
    const { modes } = this.#savepoints.release(name);
    // READ ONLY ends with the savepoint that it was said in: CommitSubTransaction, xact.c.
    const { isReadOnly: _ended, ...kept } = this.#modes;
    this.#modes = modes.isReadOnly === undefined ? kept : { ...kept, isReadOnly: modes.isReadOnly };
  }

  /** @throws SqlError 3B001, MySQL's 1305 */
  rollbackTo(name: string): void {
    this.#backTo(this.#savepoints.backTo(name));
    this.isFailed = false;
    this.#tellScheduler();
  }

  /** SET TRANSACTION. @returns did it have an effect? @throws SqlError 25001 */
  setModes(modes: TransactionModes): boolean {
    if (!this.#database.rules.modesOfOpen) {
      if (this.status !== 'idle') throw modesInProgress();
      this.#nextModes = { ...this.#nextModes, ...modes };
      return true;
    }
    if (!this.isExplicit) return false;
    if (this.hasBegun && modes.isolation !== undefined && modes.isolation !== this.isolation)
      throw new SqlError('25001', 'SET TRANSACTION ISOLATION LEVEL must be called before any query');
    if (this.hasBegun && modes.isReadOnly === false && this.isReadOnly)
      throw new SqlError('25001', 'transaction read-write mode must be set before any query');
    this.#modes = { ...this.#modes, ...modes };
    return true;
  }

  #start(modes: TransactionModes): void {
    this.#modes = { ...this.#nextModes, ...modes };
    this.#nextModes = {};
    this.time = this.#database.clock();
    this.#session.settings.begin();
  }

  #backTo({ mark, ddlUndos, settings, modes, deferral, locks }: Savepoint): void {
    this.#modes = modes;
    this.#session.deferred.backTo(deferral);
    this.#undoDdl(ddlUndos);
    this.open().rollbackTo(mark);
    this.#database.engine.advisoryLocks.endTransaction(this.#session.id, locks);
    this.#session.settings.backTo(settings);
  }

  #undo(): void {
    this.#session.deferred.clear();
    this.#undoDdl(0);
    const stored = this.#stored;
    this.#stored = null;
    stored?.rollback();
    this.#database.engine.advisoryLocks.endTransaction(this.#session.id);
    if (stored !== null) this.#database.engine.ended();
  }

  #undoDdl(from: number): void {
    const undos = this.#ddlUndos.splice(from).toReversed();
    if (undos.length > 0) this.#database.catalog.lookAs(this.#session.id);
    for (const undo of undos) undo();
  }

  #ended(isCommitted: boolean): void {
    if (this.#stored !== null) this.#database.engine.ended();
    this.#database.catalog.committed(this.#session.id);
    this.#database.engine.advisoryLocks.endTransaction(this.#session.id);
    this.#stored = null;
    this.isExplicit = false;
    this.isFailed = false;
    this.#modes = {};
    this.#savepoints.clear();
    this.#session.deferred.clear();
    this.#ddlUndos.length = 0;
    this.#session.settings.end(isCommitted);
    this.#tellScheduler();
  }

  #tellScheduler(): void {
    const { scheduler } = this.#database;
    scheduler.expect(this.#session.id, this.isExpected);
    scheduler.released();
  }
}

function* deleteAll(table: TableId, view: StatementView): Waiting<void> {
  const rows: Row[] = [];
  const request = { strength: 'update', ifLocked: 'wait', reading: 'latest' } as const;
  yield* view.lock(table, { kind: 'all' }, everyRow, request, (row) => rows.push(row) > 0);
  for (const row of rows) yield* view.delete(row);
}

function modesInProgress(): SqlError {
  return new SqlError('25001', "Transaction characteristics can't be changed while a transaction is in progress", {
    mysqlNumber: 1568,
  });
}
