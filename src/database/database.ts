/**
 * The mock SQL database: a catalog, a storage of the chosen family, sessions, and the scheduler that decides what timing decides in real
 * servers. The conversations of both protocols, `connect()` and the HTTP interface stand in front of it.
 */
import { type Chooser, seeded, wallClockMicroseconds } from '../base/index.ts';
import {
  Catalog,
  type CatalogQuery,
  type ConnectOptions,
  dropTemporarySchema,
  type IsolationName,
  loadParser,
  type QueryStatement,
  splitStatements,
  type SqlServer,
  type Statement,
} from '../sql/index.ts';
import { type Dialect, SqlError, type SqlType, type SqlValue, type Wait } from '../sql/model/index.ts';
import type { EngineProfile, FootprintRecorder } from '../engine/index.ts';
import type { UnsupportedStatement } from '../evidence/index.ts';
import type { History } from '../history/index.ts';
import { type Decisions, drawing } from '../mockdb/index.ts';
import { AssumedAccesses, type Ways } from './assumptions/assumed-accesses.ts';
import { describe } from './session/describe.ts';
import { openEngine, type Profile, settingsOf } from './instance/profile.ts';
import { renamed } from './instance/rename-sessions.ts';
import { Scheduler, type Settle } from './instance/scheduler.ts';
import { PlanCache } from './instance/plan-cache.ts';
import { searchPathOf } from './settings/search-path.ts';
import { type SessionRules, sessionRules } from './dialect/session-rules.ts';
import { settleInProcess } from './instance/settle.ts';
import { Session } from './sql-session.ts';
import { UnsupportedStatements } from './assumptions/unsupported-statements.ts';

export interface SqlDatabaseOptions {
  readonly profile: Profile;
  /** Default 1. Draws everything that is left open, unless `decisions` decides. */
  readonly seed?: number;
  readonly decisions?: Decisions;
  /** How long to wait for statements on their way; `null`: not at all. Default: three turns of the event loop, for clients in this process. */
  readonly settle?: Settle | null;
  /**
   * The share of statements and commits at repeatable read and above that fail with 40001 although they could succeed. Not of sessions that read
   * strongly: those check, and have nothing to retry. Default 0.
   */
  readonly abortRate?: number;
  /** Sessions at a time. Default 1,000. */
  readonly sessionsMax?: number;
  /** Microseconds since 1970. Default: the machine's. */
  readonly clock?: () => bigint;
  /** Where it is given, the time limits that clients set never expire, and what a verdict takes for granted by that is added here. */
  readonly takenForGranted?: Set<string>;
  /**
   * Are statements that could go at once held back, so that others can come first? `sometimes`: one in four, drawn, where there are other
   * sessions (default); `always`: every decision is among all that have come; `never`: in order of arrival as far as that decides.
   */
  readonly holdsBack?: 'always' | 'sometimes' | 'never';
  /** Do statements of an engine stop where others could come in between on a real server (`engine/pause.ts`)? Default true. */
  readonly pauses?: boolean;
  /** May each that is on a cycle of waits and could be a server's victim be the victim of a deadlock? Default: as `pauses`. */
  readonly anyVictim?: boolean;
  /** Who is next, where `decisions` are a recorded schedule. */
  readonly awaited?: () => number | undefined;
  /** Called with the sessions among which is decided. */
  readonly onDecision?: (ready: readonly number[]) => void;
  /** Called when a statement of this session begins to wait for another transaction. */
  readonly onWait?: (session: number, wait: Wait) => void;
  /** Collects the footprint of every step; engine profiles only. */
  readonly footprints?: FootprintRecorder;
  /** What PostgreSQL's SERIALIZABLE remembers of a read by an index: its range (default), or all of it, as where the index has one page. */
  readonly predicateReads?: 'range' | 'index';
  /**
   * In which order PostgreSQL's scan of a whole table comes to its rows: as they were inserted (default), or as their versions were written, as on a
   * server while the table has few pages and no VACUUM has run. Not with `footprints`, which do not record the second.
   */
  readonly scanOrder?: 'insertion' | 'heap';
  /** How long one statement may compute between two waits, while all other clients wait. Milliseconds. Default 10,000. */
  readonly computeMsMax?: number;
  /** Reads and writes that are kept for the history. Default 1,000,000; with more there is no history until the next start. */
  readonly operationsMax?: number;
  /** Ways that statements take to the rows of a table, where they are not the likely ones. */
  readonly ways?: Ways;
  /** Called once for each statement that moirai cannot do and the engine could. */
  readonly onUnsupported?: (statement: UnsupportedStatement) => void;
}

/** @throws InputError */
export async function openSqlDatabase(options: SqlDatabaseOptions): Promise<SqlDatabase> {
  await loadParser();
  return new SqlDatabase(options);
}

export class SqlDatabase implements SqlServer {
  readonly profile: Profile;
  readonly dialect: Dialect;
  readonly rules: SessionRules;
  /** Settings that sessions have from the start. */
  readonly settings: Readonly<Record<string, string>>;
  scheduler: Scheduler;
  catalog: Catalog;
  /** The rows, and the rules of the engine that is mocked. */
  engine: EngineProfile;
  readonly clock: () => bigint;
  readonly takenForGranted: Set<string> | null;
  readonly computeMsMax: number;
  /** Statements since the database was opened that moirai cannot do and the engine could. */
  readonly unsupported: UnsupportedStatements;
  /** Ways to rows that were taken for granted. */
  assumed = new AssumedAccesses();
  readonly #options: SqlDatabaseOptions;
  #decisions: Decisions;
  #awaited: (() => number | undefined) | undefined;
  #seed: number;
  /** For `random()` and spurious failures: drawn in the order of the schedule, so that a replay draws the same. */
  #chooser: Chooser;
  /** For what a replay does not do. */
  #holding: Chooser;
  readonly #sessions = new Map<number, Session>();
  readonly #plans: PlanCache;
  #nextSessionId = 1;
  readonly #names = new Map<string, string>();
  #abortRate: number;

  /** Use `openSqlDatabase`, which has loaded the parser. */
  constructor(options: SqlDatabaseOptions) {
    this.#options = options;
    this.#plans = new PlanCache(options.ways);
    this.profile = options.profile;
    this.dialect = options.profile.dialect;
    this.rules = sessionRules[this.dialect];
    this.settings = settingsOf(options.profile);
    this.clock = options.clock ?? wallClockMicroseconds;
    this.takenForGranted = options.takenForGranted ?? null;
    this.computeMsMax = options.computeMsMax ?? 10_000;
    this.unsupported = new UnsupportedStatements(options.onUnsupported);
    this.#abortRate = options.abortRate ?? 0;
    this.#seed = options.seed ?? 1;
    this.#chooser = seeded(this.#seed, 1);
    this.#holding = seeded(this.#seed, 2);
    this.#decisions = options.decisions ?? drawing({ chooser: seeded(this.#seed) });
    this.#awaited = options.awaited;
    this.engine = this.#newEngine();
    this.catalog = new Catalog(this.engine.storage, this.rules.databaseName);
    this.scheduler = this.#newScheduler();
  }

  // ---- sessions

  /** @param name the session's name in histories. Default: its number */
  connect(options: ConnectOptions, name?: string): Session {
    const sessionsMax = this.#options.sessionsMax ?? 1_000;
    if (this.#sessions.size >= sessionsMax) throw new SqlError('53300', 'sorry, too many clients already');
    const { id } = options;
    const session = new Session(id === undefined || this.#sessions.has(id) ? this.reserveId() : id, this, options);
    this.#sessions.set(session.id, session);
    if (name !== undefined) this.name(session.id, name);
    this.#noteUnfollowed(session);
    return session;
  }

  #noteUnfollowed({ id, settings }: Session): void {
    for (const { name, value, error } of settings.unfollowed)
      this.unsupported.note(error, {
        session: this.nameOf(id),
        sql: `${name} = '${value}' at connection`,
        place: null,
      });
  }

  reserveId(): number {
    while (this.#sessions.has(this.#nextSessionId)) this.#nextSessionId += 1;
    this.#nextSessionId += 1;
    return this.#nextSessionId - 1;
  }

  session(id: number): Session | undefined {
    return this.#sessions.get(id);
  }

  get sessions(): readonly Session[] {
    return [...this.#sessions.values()];
  }

  closed(session: Session): void {
    dropTemporarySchema(this.catalog, session.id);
    this.#sessions.delete(session.id);
    this.engine.advisoryLocks.endSession(session.id);
    this.scheduler.released();
  }

  unlockAll(session: number): void {
    this.engine.advisoryLocks.unlockAll(session);
    this.scheduler.released();
  }

  // ---- what sessions ask

  split(sql: string): readonly string[] {
    return splitStatements(sql, this.dialect);
  }

  /** @throws SqlError */
  plan(sql: string, parameterTypes: readonly (SqlType | undefined)[], session: Session): Statement {
    return this.#plans.plan(sql, parameterTypes, session, this);
  }

  noteAccess(sql: string, statement: QueryStatement, isolation: IsolationName): void {
    this.assumed.note(sql, statement, this.engine, isolation);
  }

  /** @throws SqlError 40001, drawn: retry code is what test suites lack most */
  maySpuriouslyFail({ readsStrongly }: Session, isolation: IsolationName): void {
    const rate = this.#abortRate;
    if (rate === 0 || readsStrongly || isolation === 'read committed' || isolation === 'read uncommitted') return;
    if (this.#chooser.choose(1_000_000) < rate * 1_000_000)
      throw new SqlError('40001', 'could not serialize access (a spurious failure, as asked for)', {
        mysqlNumber: 1213,
      });
  }

  /** From now on, in place of `abortRate`: after a schema, whose statements nothing retries. */
  failSpuriously(rate: number): void {
    this.#abortRate = rate;
  }

  random(): number {
    this.#options.footprints?.current.touch('random', 'change');
    this.takenForGranted?.add("SQL's random() gives what the seed draws");
    return this.#chooser.choose(2 ** 31) / 2 ** 31;
  }

  /** What functions ask of the catalog. @throws SqlError */
  describe(what: string, names: readonly string[], session: Session): SqlValue {
    return describe(what, names, {
      catalog: this.catalog,
      searchPath: searchPathOf(session, this.catalog),
      version: this.rules.version,
      transactionId: session.transactionNumber,
      user: session.options.user,
    });
  }

  // ---- admin

  /** Empty, as at the start, with the decisions of the seed; what is under way ends, connections stay. */
  reset(): void {
    this.scheduler.close(() => new SqlError('57P01', 'the database was reset', { mysqlNumber: 1317 }));
    for (const session of this.#sessions.values()) session.rollback();
    this.reseed(this.#seed);
    this.engine = this.#newEngine();
    this.catalog = new Catalog(this.engine.storage, this.rules.databaseName);
    this.scheduler = this.#newScheduler();
  }

  /** What is stored now is the initial state: history and choices begin here. */
  start(): void {
    this.assumed = new AssumedAccesses();
    this.engine.recorder.start();
  }

  reseed(seed: number): void {
    this.#seed = seed;
    this.#chooser = seeded(seed, 1);
    this.#holding = seeded(seed, 2);
    this.#decisions = drawing({ chooser: seeded(seed) });
    this.#awaited = undefined;
    this.engine.decideBy(this.#decisions);
  }

  get decisions(): Decisions {
    return this.#decisions;
  }

  /** What happened since the start; sessions are named as they were given names, or by their numbers. */
  history(): History {
    return renamed(this.engine.recorder.history(), this.#names);
  }

  /** Conditions that may have missed rows and could not be decided: the history says nothing of them. */
  undecidedConditions(): readonly string[] {
    return this.engine.recorder.undecidedConditions();
  }

  onCatalogQuery(session: Session, query: CatalogQuery): void {
    this.engine.recorder.onCatalogQuery(session.transactionNumber, session.id, query);
  }

  /** A session has run DDL, or found the name taken. */
  onDdl(session: Session, outcome: 'made' | 'refused'): void {
    this.engine.recorder.onDdl(session.transactionNumber, session.id, outcome);
  }

  /** The session's name in histories. */
  name(session: number, name: string): void {
    const taken = [...this.#names.values()].filter((each) => each === name || each.startsWith(`${name}#`)).length;
    this.#names.set(String(session), taken === 0 ? name : `${name}#${taken + 1}`);
  }

  /** The name that a session has in histories: the same in every run, whenever it connects. */
  nameOf(session: number): string {
    return this.#names.get(String(session)) ?? String(session);
  }

  close(): void {
    for (const session of this.#sessions.values()) session.close();
    this.scheduler.close(() => new SqlError('57P01', 'the database is closed'));
  }

  /** The end of a run: statements under way are never answered. */
  abandon(): void {
    this.scheduler.abandon();
  }

  // ---- parts

  /** Of transactions that do not name one. */
  setLevel(level: string): void {
    this.engine.setLevel(level);
  }

  #newEngine(): EngineProfile {
    const { pauses = true, anyVictim = pauses, footprints = null } = this.#options;
    const { predicateReads = 'range', scanOrder = 'insertion' } = this.#options;
    return openEngine(this.profile, {
      decisions: this.#decisions,
      pauses,
      anyVictim,
      predicateReads,
      scanOrder,
      footprints,
      takenForGranted: this.takenForGranted,
      operationsMax: this.#options.operationsMax,
      tableById: (id) => this.catalog.tableById(id),
      transactionOf: (session) => this.#sessions.get(session)?.transactionNumber || -session,
    });
  }

  #newScheduler(): Scheduler {
    const { holdsBack = 'sometimes', settle = settleInProcess } = this.#options;
    return new Scheduler({
      nextSession: (ready) => {
        this.#options.onDecision?.(ready);
        return this.#decisions.session(ready);
      },
      settle,
      holdBack: (moment) => {
        // A lone client is never kept waiting.
        if (this.#sessions.size < 2) return null;
        if (holdsBack !== 'sometimes') return holdsBack === 'always' ? settle : null;
        if (moment === 'before a statement') return this.#holding.choose(4) === 0 ? settle : null;
        // No window: what has reached this process is read, and may come in between.
        return moment === 'inside the only statement' ? settleInProcess : null;
      },
      onWait: (session, wait) => {
        this.#sessions.get(session)?.watch.waits(wait.reason);
        this.#options.onWait?.(session, wait);
      },
      awaited: () => this.#awaited?.(),
      limits: this.takenForGranted === null ? 'time' : 'stuck',
    });
  }
}
