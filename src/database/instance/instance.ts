/**
 * The data of one database: its catalog, the rows and rules of its engine, the scheduler, what decides for it, and what a verdict on it takes for
 * granted. Sessions and statements work on it; it knows of a session what `ConnectedSession` says.
 */
import { wallClockMicroseconds } from '../../base/index.ts';
import type { EngineProfile } from '../../engine/index.ts';
import type { History } from '../../history/index.ts';
import { type Catalog, endTemporarySchema, newCatalog } from '../../sql/index.ts';
import { type Dialect, SqlError } from '../../sql/model/index.ts';
import { AssumedAccesses, UnsupportedStatements } from '../assumptions/index.ts';
import { type SessionRules, sessionRules } from '../dialect/index.ts';
import type { ConnectedSession } from './connected-session.ts';
import type { SqlDatabaseOptions } from './database-options.ts';
import { copyState, type StoredState } from './image.ts';
import { PlanCache } from './plan-cache.ts';
import { openEngine, type Profile, settingsOf } from './profile.ts';
import { Scheduler } from './scheduler.ts';
import { SeededChoices } from './seeded-choices.ts';
import { SessionNames } from './session-names.ts';
import { settleInProcess } from './settle.ts';

export class Instance {
  readonly profile: Profile;
  readonly dialect: Dialect;
  readonly rules: SessionRules;
  /** Settings that sessions have from the start. */
  readonly settings: Readonly<Record<string, string>>;
  readonly clock: () => bigint;
  readonly takenForGranted: Set<string> | null;
  readonly computeMsMax: number;
  /** Statements since the database was opened that moirai cannot do and the engine could. */
  readonly unsupported: UnsupportedStatements;
  readonly sessions = new Map<number, ConnectedSession>();
  readonly names = new SessionNames();
  readonly plans: PlanCache;
  readonly choices: SeededChoices;
  /** Was the mock database itself given a command? */
  isAdministered = false;
  readonly #options: SqlDatabaseOptions;
  #assumed = new AssumedAccesses();
  #engine: EngineProfile;
  #catalog: Catalog;
  #scheduler: Scheduler;

  constructor(options: SqlDatabaseOptions) {
    this.#options = options;
    this.profile = options.profile;
    this.dialect = options.profile.dialect;
    this.rules = sessionRules[this.dialect];
    this.settings = settingsOf(options.profile);
    this.clock = options.clock ?? wallClockMicroseconds;
    this.takenForGranted = options.takenForGranted ?? null;
    this.computeMsMax = options.computeMsMax ?? 10_000;
    this.unsupported = new UnsupportedStatements(options.onUnsupported);
    this.plans = new PlanCache(options);
    this.choices = new SeededChoices(options);
    this.#engine = this.#newEngine();
    this.#catalog =
      options.image === undefined
        ? newCatalog(this.#engine.storage, this.rules.databaseName)
        : copyState(options.image, this.#engine);
    this.#scheduler = this.#newScheduler();
  }

  /**
   * What is stored now, as other databases may begin with it; `null`: a session is connected, or there is more than rows and relations: random numbers were
   * drawn, a command for the mock database was given, or moirai refused what the engine can do.
   */
  state(): StoredState | null {
    const { choices, unsupported, sessions, isAdministered } = this;
    if (sessions.size > 0 || choices.hasDrawn || isAdministered || unsupported.list.length > 0) return null;
    if (!this.#engine.isCopyable || !this.#catalog.isSettled) return null;
    const engine = this.#newEngine();
    return { engine, catalog: copyState({ engine: this.#engine, catalog: this.#catalog }, engine) };
  }

  /** The rows, and the rules of the engine that is mocked. */
  get engine(): EngineProfile {
    return this.#engine;
  }

  get catalog(): Catalog {
    return this.#catalog;
  }

  get scheduler(): Scheduler {
    return this.#scheduler;
  }

  /** Ways to rows that were taken for granted since the start. */
  get assumed(): AssumedAccesses {
    return this.#assumed;
  }

  /** In [0, 1). */
  random(): number {
    this.#options.footprints?.current.touch('random', 'change');
    this.takenForGranted?.add("SQL's random() gives what the seed draws");
    return this.choices.random();
  }

  /** What is stored now is the initial state: history and choices begin here. */
  start(): void {
    this.#assumed = new AssumedAccesses();
    this.#engine.recorder.start();
    this.plans.start(this.#catalog);
  }

  /** What happened since the start; sessions are named as they were given names, or by their numbers. */
  history(): History {
    return this.names.in(this.#engine.recorder.history());
  }

  /** Empty, as at the start, with the decisions of the seed; what is under way ends, connections stay. */
  reset(): void {
    this.#scheduler.close(() => new SqlError('57P01', 'the database was reset', { mysqlNumber: 1317 }));
    for (const session of this.sessions.values()) session.rollback();
    this.reseed();
    this.#engine = this.#newEngine();
    this.#catalog = newCatalog(this.#engine.storage, this.rules.databaseName);
    this.#scheduler = this.#newScheduler();
  }

  /** @param seed default: the last one */
  reseed(seed?: number): void {
    this.choices.reseed(seed);
    this.#engine.decideBy(this.choices.decisions);
  }

  disconnect(session: number): void {
    endTemporarySchema(this.#catalog, session);
    this.sessions.delete(session);
    this.#engine.advisoryLocks.endSession(session);
    this.#scheduler.released();
  }

  #newEngine(): EngineProfile {
    const { pauses = true, anyVictim = pauses, footprints = null } = this.#options;
    const { predicateReads = 'range', scanOrder = 'insertion', pageBegins, onPageBegin } = this.#options;
    return openEngine(this.profile, {
      decisions: this.choices.decisions,
      pauses,
      anyVictim,
      predicateReads,
      scanOrder,
      pageBegins,
      onPageBegin,
      footprints,
      takenForGranted: this.takenForGranted,
      operationsMax: this.#options.operationsMax,
      tableById: (id) => this.#catalog.tableById(id),
      transactionOf: (session) => this.sessions.get(session)?.transactionNumber || -session,
    });
  }

  #newScheduler(): Scheduler {
    const { holdsBack = 'sometimes', settle = settleInProcess } = this.#options;
    return new Scheduler({
      nextSession: (ready) => {
        this.#options.onDecision?.(ready);
        return this.choices.decisions.session(ready);
      },
      settle,
      holdBack: (moment) => {
        // A lone client is never kept waiting.
        if (this.sessions.size < 2) return null;
        if (holdsBack !== 'sometimes') return holdsBack === 'always' ? settle : null;
        if (moment === 'before a statement') return this.choices.holding.choose(4) === 0 ? settle : null;
        // No window: what has reached this process is read, and may come in between.
        return moment === 'inside the only statement' ? settleInProcess : null;
      },
      onWait: (session, wait) => {
        this.sessions.get(session)?.waits(wait.reason);
        this.#options.onWait?.(session, wait);
      },
      awaited: () => this.choices.awaited,
      limits: this.takenForGranted === null ? 'time' : 'stuck',
    });
  }
}
