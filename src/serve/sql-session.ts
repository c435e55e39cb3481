/**
 * One client session: the state of its transaction, its settings, its prepared statements. Every statement that reads or writes rows goes
 * through the scheduler; BEGIN and settings answer at once, because nobody else can see them.
 */
import {
  type ConnectOptions,
  type Execution,
  type PreparedStatement,
  type QueryOutcome,
  quoteName,
  SqlError,
  type SqlSession,
  type SqlType,
  type SqlValue,
  type Statement,
  type StatementResult,
  type StatementView,
  type StorageTransaction,
  type Surroundings,
  type TransactionModes,
  type TransactionStatement,
  type Waiting,
} from '../sql/index.ts';
import { adminCommandOf, type AdminCommand } from './admin-command.ts';
import type { SqlDatabase } from './database.ts';
import { type StatementEvent, statementEvent } from './statement-event.ts';
import { withLockingScans } from './locking-scans.ts';
import { emptyResult, resultOf, rowsResult } from './statement-result.ts';
import { modesOf } from './modes-of-setting.ts';
import { usedDatabase } from './mysql-text.ts';
import { Settings, timeoutMs } from './settings.ts';
import { surroundingsOf } from './surroundings.ts';

/** A statement with the plan that was made for one version of the catalog. */
interface Prepared extends PreparedStatement {
  readonly givenTypes: readonly (SqlType | undefined)[];
  readonly plan: { statement: Statement };
  readonly admin: AdminCommand | null;
}

interface Savepoint {
  readonly name: string;
  readonly mark: number;
  readonly definitions: number;
}

export class Session implements SqlSession {
  readonly id: number;
  readonly options: ConnectOptions;
  readonly settings: Settings;
  /** The name by which the client calls the database it is in: USE changes it. */
  database: string;
  /** Of the last statement, for the functions that ask. */
  lastInsertId = 0n;
  foundRows = 0n;
  rowCount = 0n;
  transactionTime = 0n;
  statementTime = 0n;
  /** Reads what a serializable observer of the end reads; for checkers. */
  readsStrongly = false;
  /** Told of every statement when it has ended. */
  onStatement: ((event: StatementEvent) => void) | null = null;
  readonly #waits: string[] = [];
  readonly #database: SqlDatabase;
  readonly #surroundings: Surroundings;
  #transaction: StorageTransaction | null = null;
  /** BEGIN was said, or the client turned autocommit off. */
  #isExplicit = false;
  #isFailed = false;
  /** Several statements of one simple query. */
  #isBlock = false;
  #modes: TransactionModes = {};
  /** MySQL: SET TRANSACTION without a scope is for the next transaction only. */
  #nextModes: TransactionModes = {};
  readonly #savepoints: Savepoint[] = [];
  /** How to take back the definitions of the open transaction, in order. */
  readonly #definitions: (() => void)[] = [];
  #isClosed = false;

  constructor(id: number, database: SqlDatabase, options: ConnectOptions) {
    this.id = id;
    this.#database = database;
    this.options = options;
    this.settings = new Settings(database.dialect, options.parameters, options.onParameter);
    this.#surroundings = surroundingsOf(this, database);
    this.database = options.database;
    if (database.dialect === 'mysql') this.#use(options.database);
  }

  get transactionStatus(): 'idle' | 'open' | 'failed' {
    if (this.#isFailed) return 'failed';
    return this.#isExplicit || this.#transaction !== null ? 'open' : 'idle';
  }

  /** MySQL: is autocommit on? A PostgreSQL session always commits by itself. */
  get isAutocommit(): boolean {
    return this.#database.dialect === 'postgres' || !['0', 'off', 'false'].includes(this.autocommitSetting());
  }

  split(sql: string): readonly string[] {
    return adminCommandOf(sql) === null ? this.#database.split(sql) : [sql];
  }

  prepare(sql: string, parameterTypes: readonly (SqlType | undefined)[] = []): PreparedStatement {
    const admin = adminCommandOf(sql);
    const statement: Statement =
      admin === null ? this.#database.plan(sql, parameterTypes, this) : { kind: 'empty' };
    const prepared: Prepared = {
      sql,
      givenTypes: parameterTypes,
      parameterTypes: statement.kind === 'query' ? statement.parameterTypes : [],
      columns: admin === null ? columnsOf(statement) : this.#database.adminColumns(admin),
      plan: { statement },
      admin,
    };
    return prepared;
  }

  async execute(prepared: PreparedStatement, parameters: readonly SqlValue[]): Promise<StatementResult> {
    const { onStatement } = this;
    if (onStatement === null) return this.#execute(prepared, parameters);
    this.#waits.length = 0;
    try {
      const result = await this.#execute(prepared, parameters);
      onStatement(statementEvent(prepared, parameters, this.#waits, result));
      return result;
    } catch (error) {
      if (error instanceof SqlError) onStatement(statementEvent(prepared, parameters, this.#waits, error));
      throw error;
    }
  }

  noteWait(reason: string): void {
    if (this.onStatement !== null && this.#waits.at(-1) !== reason) this.#waits.push(reason);
  }

  async #execute(prepared: PreparedStatement, parameters: readonly SqlValue[]): Promise<StatementResult> {
    if (this.#isClosed) throw new SqlError('57P01', 'terminating connection due to administrator command');
    const own = prepared as Prepared;
    if (own.admin !== null) return this.#database.administer(own.admin, this);
    const statement = this.#current(own);
    switch (statement.kind) {
      case 'empty':
        return emptyResult('');
      case 'setting':
        this.#mustNotBeFailed();
        if (statement.what === 'show')
          return rowsResult('SHOW', statement.columns, this.#database.show(statement, this));
        if (statement.command === 'USE') this.#use(usedDatabase(own.sql) ?? this.database);
        else if (statement.what === 'set') this.setSetting(statement.name, statement.value, statement.isLocal);
        if (statement.what === 'set all')
          for (const { name, value } of statement.settings) this.setSetting(name, value, false);
        return emptyResult(statement.command);
      case 'transaction':
        return this.#control(statement);
      case 'query':
      case 'definition':
        return this.#schedule(this.#run(statement, parameters));
    }
  }

  fail(): void {
    if (this.#database.dialect !== 'postgres' || this.#isClosed) return;
    if (this.#isExplicit) this.#isFailed = true;
    else if (this.#transaction !== null) this.rollback();
  }

  beginBlock(): void {
    this.#isBlock = true;
  }

  async endBlock(): Promise<void> {
    this.#isBlock = false;
    if (this.#transaction !== null && !this.#isExplicit && !this.#isClosed) await this.#schedule(this.#end('COMMIT'));
  }

  cancel(): void {
    this.#database.scheduler.interrupt(
      this.id,
      new SqlError('57014', 'canceling statement due to user request', { mysqlNumber: 1317 }),
    );
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#database.scheduler.interrupt(this.id, new SqlError('57P01', 'the client is gone'));
    this.rollback();
    this.#database.closed(this);
  }

  /** Ends the open transaction without a trace of its writes; its locks go, and those who waited for them may go on. */
  rollback(): void {
    const transaction = this.#transaction;
    for (const undo of this.#definitions.toReversed()) undo();
    this.#ended(false);
    transaction?.rollback();
    this.#database.scheduler.expect(this.id, false);
    this.#database.scheduler.released();
  }

  // ---- statements

  /** The plan, made anew when the catalog has changed since. */
  #current(prepared: Prepared): Statement {
    const { plan } = prepared;
    if (plan.statement.kind === 'query' && plan.statement.catalogVersion !== this.#database.catalog.version)
      plan.statement = this.#database.plan(prepared.sql, prepared.givenTypes, this);
    return plan.statement;
  }

  async #schedule(steps: Waiting<StatementResult>): Promise<StatementResult> {
    const { scheduler, dialect } = this.#database;
    const lockTimeoutMs =
      dialect === 'postgres' ? timeoutMs(this.settings.get('lock_timeout')) : this.#database.innodbLockWaitMs(this);
    try {
      return await scheduler.run(this.id, steps, { lockTimeoutMs, lockTimeoutError: () => lockTimeout(dialect) });
    } catch (error) {
      // A statement that was interrupted before it began has not noted its own failure.
      if (this.#isExplicit && dialect === 'postgres' && error instanceof SqlError) this.#isFailed = true;
      throw error;
    }
  }

  *#run(
    statement: Extract<Statement, { kind: 'query' | 'definition' }>,
    parameters: readonly SqlValue[],
  ): Waiting<StatementResult> {
    const { scheduler, dialect } = this.#database;
    this.#mustNotBeFailed();
    let view: StatementView | null = null;
    try {
      if (statement.kind === 'definition' && dialect === 'mysql') yield* this.#commit();
      const transaction = this.#open(statement.kind === 'query' && statement.isReadOnly);
      this.#database.maySpuriouslyFail(this.#isolation());
      view = transaction.statement();
      const result = yield* this.#outcome(statement, { parameters, surroundings: this.#surroundings }, view);
      if ((!this.#isExplicit && !this.#isBlock) || (statement.kind === 'definition' && dialect === 'mysql'))
        yield* this.#commit();
      return result;
    } catch (error) {
      this.#fail(error, view);
      throw error;
    } finally {
      scheduler.expect(this.id, this.#transaction !== null && !this.#isClosed);
    }
  }

  *#outcome(
    statement: Extract<Statement, { kind: 'query' | 'definition' }>,
    execution: Execution,
    view: StatementView,
  ): Waiting<StatementResult> {
    this.statementTime = this.#database.clock();
    if (statement.kind === 'definition') {
      this.#mayWrite(statement.command);
      const { undo, rowCount, notices } = yield* statement.run(execution, view);
      this.#definitions.push(undo);
      return { ...emptyResult(statement.command), rowCount, notices };
    }
    if (!statement.isReadOnly) this.#mayWrite(statement.command);
    const run = (on: StatementView): Waiting<QueryOutcome> => statement.run(execution, on);
    const outcome = yield* view.scansLock === true && statement.isReadOnly ? withLockingScans(view, run) : run(view);
    this.foundRows = BigInt(outcome.foundRows);
    this.rowCount = statement.columns === null ? BigInt(outcome.rowCount) : -1n;
    if (outcome.insertId !== 0n) this.lastInsertId = outcome.insertId;
    return resultOf(statement, outcome);
  }

  #fail(error: unknown, view: StatementView | null): void {
    view?.undo();
    const isRolledBack = error instanceof SqlError && (error.code === '40001' || error.code === '40P01');
    if (!this.#isExplicit || (this.#database.dialect === 'mysql' && isRolledBack)) this.rollback();
    else if (this.#database.dialect === 'postgres') this.#isFailed = true;
    this.#database.scheduler.released();
  }

  #mustNotBeFailed(): void {
    if (this.#isFailed)
      throw new SqlError('25P02', 'current transaction is aborted, commands ignored until end of transaction block');
  }

  #mayWrite(command: string): void {
    if (!this.#isReadOnly()) return;
    throw this.#database.dialect === 'postgres'
      ? new SqlError('25006', `cannot execute ${command} in a read-only transaction`)
      : new SqlError('25006', 'Cannot execute statement in a READ ONLY transaction', { mysqlNumber: 1792 });
  }

  // ---- transactions

  /** @param isRead by a statement that only reads: InnoDB gives one that is a transaction of its own no locks at any level */
  #open(isRead = false): StorageTransaction {
    if (this.#transaction !== null) return this.#transaction;
    if (!this.#isExplicit && !this.isAutocommit) this.#isExplicit = true;
    if (!this.#isExplicit) this.#startModes({});
    this.transactionTime = this.#database.clock();
    const isAlone = isRead && !this.#isExplicit && this.#database.dialect === 'mysql';
    const isolation = this.#isolation();
    this.#transaction = this.#database.begin(this, {
      isolation: isAlone && isolation === 'serializable' ? 'repeatable read' : isolation,
      isReadOnly: this.#isReadOnly(),
    });
    return this.#transaction;
  }

  #startModes(modes: TransactionModes): void {
    this.#modes = { ...this.#nextModes, ...modes };
    this.#nextModes = {};
    this.settings.begin();
  }

  #isolation(): NonNullable<TransactionModes['isolation']> {
    return this.#modes.isolation ?? this.#database.defaultIsolation(this);
  }

  #isReadOnly(): boolean {
    return (
      this.#modes.isReadOnly ??
      ['on', 'true', '1'].includes(this.settings.get('default_transaction_read_only') ?? 'off')
    );
  }

  /** Of the open transaction; 0 where none is. */
  get transactionNumber(): number {
    return this.#transaction?.id ?? 0;
  }

  /** Text of `transaction_isolation`, which is a setting that no SET statement of a session stores. */
  isolationText(): string {
    return this.#isolation();
  }

  async #control(statement: TransactionStatement): Promise<StatementResult> {
    switch (statement.what) {
      case 'begin': {
        if (this.#database.dialect === 'mysql' && this.transactionStatus !== 'idle')
          await this.#schedule(this.#end('COMMIT'));
        this.#mustNotBeFailed();
        if (this.#isExplicit) return { ...emptyResult('BEGIN'), notices: [alreadyOpen] };
        this.#startModes(statement.modes);
        this.#isExplicit = true;
        this.transactionTime = this.#database.clock();
        this.#database.scheduler.expect(this.id, true);
        return emptyResult(statement.command);
      }
      case 'modes':
        this.#setModes(statement.scope, statement.modes);
        return emptyResult(statement.command);
      case 'commit':
      case 'rollback': {
        if (this.transactionStatus === 'idle') {
          const notices = this.#database.dialect === 'postgres' ? [noneOpen] : [];
          return { ...emptyResult(statement.command), notices };
        }
        const isCommit = statement.what === 'commit' && !this.#isFailed;
        const modes = this.#modes;
        const result = await this.#schedule(this.#end(isCommit ? 'COMMIT' : 'ROLLBACK'));
        if (statement.andChain) {
          this.#startModes(modes);
          this.#isExplicit = true;
        }
        return result;
      }
      case 'savepoint':
      case 'release':
      case 'rollback to':
        return this.#schedule(this.#savepoint(statement.what, statement.name, statement.command));
    }
  }

  *#end(command: 'COMMIT' | 'ROLLBACK'): Waiting<StatementResult> {
    const { scheduler } = this.#database;
    try {
      if (command === 'ROLLBACK') this.rollback();
      else {
        this.#database.maySpuriouslyFail(this.#isolation());
        yield* this.#commit();
      }
      return emptyResult(command);
    } catch (error) {
      this.rollback();
      throw error;
    } finally {
      scheduler.expect(this.id, false);
    }
  }

  *#commit(): Waiting<void> {
    const transaction = this.#transaction;
    if (transaction !== null) yield* transaction.commit();
    this.#ended(true);
    this.#database.scheduler.released();
  }

  #ended(isCommitted: boolean): void {
    if (this.#transaction !== null) this.#database.transactionEnded();
    this.#transaction = null;
    this.#isExplicit = false;
    this.#isFailed = false;
    this.#modes = {};
    this.#savepoints.length = 0;
    this.#definitions.length = 0;
    this.settings.end(isCommitted);
  }

  *#savepoint(what: 'savepoint' | 'release' | 'rollback to', name: string, command: string): Waiting<StatementResult> {
    if (!this.#isExplicit) {
      if (this.#database.dialect === 'mysql' && what === 'savepoint') return emptyResult(command);
      throw new SqlError('25P01', `${command} can only be used in transaction blocks`);
    }
    if (what !== 'rollback to') this.#mustNotBeFailed();
    if (what === 'savepoint') {
      this.#savepoints.push({ name, mark: this.#open().savepoint(), definitions: this.#definitions.length });
      return emptyResult(command);
    }
    const position = this.#savepoints.findLastIndex((savepoint) => savepoint.name === name);
    const savepoint = this.#savepoints[position];
    if (savepoint === undefined) {
      if (this.#database.dialect === 'postgres') this.#isFailed = true;
      throw this.#database.dialect === 'postgres'
        ? new SqlError('3B001', `savepoint "${name}" does not exist`)
        : new SqlError('42000', `SAVEPOINT ${name} does not exist`, { mysqlNumber: 1305 });
    }
    if (what === 'release') this.#savepoints.length = position;
    else {
      this.#savepoints.length = position + 1;
      for (const undo of this.#definitions.splice(savepoint.definitions).toReversed()) undo();
      this.#open().rollbackTo(savepoint.mark);
      this.#isFailed = false;
      this.#database.scheduler.released();
    }
    return emptyResult(command);
  }

  // ---- settings

  /** SET, set_config, and what the protocols have in their place. */
  setSetting(name: string, value: string | null, isLocal: boolean): void {
    const modes = modesOf(name, value);
    if (modes !== null)
      this.#setModes(
        name.startsWith('default') || this.#database.dialect === 'mysql' ? 'session' : 'transaction',
        modes,
      );
    this.settings.set(name, value, isLocal);
    if (name.toLowerCase() === 'autocommit' && this.isAutocommit && this.#isExplicit) this.#isExplicit = false;
  }

  /** A name that no CREATE DATABASE has made is the database that is there from the start: clients use what their configuration says. */
  #use(name: string): void {
    this.database = name;
    this.settings.set('search_path', this.#database.catalog.hasSchema(name) ? quoteName(name) : null, false);
  }

  autocommitSetting(): string {
    return (this.settings.get('autocommit') ?? 'on').toLowerCase();
  }

  #setModes(scope: 'transaction' | 'session', modes: TransactionModes): void {
    if (scope === 'session') {
      if (modes.isolation !== undefined) this.settings.set('default_transaction_isolation', modes.isolation, false);
      if (modes.isReadOnly !== undefined)
        this.settings.set('default_transaction_read_only', modes.isReadOnly ? 'on' : 'off', false);
      return;
    }
    if (this.#database.dialect === 'mysql') {
      if (this.transactionStatus === 'idle') this.#nextModes = { ...this.#nextModes, ...modes };
      else
        throw new SqlError('25001', "Transaction characteristics can't be changed while a transaction is in progress", {
          mysqlNumber: 1568,
        });
      return;
    }
    if (!this.#isExplicit) return;
    if (this.#transaction !== null && modes.isolation !== undefined && modes.isolation !== this.#isolation())
      throw new SqlError('25001', 'SET TRANSACTION ISOLATION LEVEL must be called before any query');
    this.#modes = { ...this.#modes, ...modes };
  }
}

const alreadyOpen = {
  severity: 'WARNING',
  code: '25001',
  message: 'there is already a transaction in progress',
} as const;
const noneOpen = { severity: 'WARNING', code: '25P01', message: 'there is no transaction in progress' } as const;

function columnsOf(statement: Statement): PreparedStatement['columns'] {
  if (statement.kind === 'query') return statement.columns;
  return statement.kind === 'setting' && statement.what === 'show' ? statement.columns : null;
}

function lockTimeout(dialect: 'postgres' | 'mysql'): SqlError {
  return dialect === 'postgres'
    ? new SqlError('55P03', 'canceling statement due to lock timeout')
    : new SqlError('55P03', 'Lock wait timeout exceeded; try restarting transaction', { mysqlNumber: 1205 });
}
