/**
 * One client session: the state of its transaction, its settings, its prepared statements. Every statement that reads or writes rows goes
 * through the scheduler; BEGIN and settings answer at once, because other sessions cannot see them.
 */
import { assert } from '../base/index.ts';
import {
  type ConnectOptions,
  DeferredChecks,
  dropTemporarySchema,
  type NamedStatement,
  type Notice,
  type PreparedStatement,
  quoteName,
  type SettingStatement,
  type SqlSession,
  type Statement,
  type StatementResult,
  type Surroundings,
  type TransactionModes,
  type TransactionStatement,
} from '../sql/index.ts';
import { SqlError, type SqlType, type SqlValue, type StorageTransaction, type Waiting } from '../sql/model/index.ts';
import { usedDatabase } from './statement/used-database.ts';
import { adminCommandOf } from './instance/admin-command.ts';
import { adminColumns, administer } from './administer.ts';
import type { SqlDatabase } from './database.ts';
import { modesOfSetting, setDefaultModes } from './settings/modes-of-setting.ts';
import { NamedStatements } from './session/named-statements.ts';
import { columnsOf, currentPlan, type Prepared, type RowStatement } from './session/prepared.ts';
import { runStatement } from './statement/run-statement.ts';
import { alreadyOpen, constraintsOutside, localOutside, modesOutside, noneOpen } from './session/session-notices.ts';
import { SessionTransaction } from './session/session-transaction.ts';
import { Settings } from './settings/settings.ts';
import { checkNotFailed, checkReadableNotFailed } from './statement/statement-checks.ts';
import { shown } from './settings/show.ts';
import { canceled, terminated } from './session/session-activity.ts';
import { StatementWatch } from './session/statement-event.ts';
import { orStackError, withStackLimit } from './statement/statement-limits.ts';
import { emptyResult, rowsResult } from './statement/statement-result.ts';
import { statementLimits } from './statement/statement-timeouts.ts';
import { surroundingsOf } from './session/surroundings.ts';
import { lookingAs } from './statement/table-locks.ts';

export class Session implements SqlSession {
  readonly id: number;
  readonly options: ConnectOptions;
  readonly settings: Settings;
  /** The name by which the client calls the database it is in: USE changes it. */
  database: string;
  /** Of the last statement, for the functions that ask. */
  lastInsertId = 0n;
  /** What the statement under way gave LAST_INSERT_ID() to remember. */
  givenInsertId: bigint | null = null;
  foundRows = 0n;
  rowCount = 0n;
  statementTime = 0n;
  readonly startTime: bigint;
  /** Reads what a serializable observer of the end reads; for checkers. */
  readsStrongly = false;
  readonly watch = new StatementWatch();
  readonly deferred = new DeferredChecks();
  readonly #database: SqlDatabase;
  surroundings: Surroundings;
  readonly #named: NamedStatements;
  readonly #transaction: SessionTransaction;
  #isClosed = false;

  constructor(id: number, database: SqlDatabase, options: ConnectOptions) {
    this.id = id;
    this.#database = database;
    this.startTime = database.clock();
    this.options = options;
    this.settings = new Settings(database, options.parameters, options.onParameter);
    this.#transaction = new SessionTransaction(this, database);
    this.surroundings = surroundingsOf(this, database);
    this.#named = new NamedStatements(database.rules, (name) => this.settings.get(name));
    this.database = options.database;
    if (database.rules.usesDatabases) this.#use(options.database);
  }

  get transactionStatus(): 'idle' | 'open' | 'failed' {
    return this.#transaction.status;
  }

  get transactionTime(): bigint {
    return this.#transaction.time;
  }

  /** Of the open transaction; 0 where none is. */
  get transactionNumber(): number {
    return this.#transaction.number;
  }

  get storedTransaction(): StorageTransaction {
    return this.#transaction.open();
  }

  /** What is a setting of the transaction, which no SET statement of a session stores. */
  transactionSetting(name: string): string | undefined {
    return this.#transaction.setting(name);
  }

  /** Does a statement without BEGIN commit? */
  get isAutocommit(): boolean {
    return !this.#database.rules.hasAutocommit || !this.settings.isOff('autocommit');
  }

  split(sql: string): readonly string[] {
    return this.#noting(sql, () =>
      orStackError(() => (adminCommandOf(sql) === null ? this.#database.split(sql) : [sql])),
    );
  }

  prepare(sql: string, parameterTypes: readonly (SqlType | undefined)[] = []): PreparedStatement {
    return this.#noting(sql, () => this.#prepare(sql, parameterTypes));
  }

  refused(error: unknown, sql: string): void {
    this.#database.unsupported.note(error, { session: this.#database.nameOf(this.id), sql, place: this.watch.place() });
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

  #prepare(sql: string, parameterTypes: readonly (SqlType | undefined)[]): Prepared {
    const admin = adminCommandOf(sql);
    const statement: Statement = admin === null ? this.#plan(sql, parameterTypes) : { kind: 'empty' };
    return {
      sql,
      givenTypes: parameterTypes,
      parameterTypes: statement.kind === 'query' ? statement.parameterTypes : [],
      columns: admin === null ? this.#columnsOf(statement) : adminColumns(admin),
      plan: { statement, catalog: this.#database.catalog },
      isInner: false,
      admin,
    };
  }

  async execute(prepared: PreparedStatement, parameters: readonly SqlValue[]): Promise<StatementResult> {
    this.watch.began(prepared.sql);
    try {
      const result = this.watch.answered(prepared as Prepared, await this.#execute(prepared as Prepared, parameters));
      this.watch.ended(prepared as Prepared, parameters, result);
      return result;
    } catch (thrown) {
      this.fail(thrown);
      const error = withStackLimit(thrown);
      this.refused(error, prepared.sql);
      this.watch.ended(prepared as Prepared, parameters, error);
      throw error;
    }
  }

  async #execute(prepared: Prepared, parameters: readonly SqlValue[]): Promise<StatementResult> {
    if (this.#isClosed) throw terminated();
    assert(!this.#database.scheduler.isBusy(this.id), `session ${this.id} has one statement at a time`);
    if (prepared.admin !== null) return administer(prepared.admin, this.#database, this);
    const statement = this.#current(prepared);
    switch (statement.kind) {
      case 'empty':
        return emptyResult('');
      case 'setting':
        return this.#set(statement, prepared.sql);
      case 'transaction':
        return this.#control(statement);
      case 'named':
        return this.#byName(statement, prepared);
      case 'query':
        this.#database.noteAccess(prepared.sql, statement, this.#transaction.isolation);
        return this.#schedule(this.#run(prepared, parameters), statement.isReadOnly);
      case 'ddl':
      case 'lock':
        return this.#schedule(this.#run(prepared, parameters));
    }
  }

  /** Will the client send another statement that others should wait for? */
  get isExpected(): boolean {
    return this.#transaction.isExpected && !this.#isClosed;
  }

  fail(error: unknown): void {
    if (this.#isClosed || this.#database.engine.undoneBy(error) !== 'all until rollback') return;
    if (this.#transaction.isExplicit) this.#transaction.abort();
    else if (this.#transaction.isBlock || this.#transaction.hasBegun) this.rollback();
  }

  beginBlock(): void {
    this.#transaction.isBlock = true;
    this.settings.begin();
  }

  async endBlock(): Promise<void> {
    this.#transaction.isBlock = false;
    if (this.#isClosed || this.#transaction.isExplicit) return;
    if (this.#transaction.hasBegun) await this.#schedule(this.#transaction.end('COMMIT'));
    else this.settings.end(true);
    this.deferred.clear();
  }

  cancel(): void {
    this.interrupt(canceled());
  }

  /** The connection ends: the statement that waits fails, or the client gets the error between two. */
  terminate(): void {
    if (this.#database.scheduler.isBusy(this.id)) this.interrupt(terminated());
    else this.options.onTerminate?.(terminated());
  }

  /** Ends the statement that waits, if one does. */
  interrupt(error: SqlError): void {
    this.#database.scheduler.interrupt(this.id, error);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.watch.onClose?.(this.transactionStatus);
    this.interrupt(new SqlError('57P01', 'the client is gone'));
    this.rollback();
    this.#database.closed(this);
  }

  /** Ends the open transaction without a trace of its writes. */
  rollback(): void {
    this.#transaction.rollback();
  }

  // ---- statements

  #plan(sql: string, parameterTypes: readonly (SqlType | undefined)[]): Statement {
    this.#database.catalog.lookAs(this.id);
    try {
      return orStackError(() => this.#database.plan(sql, parameterTypes, this));
    } catch (error) {
      checkReadableNotFailed(this.#transaction, () => this.#database.split(sql));
      throw error;
    }
  }

  /** The plan, made anew when the catalog has changed since. */
  #current(prepared: Prepared, keepsColumns = prepared.isInner): Statement {
    const planAnew = (): Statement => this.#plan(prepared.sql, prepared.givenTypes);
    return currentPlan(prepared, this.#database.catalog, planAnew, keepsColumns);
  }

  revalidate(prepared: PreparedStatement): void {
    this.#current(prepared as Prepared, true);
  }

  get namedStatements(): Map<string, PreparedStatement> {
    return this.#named.byName;
  }

  async #byName(statement: NamedStatement, prepared: Prepared): Promise<StatementResult> {
    checkNotFailed(this.#transaction);
    if (statement.what === 'execute') {
      const inner = this.#named.get(statement.name);
      this.statementTime = this.#database.clock();
      const execution = { parameters: [], surroundings: this.surroundings };
      return this.#execute(inner as Prepared, statement.values(inner.parameterTypes, execution));
    }
    this.#named.change(statement, (inner): Prepared => {
      if (typeof inner === 'string') return this.prepare(inner) as Prepared;
      const parameterTypes = inner.kind === 'query' ? inner.parameterTypes : [];
      const plan = { statement: inner, catalog: this.#database.catalog };
      return { ...prepared, parameterTypes, columns: columnsOf(inner), plan, isInner: true };
    });
    return emptyResult(statement.command);
  }

  #columnsOf(statement: Statement): PreparedStatement['columns'] {
    const isExecution = statement.kind === 'named' && statement.what === 'execute';
    return isExecution ? this.#named.get(statement.name).columns : columnsOf(statement);
  }

  #schedule(steps: Waiting<StatementResult>, isRead = false): Promise<StatementResult> {
    const looking = lookingAs(() => this.#database.catalog.lookAs(this.id), steps);
    return this.#database.scheduler.run(this.id, looking, statementLimits(this.#database, this, isRead));
  }

  #run(prepared: Prepared, parameters: readonly SqlValue[]): Waiting<StatementResult> {
    return runStatement(prepared, parameters, {
      session: this,
      database: this.#database,
      transaction: this.#transaction,
      current: () => this.#current(prepared) as RowStatement,
    });
  }

  // ---- transactions

  async #control(statement: TransactionStatement): Promise<StatementResult> {
    const { command } = statement;
    switch (statement.what) {
      case 'begin':
        return this.#begin(command, statement.modes);
      case 'modes':
        checkNotFailed(this.#transaction);
        return { ...emptyResult(command), notices: this.#setModes(statement.scope, statement.modes) };
      case 'commit':
      case 'rollback': {
        if (this.transactionStatus === 'idle') return { ...emptyResult(command), notices: this.#notices(noneOpen) };
        const isCommit = statement.what === 'commit' && !this.#transaction.isFailed;
        const { modes } = this.#transaction;
        const result = await this.#schedule(this.#transaction.end(isCommit ? 'COMMIT' : 'ROLLBACK'));
        if (statement.andChain) this.#startExplicit(modes);
        return result;
      }
      case 'savepoint':
      case 'release':
      case 'rollback to':
        return this.#schedule(this.#savepoint(statement.what, statement.name, command));
    }
  }

  async #begin(command: string, modes: TransactionModes): Promise<StatementResult> {
    const { beginCommits } = this.#database.rules;
    if (beginCommits && this.transactionStatus !== 'idle') await this.#schedule(this.#transaction.end('COMMIT'));
    checkNotFailed(this.#transaction);
    if (this.#transaction.isExplicit) return { ...emptyResult(command), notices: this.#notices(alreadyOpen) };
    this.#startExplicit(modes);
    return modes.takesSnapshot === true ? this.#schedule(this.#snapshot(command)) : emptyResult(command);
  }

  #startExplicit(modes: TransactionModes): void {
    this.#transaction.begin(modes);
    this.#database.scheduler.expect(this.id, true);
  }

  // A generator because its moment is decided as that of a statement is.
  // oxlint-disable-next-line require-yield
  *#snapshot(command: string): Waiting<StatementResult> {
    this.#transaction.open();
    this.watch.onStep?.('transaction');
    this.#database.scheduler.expect(this.id, true);
    return emptyResult(command);
  }

  *#checkDue(): Waiting<StatementResult> {
    yield* this.#transaction.checkDue(false);
    return emptyResult('SET CONSTRAINTS');
  }

  // oxlint-disable-next-line require-yield
  *#savepoint(what: 'savepoint' | 'release' | 'rollback to', name: string, command: string): Waiting<StatementResult> {
    this.#transaction.savepointStatement(what, name);
    this.#database.scheduler.expect(this.id, this.isExpected);
    return emptyResult(command);
  }

  // ---- settings

  async #set(statement: SettingStatement, sql: string): Promise<StatementResult> {
    checkNotFailed(this.#transaction);
    const { command } = statement;
    const wasAutocommit = this.isAutocommit;
    let notices: readonly Notice[] = [];
    switch (statement.what) {
      case 'show':
        return rowsResult('SHOW', statement.columns, shown(statement, this));
      case 'set':
        if (command === 'USE') this.#use(usedDatabase(sql) ?? this.database);
        else if (statement.isLocal && !this.#transaction.isInside) notices = this.#notices(localOutside);
        else notices = this.setSetting(statement.name, statement.value, statement.isLocal);
        break;
      case 'set all':
        for (const { name, value } of statement.settings) this.setSetting(name, value, false);
        break;
      case 'constraints':
        if (!this.#transaction.isInside) notices = this.#notices(constraintsOutside);
        this.#transaction.setConstraints(statement.names, statement.isDeferred);
        if (this.deferred.hasDue(false)) await this.#schedule(this.#checkDue());
        break;
      case 'nothing':
        if (command === 'RESET' || command.startsWith('DISCARD')) this.#discard(command);
    }
    // MySQL: turning autocommit on commits what is open.
    if (!wasAutocommit && this.isAutocommit && this.transactionStatus === 'open')
      await this.#schedule(this.#transaction.end('COMMIT'));
    return { ...emptyResult(command), notices };
  }

  /** SET, set_config, and what the protocols have in their place. @throws SqlError 42704, 55P02, 22023, 25001 */
  setSetting(name: string, value: string | null, isLocal: boolean): readonly Notice[] {
    const { modesOfOpen } = this.#database.rules;
    const modes = modesOfSetting(name, value, modesOfOpen);
    if (modes !== null && (modes.scope === 'transaction' || !modesOfOpen))
      return this.#setModes(modes.scope, modes.modes);
    this.settings.set(name, value, isLocal);
    return [];
  }

  #discard(command: string): void {
    const isAll = command === 'DISCARD ALL';
    if (isAll) {
      if (this.transactionStatus !== 'idle' || this.#transaction.isBlock)
        throw new SqlError('25001', 'DISCARD ALL cannot run inside a transaction block');
      this.#named.remove(null);
      this.#database.unlockAll(this.id);
    }
    if (isAll || command === 'DISCARD TEMP') dropTemporarySchema(this.#database.catalog, this.id);
    // What currval and lastval know.
    if (isAll || command === 'DISCARD SEQUENCES') this.surroundings = surroundingsOf(this, this.#database);
    if (isAll || command === 'RESET') this.settings.resetAll();
  }

  /** A name that no CREATE DATABASE has made is the database that is there from the start: clients use what their configuration says. */
  #use(name: string): void {
    this.database = name;
    this.settings.set('search_path', this.#database.catalog.hasSchema(name) ? quoteName(name) : null, false);
  }

  #setModes(scope: 'transaction' | 'session', modes: TransactionModes): readonly Notice[] {
    if (scope === 'transaction') return this.#transaction.setModes(modes) ? [] : this.#notices(modesOutside);
    setDefaultModes(this.settings, modes);
    return [];
  }

  #notices(notice: Notice): readonly Notice[] {
    return this.#database.rules.warns ? [notice] : [];
  }
}
