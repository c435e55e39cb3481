/**
 * The mock SQL database: sessions that work on one instance. The conversations of both protocols, `connect()` and the HTTP interface stand in
 * front of it.
 */
import {
  type Catalog,
  type ConnectOptions,
  loadParser,
  type SqlServer,
  type SqlSession,
  type StatementResult,
} from '../sql/index.ts';
import { type Dialect, SqlError } from '../sql/model/index.ts';
import type { OperationTimes } from '../engine/index.ts';
import type { History } from '../history/index.ts';
import type { Decisions } from '../mockdb/index.ts';
import type { AssumedAccesses, UnsupportedStatements } from './assumptions/index.ts';
import {
  type AdminCommand,
  type DatabaseImage,
  Instance,
  type Profile,
  type Scheduler,
  type SqlDatabaseOptions,
} from './instance/index.ts';
import { Session } from './sql-session.ts';
import { administer } from './statement/index.ts';

/** @throws InputError */
export async function openSqlDatabase(options: SqlDatabaseOptions): Promise<SqlDatabase> {
  await loadParser();
  return new SqlDatabase(options);
}

export class SqlDatabase implements SqlServer {
  readonly #instance: Instance;
  readonly #sessionsMax: number;
  #nextSessionId: number;

  /** Use `openSqlDatabase`, which has loaded the parser. */
  constructor(options: SqlDatabaseOptions) {
    this.#instance = new Instance(options);
    this.#sessionsMax = options.sessionsMax ?? 1_000;
    this.#nextSessionId = options.image?.nextSessionId ?? 1;
  }

  get profile(): Profile {
    return this.#instance.profile;
  }

  get dialect(): Dialect {
    return this.#instance.dialect;
  }

  get catalog(): Catalog {
    return this.#instance.catalog;
  }

  get scheduler(): Scheduler {
    return this.#instance.scheduler;
  }

  /** Statements since the database was opened that moirai cannot do and the engine could. */
  get unsupported(): UnsupportedStatements {
    return this.#instance.unsupported;
  }

  /** Ways to rows that were taken for granted since the start. */
  get assumed(): AssumedAccesses {
    return this.#instance.assumed;
  }

  get decisions(): Decisions {
    return this.#instance.choices.decisions;
  }

  // ---- sessions

  /** @param name the session's name in histories. Default: its number */
  connect(options: ConnectOptions, name?: string): Session {
    const { sessions, names } = this.#instance;
    if (sessions.size >= this.#sessionsMax) throw new SqlError('53300', 'sorry, too many clients already');
    const id = options.id === undefined || sessions.has(options.id) ? this.reserveId() : options.id;
    if (name !== undefined) names.give(id, name);
    const session = new Session(id, this.#instance, options);
    sessions.set(id, session);
    return session;
  }

  reserveId(): number {
    while (this.#instance.sessions.has(this.#nextSessionId)) this.#nextSessionId += 1;
    this.#nextSessionId += 1;
    return this.#nextSessionId - 1;
  }

  session(id: number): SqlSession | undefined {
    return this.#instance.sessions.get(id);
  }

  get sessions(): readonly SqlSession[] {
    return [...this.#instance.sessions.values()];
  }

  /** The name that a session has in histories: the same in every run, whenever it connects. */
  nameOf(session: number): string {
    return this.#instance.names.of(session);
  }

  // ---- runs

  /** What is stored now is the initial state: history and choices begin here. */
  start(): void {
    this.#instance.start();
  }

  /**
   * What is stored now, for databases of the same profile that begin with it; `null`: a session is connected, or there is more than rows and relations.
   * Linear in the rows.
   */
  image(): DatabaseImage | null {
    const state = this.#instance.state();
    return state === null ? null : { ...state, nextSessionId: this.#nextSessionId };
  }

  /** Begins again with the decisions of this seed. */
  reseed(seed: number): void {
    this.#instance.reseed(seed);
  }

  /** From now on, in place of `abortRate`: after a schema, whose statements nothing retries. */
  failSpuriously(rate: number): void {
    this.#instance.choices.abortRate = rate;
  }

  /** Empty, as at the start, with the decisions of the seed; what is under way ends, connections stay. */
  reset(): void {
    this.#instance.reset();
  }

  /** @throws SqlError, InputError */
  administer(command: AdminCommand): StatementResult {
    return administer(command, this.#instance, null);
  }

  /** What happened since the start; sessions are named as they were given names, or by their numbers. */
  history(): History {
    return this.#instance.history();
  }

  /** When each operation of the history happened, on the clock of `recordedTime`. */
  operationTimes(): OperationTimes {
    return this.#instance.engine.recorder.operationTimes();
  }

  /** The present time of the recording. */
  get recordedTime(): number {
    return this.#instance.engine.recorder.now;
  }

  /** Conditions that may have missed rows and could not be decided: the history says nothing of them. */
  undecidedConditions(): readonly string[] {
    return this.#instance.engine.recorder.undecidedConditions();
  }

  close(): void {
    for (const session of this.#instance.sessions.values()) session.close();
    this.scheduler.close(() => new SqlError('57P01', 'the database is closed'));
  }

  /** The end of a run: statements under way are never answered. */
  abandon(): void {
    this.scheduler.abandon();
  }
}
