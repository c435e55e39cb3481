/** The transaction of one session: what BEGIN, COMMIT, savepoints and errors do to it, in both dialects. */
import {
  constraintsNamed,
  type DdlOutcome,
  type IsolationName,
  running,
  type Surroundings,
  temporaryTables,
  type TransactionModes,
} from '../../sql/index.ts';
import { SqlError, type StorageTransaction, type Waiting } from '../../sql/model/index.ts';
import type { Instance } from '../instance/index.ts';
import { searchPathOf } from '../settings/index.ts';
import { DdlUndoLog } from './ddl-undo-log.ts';
import { type Savepoint, Savepoints } from './savepoints.ts';
import { savepointTitles } from './session-notices.ts';
import type { SessionState } from './session-state.ts';
import { dropAtCommit, emptyAtCommit } from './temporary-tables.ts';
import { TransactionCharacteristics } from './transaction-characteristics.ts';

export class SessionTransaction {
  /** The client has sent BEGIN or turned autocommit off. */
  isExplicit = false;
  /** Are several statements of one simple query under way? Without BEGIN they are one transaction. */
  isBlock = false;
  /** PostgreSQL: an error ended it, and the client has not sent ROLLBACK yet. */
  isFailed = false;
  /** Microseconds since 1970: when it began. */
  time = 0n;
  readonly characteristics: TransactionCharacteristics;
  readonly #session: SessionState;
  readonly #instance: Instance;
  readonly #surroundings: () => Surroundings;
  /** `null`: none was set. */
  #savepoints: Savepoints | null = null;
  /** `null`: it has run none. */
  #ddl: DdlUndoLog | null = null;
  #stored: StorageTransaction | null = null;

  /** @param surroundings for deferred checks */
  constructor(session: SessionState, instance: Instance, surroundings: () => Surroundings) {
    this.#session = session;
    this.#instance = instance;
    this.#surroundings = surroundings;
    this.characteristics = new TransactionCharacteristics(instance, session.settings);
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
    return !this.#session.isClosed && (this.hasBegun || (this.isExplicit && !this.isFailed));
  }

  /** 0 where none is open. */
  get number(): number {
    return this.#stored?.id ?? 0;
  }

  get isolation(): IsolationName {
    return this.characteristics.isolation;
  }

  /** Does a statement without BEGIN commit? */
  get isAutocommit(): boolean {
    return !this.#instance.rules.hasAutocommit || !this.#session.settings.isOff('autocommit');
  }

  /** @throws SqlError 25P02 */
  checkNotFailed(): void {
    if (this.isFailed)
      throw new SqlError('25P02', 'current transaction is aborted, commands ignored until end of transaction block');
  }

  // ---- its life

  begin(modes: TransactionModes): void {
    this.#start(modes);
    this.isExplicit = true;
  }

  /** The engine's side of it, begun when it is first needed. @param isSelect by a SELECT */
  open(isSelect = false): StorageTransaction {
    if (this.#stored !== null) return this.#stored;
    if (!this.isExplicit) this.#start({});
    if (!this.isAutocommit) this.isExplicit = true;
    const { isolation, isReadOnly, modes } = this.characteristics;
    this.#stored = this.#instance.engine.begin({
      session: this.#session.id,
      isolation,
      isOneSelect: isSelect && !this.isExplicit,
      readsStrongly: this.#session.readsStrongly,
      isSetUp: this.#session.options.isSetUp === true,
      setting: (name) => this.#session.settings.get(name),
      isReadOnly,
      takesSnapshot: modes.takesSnapshot === true,
      isDeferrable: modes.isDeferrable === true,
    });
    return this.#stored;
  }

  *commit(): Waiting<void> {
    yield* this.checkDue(true);
    const { catalog } = this.#instance;
    const temporary = catalog.hasSchema(this.#session.temporarySchema)
      ? temporaryTables(catalog, this.#session.id)
      : [];
    if (this.#stored !== null) {
      if (temporary.length > 0) yield* emptyAtCommit(temporary, this.#stored);
      yield* this.#stored.commit();
    }
    if (temporary.length > 0) dropAtCommit(temporary, catalog);
    this.#ended(true);
  }

  /** COMMIT or ROLLBACK. @throws SqlError, and is rolled back then */
  *end(command: 'COMMIT' | 'ROLLBACK'): Waiting<void> {
    try {
      if (command === 'ROLLBACK') this.rollback();
      else {
        this.#instance.choices.mayFailSpuriously(this.#session, this.isolation);
        yield* this.commit();
      }
    } catch (error) {
      this.rollback();
      throw error;
    }
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
    const newest = this.#savepoints?.newest;
    if (newest === undefined) this.#undo();
    else this.#backTo(newest);
    this.#tellScheduler();
  }

  /** @param undo of a DDL statement that it ran */
  defined(undo: DdlOutcome['undo']): void {
    this.#ddl ??= new DdlUndoLog();
    this.#ddl.add(undo);
  }

  // ---- deferred checks

  /** Runs the checks that SET CONSTRAINTS has brought forward, or, at the end, all that are pending. @throws SqlError 23503, 23505 */
  *checkDue(atCommit: boolean): Waiting<void> {
    const { deferred } = this.#session;
    if (this.#stored === null || !deferred.hasDue(atCommit)) return;
    const execution = { parameters: [], surroundings: this.#surroundings() };
    yield* deferred.runDue(running(execution, this.#stored.statement()), atCommit);
  }

  /** SET CONSTRAINTS; what it brings forward is still to be run. Outside a transaction it has no effect. @throws SqlError 42704, 42809 */
  setConstraints(names: readonly (readonly string[])[] | null, isDeferred: boolean): void {
    const { catalog } = this.#instance;
    const searchPath = searchPathOf(this.#session, catalog);
    const constraints = names?.flatMap((each) => constraintsNamed(each, catalog, searchPath)) ?? null;
    if (this.isInside) this.#session.deferred.set(constraints, isDeferred);
  }

  // ---- savepoints

  /** @throws SqlError 25P01 outside a block, 25P02 after an error, 3B001, MySQL's 1305 */
  savepointStatement(what: 'savepoint' | 'release' | 'rollback to', name: string): void {
    if (this.#instance.rules.savepointsNeedTransaction && !this.isExplicit)
      throw new SqlError('25P01', `${savepointTitles[what]} can only be used in transaction blocks`);
    if (what !== 'rollback to') this.checkNotFailed();
    // MySQL: outside a transaction a savepoint is one of a transaction of its own.
    if (what === 'savepoint' && (this.isExplicit || !this.isAutocommit)) this.#savepoint(name);
    if (what === 'release') this.characteristics.release(this.#setSavepoints().release(name).modes);
    if (what === 'rollback to') this.#rollbackTo(name);
  }

  #setSavepoints(): Savepoints {
    this.#savepoints ??= new Savepoints(this.#instance.rules);
    return this.#savepoints;
  }

  #savepoint(name: string): void {
    this.#setSavepoints().add({
      name,
      mark: this.open().savepoint(),
      ddl: this.#ddl?.mark() ?? 0,
      settings: this.#session.settings.mark(),
      modes: this.characteristics.modes,
      deferral: this.#session.deferred.mark(),
      locks: this.#instance.engine.advisoryLocks.mark(this.#session.id),
    });
  }

  #rollbackTo(name: string): void {
    this.#backTo(this.#setSavepoints().backTo(name));
    this.isFailed = false;
    this.#tellScheduler();
  }

  #backTo({ mark, ddl, settings, modes, deferral, locks }: Savepoint): void {
    this.characteristics.backTo(modes);
    this.#session.deferred.backTo(deferral);
    // Rows first: DDL that is undone looks at those that are left.
    this.open().rollbackTo(mark);
    this.#undoDdl(ddl);
    this.#instance.engine.advisoryLocks.endTransaction(this.#session.id, locks);
    this.#session.settings.backTo(settings);
  }

  // ---- parts

  #start(modes: TransactionModes): void {
    this.characteristics.begin(modes);
    this.time = this.#instance.clock();
    this.#session.settings.begin();
  }

  #undo(): void {
    this.#session.deferred.clear();
    const stored = this.#stored;
    this.#stored = null;
    // Rows first: DDL that is undone looks at those that are left.
    stored?.rollback();
    this.#undoDdl(0);
    this.#instance.engine.advisoryLocks.endTransaction(this.#session.id);
    if (stored !== null) this.#instance.engine.ended();
  }

  #undoDdl(mark: number): void {
    this.#ddl?.undo(mark, () => this.#instance.catalog.lookAs(this.#session.id));
  }

  #ended(isCommitted: boolean): void {
    const { engine, catalog } = this.#instance;
    if (this.#stored !== null) engine.ended();
    catalog.committed(this.#session.id);
    engine.advisoryLocks.endTransaction(this.#session.id);
    this.#stored = null;
    this.isExplicit = false;
    this.isFailed = false;
    this.characteristics.end();
    this.#savepoints = null;
    this.#session.deferred.clear();
    this.#ddl = null;
    this.#session.settings.end(isCommitted);
    this.#tellScheduler();
  }

  #tellScheduler(): void {
    const { scheduler } = this.#instance;
    scheduler.expect(this.#session.id, this.isExpected);
    scheduler.released();
  }
}
