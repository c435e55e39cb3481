/** One run of a SQL program on the mock database: every session over its own driver, every decision from one list. */
import { Budget, before, LATE, onUnhandledRejection, InputError, wallClockMicroseconds } from '../base/index.ts';
import {
  type AssumedAccess,
  type OperationTimes,
  openSqlDatabase,
  settleInProcess,
  type SqlDatabase,
  type StatementEvent,
} from '../database/index.ts';
import { connectTo, type ConnectToOptions, queriesOf } from '../serve/index.ts';
import type { InvariantEvidence, UnsupportedStatement } from '../evidence/index.ts';
import type { History } from '../history/index.ts';
import {
  errorText,
  isSessionNameFault,
  mark,
  type Marks,
  observed,
  holdTimersOf,
  passTimeAfter,
  resultsOf,
  type SessionRun,
  type SqlConnection,
  type SqlEnd,
  type SqlProgram,
  violationOf,
} from '../program/index.ts';
import { ArrivalMemory, Arrivals } from './arrivals.ts';
import { offerQueries } from './connection-queries.ts';
import { FinalState } from './final-state.ts';
import { InvariantAwaits } from './invariant-awaits.ts';
import { InvariantStatements } from './invariant-statements.ts';
import { observerOf } from './observed-statements.ts';
import { ProgramSessions } from './program-sessions.ts';
import { RunSteps } from './run-steps.ts';
import type { SessionFailure } from './session-record.ts';
import { type LoggedStatement, logged } from './statement-log.ts';
import { prepareSchema } from './prepare-schema.ts';
import { repeatSchema } from './shared-schema.ts';
import { MomentsOfConnection, type StatementMoments } from './statement-moments.ts';
import type { SqlRunOptions } from './sql-run-options.ts';
import { UnderWay } from './under-way.ts';

export type SqlRun =
  | {
      readonly kind: 'finished';
      /** What is wrong; `null` where the invariant holds. */
      readonly violation: string | null;
      /** The error with which the invariant ended because its own code, or a statement of it, is wrong. */
      readonly mistake: Error | null;
      /** What the violation is. */
      readonly failureKind: FailureKind | null;
      /** The sessions that ended with an error, the first first. */
      readonly failures: readonly SessionFailure[];
      readonly path: readonly number[];
      readonly marks: Marks;
      readonly statements: readonly LoggedStatement[];
      /** Where they are kept: what a replay has to do again. */
      readonly steps: readonly string[];
      /** What each session returned. */
      readonly results: Readonly<Record<string, unknown>>;
      readonly history: () => History;
      /** When its operations happened, on the clock of the statements. */
      readonly operationTimes: () => OperationTimes;
      /** Conditions of which the history does not say what they missed. */
      readonly undecided: () => readonly string[];
      /** Statements that moirai cannot do and the engine could: with one of them the run shows nothing about the engine. */
      readonly unsupported: readonly UnsupportedStatement[];
      /** Ways to rows that were taken for granted: a server may take others. */
      readonly assumed: readonly AssumedAccess[];
      readonly sessions: readonly SessionRun[];
      readonly invariant: InvariantEvidence;
    }
  | (Late & { readonly kind: 'timeout' });

/** What did not end in time. */
export interface Late {
  /** `session "a"`, `the invariant`, `the determinism check`. */
  readonly late: string;
  /** Which statement waits for whom, as a clause. `null`: none does, or it is not known. */
  readonly waiting: string | null;
}

/** A failing run: its invariant is broken (no session may end with an error of its own), or sessions ended with errors that ask for another try. */
export type FailureKind = 'invariant-broken' | 'error-not-retried';

/** @throws SqlError when the schema is at fault; InputError when the program is: `program/statement-under-way`, `program/transaction-open` */
export async function runSqlProgram(program: SqlProgram, options: SqlRunOptions): Promise<SqlRun> {
  const { profile, ways = {}, seed, abortRate, footprints, sharedPlans, sharedSchema, isLogged = false } = options;
  const { clock = wallClockMicroseconds, lockedReads = [] } = options;
  const steps = isLogged ? new RunSteps() : null;
  const decisions = steps?.noting(options.decisions) ?? options.decisions;
  options.underWay?.begin(() => 'the schema');
  let run: Run | null = null;
  const takenForGranted = options.takenForGranted ?? new Set();
  const made = sharedSchema?.with(ways);
  const begun = made === undefined ? sharedSchema?.beginning : undefined;
  const start = made ?? begun;
  const isMaking = made === undefined && takenForGranted.size === 0;
  const notes = { turns: [...(begun?.notes.turns ?? [])], looks: begun?.notes.looks ?? 0 };
  const database: SqlDatabase = await openSqlDatabase({
    profile,
    ...(start ? { image: start.image } : {}),
    decisions,
    seed,
    ways,
    holdsBack: 'always',
    ...(footprints === undefined ? {} : { footprints }),
    ...(sharedPlans === undefined ? {} : { sharedPlans }),
    lockedReads,
    takenForGranted,
    clock: () => {
      if (run === null) notes.looks += 1;
      return clock();
    },
    settle: (callback) => (run === null ? settleInProcess(callback) : run.arrivals.settle(callback)),
    onDecision: (ready) => {
      if (run === null) notes.turns.push([...ready]);
      else run.sessions.decided(ready);
    },
    onWait: (session, { blockers, reason }) => run?.sessions.waits(blockers, reason, session),
  });
  try {
    if (start) repeatSchema(start, { decisions, clock, takenForGranted });
    if (sharedSchema === undefined) await prepareSchema(database, program.schema);
    else if (!made) await sharedSchema.prepare(database, program.schema, begun, { notes, takenForGranted });
    if (isMaking) sharedSchema?.keep(ways, database, notes, takenForGranted);
    // Where there is another connection, the scheduler waits for others.
    database.connect({ user: 'nobody', database: '', parameters: new Map(), onParameter: () => {} });
    database.start();
    database.failSpuriously(abortRate);
    options.onOpen?.(database);
    run = new Run(program, database, options, steps);
    return await run.run();
  } finally {
    database.abandon();
  }
}

class Run {
  readonly sessions: ProgramSessions;
  readonly arrivals: Arrivals;
  readonly #program: SqlProgram;
  readonly #database: SqlDatabase;
  readonly #options: SqlRunOptions;
  readonly #marks = new Map<string, boolean>();
  readonly #ended: (() => LoggedStatement)[] = [];
  /** Of most runs they are not asked for: their texts cost more than the statements. */
  #statements: readonly LoggedStatement[] | null = null;
  /** What the sessions were given. */
  readonly #given: SqlConnection[] = [];
  #isTimePassing = false;
  /** How many connections each session has made. */
  readonly #connections = new Map<string, number>();
  readonly #failures: SessionFailure[] = [];
  /** A statement of the invariant that has arrived and is not known to be awaited: the first after the invariant has returned. */
  #lateSql: string | null = null;
  #isJudged = false;
  /** Does it judge what no run had? What it rejects then is no fault. */
  #isJudgedAgain = false;
  readonly #ofInvariant: InvariantStatements;
  readonly #awaits = new InvariantAwaits();
  /** Has the invariant begun? */
  #isAsked = false;
  /** Ends when the promise that was rejected last, and that nothing awaits, is named. */
  #rejection: Promise<void> = Promise.resolve();
  #asksResults = false;
  #onFault: (fault: InputError) => void = () => {};
  readonly #steps: RunSteps | null;

  constructor(program: SqlProgram, database: SqlDatabase, options: SqlRunOptions, steps: RunSteps | null) {
    this.#program = program;
    this.#database = database;
    this.#options = options;
    this.#steps = steps;
    this.#ofInvariant = new InvariantStatements(database);
    this.sessions = new ProgramSessions(program.sessionNames, database, (fault) => this.#onFault(fault));
    this.arrivals = new Arrivals({
      absent: () => this.sessions.absent(),
      ownTimers: () => database.scheduler.timers,
      waitMs: options.waitMs ?? waitMsDefault,
      memory: options.memory ?? new ArrivalMemory(),
    });
  }

  async run(): Promise<SqlRun> {
    const stopListening = onUnhandledRejection((reason) => {
      if (!this.#isJudgedAgain) this.#rejection = this.#rejected(reason);
    });
    try {
      return await Promise.race([this.#finish(), this.#fault()]);
    } finally {
      stopListening();
    }
  }

  /** A statement of the invariant may arrive after it: its connection has ended before the answer. */
  async #rejected(reason: unknown): Promise<void> {
    let fault = this.#awaits.rejected(reason);
    if (fault === null && this.#isAsked) {
      await new Promise<void>((resolve) => void settleInProcess(resolve));
      fault = this.#awaits.rejected(reason);
    }
    if (fault === null) this.sessions.rejected(reason);
    else this.#onFault(fault);
  }

  /** Rejects when the program turns out to be at fault. */
  #fault(): Promise<never> {
    return new Promise((_, reject) => {
      this.#onFault = reject;
    });
  }

  async #finish(): Promise<SqlRun> {
    const { timeoutMs, budget = new Budget({}) } = this.#options;
    const { signal } = budget;
    const deadline = budget.deadlineOf(timeoutMs);
    const { underWay = new UnderWay() } = this.#options;
    underWay.begin(() => this.sessions.late ?? 'what comes after the sessions');
    // The timer of the deadline is set when the first session begins: it is no part of what sessions wait for.
    const ended = Promise.resolve().then(() => this.#runSessions());
    const first = await before(deadline, ended, signal);
    const { late, waiting } = this.sessions;
    if (first === LATE && late !== null) return { kind: 'timeout', late, waiting };
    // All have returned: their last statements arrive soon.
    const results = first === LATE ? await ended : first;
    underWay.begin(() => 'the invariant');
    // What the invariant asks overlaps with nothing.
    const assumed = this.#database.assumed.list;
    this.#steps?.judge();
    this.#options.onJudge?.();
    const failed = this.#failures.find(({ isRetryable }) => !isRetryable) ?? this.#failures[0];
    const judged = failed === undefined ? await before(deadline, this.#judge(results), signal) : failureOf(failed);
    if (judged === LATE) return { kind: 'timeout', late: 'the invariant', waiting: null };
    const { violation, mistake } = judged;
    await this.#passTime();
    if (violation === null) await this.#judgeAgain(results);
    const statementsOf = (): readonly LoggedStatement[] => (this.#statements ??= this.#ended.map((draw) => draw()));
    return {
      kind: 'finished',
      violation,
      mistake,
      failureKind: violation === null ? null : failed?.isRetryable === true ? 'error-not-retried' : 'invariant-broken',
      failures: this.#failures,
      path: this.#options.decisions.path,
      marks: this.#marks,
      get statements() {
        return statementsOf();
      },
      steps: this.#steps?.steps ?? [],
      results,
      history: () => this.#database.history(),
      operationTimes: () => this.#database.operationTimes(),
      undecided: () => this.#database.undecidedConditions(),
      unsupported: this.#database.unsupported.list,
      assumed,
      sessions: this.sessions.runs(),
      invariant: this.#ofInvariant.evidence(this.#asksResults),
    };
  }

  /** @returns what each session returned, in their order */
  async #runSessions(): Promise<Record<string, unknown>> {
    this.arrivals.begin();
    const { sessionNames } = this.#program;
    const results: Record<string, unknown> = Object.fromEntries(sessionNames.map((name) => [name, undefined]));
    const run = async (name: string, index: number): Promise<void> => {
      let outcome: { readonly thrown: unknown } | null = null;
      try {
        const connection = this.#connection(name, false);
        this.#given.push(connection);
        const running = this.#program.sessions[index]?.(connection);
        holdTimersOf(connection, () => this.sessions.isBusy(name));
        results[name] = await running;
      } catch (thrown) {
        outcome = { thrown };
        this.#failures.push(this.sessions.failure(name, thrown));
      }
      this.sessions.leaving(name);
      // What it has sent without awaiting the answer arrives.
      await new Promise<void>((resolve) => void settleInProcess(resolve));
      this.sessions.left(name, outcome);
    };
    await Promise.all(sessionNames.map(run));
    return results;
  }

  /** The timers that sessions left armed fire: what they send comes after their sessions, and is refused. */
  async #passTime(): Promise<void> {
    this.#isTimePassing = true;
    let hasFired = false;
    for (const connection of this.#given) {
      try {
        hasFired = passTimeAfter(connection) || hasFired;
      } catch (thrown) {
        this.sessions.rejected(thrown);
      }
    }
    if (hasFired) await new Promise<void>((resolve) => void settleInProcess(resolve));
  }

  async #judge(results: Record<string, unknown>): Promise<Judged> {
    this.#isAsked = true;
    let returned: unknown;
    try {
      returned = await observed((isObserved) =>
        this.#program.invariant(this.#end(isObserved ? resultsOf(results, this.#program.sessionNames) : results)),
      );
    } catch (thrown) {
      if (isSessionNameFault(thrown)) throw thrown;
      return { violation: errorText(thrown), mistake: this.#ofInvariant.mistakeIn(thrown) };
    }
    await this.#requireAwaited();
    const violation = violationOf(returned);
    // With one that moirai cannot do the run shows nothing, and the verdict says so.
    if (violation === null && this.#database.unsupported.list.length === 0) this.#ofInvariant.requireOne();
    return { violation, mistake: null };
  }

  async #judgeAgain(results: Record<string, unknown>): Promise<void> {
    const { onHeld } = this.#options;
    if (onHeld === undefined || this.#database.unsupported.list.length > 0) return;
    this.#isJudgedAgain = true;
    const connectionId = (): number => this.#connectionId('invariant');
    await onHeld(new FinalState({ program: this.#program, database: this.#database, results, connectionId }));
  }

  #end(results: Record<string, unknown>): SqlEnd {
    const noteResults = (): void => void (this.#asksResults = true);
    const end = {
      ...this.#connection('invariant', true),
      get results() {
        noteResults();
        return results;
      },
    };
    this.#offerQueries(end, true);
    return end;
  }

  /** What the invariant has sent without awaiting the answer arrives after it has returned. */
  async #requireAwaited(): Promise<void> {
    this.#isJudged = true;
    await new Promise<void>((resolve) => void settleInProcess(resolve));
    await this.#rejection;
    if (this.#lateSql === null) return;
    throw new InputError(
      'program/statement-under-way',
      `the invariant returned with a statement under way: is an await missing? ${this.#lateSql}`,
    );
  }

  #connection(name: string, isInvariant: boolean): SqlConnection {
    const connection: SqlConnection = {
      name,
      connect: () =>
        connectTo(this.#database, {
          ...this.#connecting(connection, isInvariant),
          findsPlaces: this.#options.findsPlaces === true,
        }),
      sometimes: (what, condition = true) => mark(this.#marks, what, condition),
    };
    this.#offerQueries(connection, isInvariant);
    return connection;
  }

  /** Where the places of statements are looked for, they are those of writes to a stream. */
  #offerQueries(connection: SqlConnection, isInvariant: boolean): void {
    if (this.#options.findsPlaces === true) return;
    offerQueries(connection, (user) => queriesOf(this.#database, user, this.#connecting(connection, isInvariant)));
  }

  /** A connection is about to be made. */
  #connecting(connection: SqlConnection, isInvariant: boolean): ConnectToOptions {
    const { name } = connection;
    if (this.#isTimePassing && !isInvariant) this.sessions.connectedLate(name);
    return {
      id: this.#connectionId(name),
      name,
      readsStrongly: isInvariant,
      ...this.#listeners(name, isInvariant, observerOf(connection)),
    };
  }

  #log(event: StatementEvent, name: string, moments: StatementMoments): void {
    this.#ended.push(() => logged(event, name, moments));
  }

  /** In the order of the sessions, whichever connects first: decisions are among connections in order of their numbers. */
  #connectionId(name: string): number {
    const count = (this.#connections.get(name) ?? 0) + 1;
    this.#connections.set(name, count);
    const index = this.#program.sessionNames.indexOf(name);
    return (index === -1 ? this.#program.sessionNames.length + 1 : index + 1) * CONNECTIONS + count;
  }

  /** What is known of one connection. */
  #listeners(
    name: string,
    isInvariant: boolean,
    observer: ((event: StatementEvent) => void) | undefined,
  ): Pick<ConnectToOptions, 'onSession' | 'onStatement'> {
    const { isLogged = false, onStatement } = this.#options;
    let connection: number | null = null;
    let moments: MomentsOfConnection | null = null;
    return {
      onSession: (session) => {
        connection = session.id;
        if (isLogged) moments = new MomentsOfConnection(session, this.#database, () => this.#ended.length);
        if (!isInvariant) this.sessions.connected(name, session);
        else
          session.watch.onArrival = (sql) => {
            this.#awaits.arrived(sql);
            if (this.#isJudged) this.#lateSql ??= sql;
          };
      },
      onStatement: (event) => {
        if (moments !== null) this.#log(event, name, moments.take(event));
        this.#steps?.statement(name, event);
        if (isInvariant) {
          this.#awaits.ended(event);
          this.#ofInvariant.ended(event);
        } else this.#ofInvariant.ofSession(event);
        if (connection === null) return;
        this.sessions.ended(connection, event);
        onStatement?.(connection, event);
        observer?.(event);
      },
    };
  }
}

type Judged = Pick<Extract<SqlRun, { kind: 'finished' }>, 'violation' | 'mistake'>;

function failureOf({ session, error }: SessionFailure): Judged {
  return { violation: `session "${session}" failed: ${error}`, mistake: null };
}

export const waitMsDefault = 1_000;

/** What a run does where nothing else is asked for. */
export const sqlRunDefaults = { seed: 1, abortRate: 0, timeoutMs: 10_000 } as const;

/** The session of the program that this connection belongs to, by index. */
export function sessionIndexOf(connection: number): number {
  return Math.floor(connection / CONNECTIONS) - 1;
}

/** Numbers for the connections of one session. */
const CONNECTIONS = 10_000;
