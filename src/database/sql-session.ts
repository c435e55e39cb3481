/** One client session, as conversations and the database see it. */
import { assert } from '../base/index.ts';
import {
  type ConnectOptions,
  type PreparedStatement,
  type SessionActivity,
  splitStatements,
  type SqlSession,
  type StatementResult,
} from '../sql/index.ts';
import { SqlError, type SqlType, type SqlValue } from '../sql/model/index.ts';
import { adminCommandOf, type ConnectedSession, type Instance } from './instance/index.ts';
import {
  activityOfSession,
  canceled,
  openSession,
  type Prepared,
  type SessionParts,
  type StatementWatch,
  terminated,
} from './session/index.ts';
import { currentStatement, execute, orStackError, prepareIn, schedule, withLimits } from './statement/index.ts';

export class Session implements SqlSession, ConnectedSession {
  readonly id: number;
  readonly #parts: SessionParts;

  constructor(id: number, instance: Instance, options: ConnectOptions) {
    this.id = id;
    this.#parts = openSession(id, instance, options);
    for (const { name, value, error } of this.#parts.state.settings.unfollowed)
      this.#noteUnsupported(error, `${name} = '${value}' at connection`, null);
  }

  get transactionStatus(): 'idle' | 'open' | 'failed' {
    return this.#parts.transaction.status;
  }

  get transactionNumber(): number {
    return this.#parts.transaction.number;
  }

  get isAutocommit(): boolean {
    return this.#parts.transaction.isAutocommit;
  }

  get namedStatements(): Map<string, PreparedStatement> {
    return this.#parts.named.byName;
  }

  get watch(): StatementWatch {
    return this.#parts.state.watch;
  }

  /** From now on it reads what a serializable observer of the end reads, if so; for checkers. */
  readStrongly(isStrong: boolean): void {
    this.#parts.state.readsStrongly = isStrong;
  }

  activity(): SessionActivity {
    return activityOfSession(this.#parts.state, this.#parts.transaction);
  }

  waits(reason: string): void {
    this.watch.waits(reason);
  }

  // ---- statements

  split(sql: string): readonly string[] {
    const { dialect } = this.#parts.instance;
    return this.#noting(sql, () =>
      orStackError(() => (adminCommandOf(sql) === null ? splitStatements(sql, dialect) : [sql])),
    );
  }

  prepare(sql: string, parameterTypes: readonly (SqlType | undefined)[] = []): PreparedStatement {
    return this.#noting(sql, () => prepareIn(sql, parameterTypes, this.#parts));
  }

  revalidate(statement: PreparedStatement): void {
    currentStatement(statement as Prepared, this.#parts, true);
  }

  async execute(statement: PreparedStatement, parameters: readonly SqlValue[]): Promise<StatementResult> {
    const { watch } = this;
    const prepared = statement as Prepared;
    watch.began(prepared.sql);
    try {
      const result = watch.answered(prepared, await this.#execute(prepared, parameters));
      watch.ended(prepared, parameters, result);
      return result;
    } catch (thrown) {
      this.fail(thrown);
      const error = withLimits(thrown);
      this.refused(error, prepared.sql);
      watch.ended(prepared, parameters, error);
      throw error;
    }
  }

  async #execute(prepared: Prepared, parameters: readonly SqlValue[]): Promise<StatementResult> {
    const { instance, state } = this.#parts;
    if (state.isClosed) throw terminated();
    assert(!instance.scheduler.isBusy(this.id), `session ${this.id} has one statement at a time`);
    return execute(prepared, parameters, this.#parts);
  }

  refused(error: unknown, sql: string): void {
    this.#noteUnsupported(error, sql, this.watch.place());
  }

  unbound(error: unknown, sql: string): void {
    this.watch.refused(sql, error);
  }

  #noting<T>(sql: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.refused(error, sql);
      this.watch.refused(sql, error);
      throw error;
    }
  }

  #noteUnsupported(error: unknown, sql: string, place: string | null): void {
    const { unsupported, names } = this.#parts.instance;
    unsupported.note(error, { session: names.of(this.id), sql, place });
  }

  // ---- its transaction

  fail(error: unknown): void {
    const { instance, state, transaction } = this.#parts;
    if (state.isClosed || instance.engine.undoneBy(error) !== 'all until rollback') return;
    if (transaction.isExplicit) transaction.abort();
    else if (transaction.isBlock || transaction.hasBegun) transaction.rollback();
  }

  beginBlock(): void {
    this.#parts.transaction.isBlock = true;
    this.#parts.state.settings.begin();
  }

  async endBlock(): Promise<void> {
    const { state, transaction } = this.#parts;
    transaction.isBlock = false;
    if (state.isClosed || transaction.isExplicit) return;
    if (transaction.hasBegun) await schedule(this.#parts, transaction.end('COMMIT'));
    else state.settings.end(true);
    state.deferred.clear();
  }

  rollback(): void {
    this.#parts.transaction.rollback();
  }

  // ---- its connection

  cancel(): void {
    this.interrupt(canceled());
  }

  terminate(): void {
    if (this.#parts.instance.scheduler.isBusy(this.id)) this.interrupt(terminated());
    else this.#parts.state.options.onTerminate?.(terminated());
  }

  /** Ends the statement that waits, if one does. */
  interrupt(error: SqlError): void {
    this.#parts.instance.scheduler.interrupt(this.id, error);
  }

  close(): void {
    const { instance, state } = this.#parts;
    if (state.isClosed) return;
    state.isClosed = true;
    this.watch.onClose?.(this.transactionStatus);
    // An error costs its stack.
    if (instance.scheduler.isBusy(this.id)) this.interrupt(new SqlError('57P01', 'the client is gone'));
    this.rollback();
    instance.disconnect(this.id);
  }
}
