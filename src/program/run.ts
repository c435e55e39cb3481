/**
 * One run of a program under a controlled scheduler.
 *
 * Sessions are plain async functions. Each stops before each of its transactions and waits for its turn; when all have stopped or ended, one
 * is let go. Inside a transaction every call answers at once, so a transaction runs to its end without another turn, and for the
 * axiomatic stores this loses nothing (MonkeyDB, Theorem 4.2). A session that awaits something else, which only another session can bring,
 * is noticed when the microtask queue runs dry: the others then continue, with its transaction open. What happens in between is a
 * deterministic function of the turns and the values read.
 */
import { monotonicMs, InputError } from '../base/index.ts';
import type { IsolationLevel } from '../isolation/index.ts';
import { errorText } from './invariant.ts';
import { requireKnownFields } from './known-fields.ts';
import { mark, type Marks } from './marks.ts';
import type { Program, SessionHandle, TransactionHandle } from './program.ts';
import {
  calledAfterReturn,
  nestedTransaction,
  NOTHING,
  type OpenedTransaction,
  type OperationKind,
  operationUnderWay,
  RunSession,
  transactionEnded,
  transactionOpen,
} from './run-session.ts';
import type { SessionRun } from './session-tally.ts';
import { SerializationFailure, type Store, type StoreTransaction } from './store.ts';

export interface RunOptions {
  /** Which of the waiting sessions (by index, ascending) goes next; `null` ends the run here, and they have no result. */
  readonly nextSession: (waiting: readonly number[]) => number | null;
  /** Default: what the program says. `discard` ends the run instead, for enumerations in which another path has the outcome. */
  readonly conflicts?: 'retry' | 'abort' | 'discard';
  /** Attempts of one transaction before its session gets the failure all the same. Default 1,000. */
  readonly attemptsMax?: number;
  /** When the run must be over, in `monotonicMs`. Default: never. */
  readonly deadlineMs?: number;
  /** Aborted: the run is given up. */
  readonly signal?: AbortSignal;
  /** Turns that the run may take; one more is a timeout. Default: any number. */
  readonly turnsMax?: number;
  /** Called whenever a session gets to run, for those who watch: at its start and at its turns. */
  readonly onTurn?: (session: number, lastOperation: () => string) => void;
  /** Called, after the run, with each call of a session that had returned, or of a transaction that had ended: the program is at fault. Default: the call is rejected. */
  readonly onLateCall?: (fault: InputError) => void;
}

export type RunOutcome =
  | {
      readonly kind: 'finished';
      readonly results: Readonly<Record<string, unknown>>;
      readonly marks: Marks;
      readonly waitedOutside: readonly string[];
      /** Sessions that started a transaction while another of theirs was under way: it had to wait. */
      readonly queued: readonly string[];
      readonly sessions: readonly SessionRun[];
    }
  /** A session ended with an error; `isOutside`: not one that came out of a transaction of its own. */
  | {
      readonly kind: 'threw';
      readonly session: string;
      readonly error: unknown;
      readonly isOutside: boolean;
      readonly marks: Marks;
      readonly waitedOutside: readonly string[];
      readonly queued: readonly string[];
      readonly sessions: readonly SessionRun[];
    }
  | { readonly kind: 'discarded' }
  /** `turns`: the run took more than it may. `interrupted`: its signal was aborted. */
  | {
      readonly kind: 'timeout';
      readonly reason: 'time' | 'turns' | 'interrupted';
      readonly session: string;
      readonly lastOperation: string;
    };

/** @throws InputError when the program is at fault: `history/value`, `program/nested-transaction` */
export function runProgram(program: Program, store: Store, options: RunOptions): Promise<RunOutcome> {
  return new Run(program, store, options).start();
}

const ABORTED = Symbol('aborted by the program');
/** What calls return once the run is over: nothing happens any more. */
const never = new Promise<never>(() => {});
const settled = Promise.resolve();

class Run {
  readonly #program: Program;
  readonly #store: Store;
  readonly #options: RunOptions;
  readonly #conflicts: 'retry' | 'abort' | 'discard';
  readonly #sessions: readonly RunSession[];
  readonly #results: Record<string, unknown> = {};
  readonly #marks = new Map<string, boolean>();
  readonly #waitedOutside = new Set<string>();
  readonly #queued = new Set<string>();
  #threw: { session: string; error: unknown; isOutside: boolean } | null = null;
  /** Sessions that are executing code of their own right now. */
  #running = 0;
  #left: number;
  #operations = 0;
  #turns = 0;
  #isOver = false;
  #immediate: NodeJS.Immediate | null = null;
  #timer: NodeJS.Timeout | null = null;
  #resolve: (outcome: RunOutcome) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(program: Program, store: Store, options: RunOptions) {
    this.#program = program;
    this.#store = store;
    this.#options = options;
    this.#conflicts = options.conflicts ?? program.conflicts;
    this.#sessions = program.sessionNames.map((name, index) => new RunSession(index, name));
    this.#left = this.#sessions.length;
  }

  start(): Promise<RunOutcome> {
    const outcome = new Promise<RunOutcome>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#running = this.#sessions.length;
    for (const session of this.#sessions) void this.#runSession(session);
    this.#watch();
    return outcome;
  }

  async #runSession(session: RunSession): Promise<void> {
    try {
      const body = this.#program.sessions[session.index] as Program['sessions'][number];
      this.#options.onTurn?.(session.index, session.lastOperation);
      this.#results[session.name] = await body(this.#sessionHandle(session));
    } catch (error) {
      if (this.#isOver) return;
      if (error instanceof InputError) return this.#fail(error);
      session.failure ??= error;
      this.#threw ??= { session: session.name, error, isOutside: error !== session.transactionError };
    }
    if (this.#isOver) return;
    if (session.underWay > 0 && Object.hasOwn(this.#results, session.name))
      return void this.#fail(transactionOpen(session));
    this.#left -= 1;
    this.#stop(session, 'ended');
  }

  #sessionHandle(session: RunSession): SessionHandle {
    return {
      name: session.name,
      transaction: (body, options) =>
        this.#underWay(session, 'transaction', null, () => this.#transaction(session, body, this.#levelOf(options))),
      read: (key) =>
        this.#underWay(session, 'read', key, () => this.#single(session, 'read of', key, (t) => t.read(key))),
      write: (key, value) =>
        this.#underWay(session, 'write', key, () => this.#single(session, 'write of', key, (t) => t.write(key, value))),
      sometimes: (name, condition = true) => mark(this.#marks, name, condition),
    } as SessionHandle;
  }

  #levelOf(options: { readonly level?: IsolationLevel } = {}): IsolationLevel | undefined {
    try {
      requireKnownFields(options, ['level'], 'the options of session.transaction');
    } catch (error) {
      void this.#fail(error);
    }
    return options.level;
  }

  /** Counts calls, so that one that a session does not await is known when the session returns. @param name of the call */
  async #underWay<T>(session: RunSession, name: string, key: string | null, call: () => Promise<T>): Promise<T> {
    if (session.state === 'ended') return this.#refuse(calledAfterReturn(session, name, key));
    if (this.#isOver) return never;
    session.underWay += 1;
    try {
      return await call();
    } finally {
      session.underWay -= 1;
    }
  }

  async #transaction<T>(
    session: RunSession,
    body: (t: TransactionHandle) => T | Promise<T>,
    level?: IsolationLevel,
  ): Promise<T | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const t = await this.#begin(session, level);
      const opened = { operations: 0, isEnded: false, hasWritten: false };
      let result: T;
      try {
        result = await body(this.#transactionHandle(session, t, opened));
        opened.isEnded = true;
        if (opened.operations > 0) return this.#fail(operationUnderWay(session));
      } catch (error) {
        opened.isEnded = true;
        if (this.#isOver) return never;
        t.abort();
        this.#close(session);
        if (error === ABORTED) {
          session.lostWrite ||= opened.hasWritten;
          return undefined;
        }
        session.transactionError = error;
        session.failure = error;
        if (session.thrown === NOTHING) session.thrown = error;
        throw error;
      }
      if (this.#isOver) return never;
      const outcome = t.commit();
      this.#close(session);
      if (outcome === 'committed') {
        session.committed(opened.hasWritten);
        return result;
      }
      this.#conflict(session, attempt);
    }
  }

  async #single<T>(
    session: RunSession,
    kind: OperationKind,
    key: string,
    operation: (t: StoreTransaction) => T,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const t = await this.#begin(session);
      session.lastKind = kind;
      session.lastKey = key;
      session.operations += 1;
      let result: T;
      try {
        result = operation(t);
      } catch (error) {
        return this.#fail(error);
      }
      const outcome = t.commit();
      this.#close(session);
      if (outcome === 'committed') {
        session.committed(kind === 'write of');
        return result;
      }
      this.#conflict(session, attempt);
    }
  }

  #transactionHandle(session: RunSession, t: StoreTransaction, opened: OpenedTransaction): TransactionHandle {
    const operation = async <T>(kind: OperationKind, key: string, run: () => T): Promise<T> => {
      if (opened.isEnded) return this.#refuse(transactionEnded(session, `${kind} ${key}`));
      if (this.#isOver) return never;
      session.lastKind = kind;
      session.lastKey = key;
      if (this.#isLate(session)) return never;
      let result: T;
      try {
        result = run();
      } catch (error) {
        return this.#fail(error);
      }
      // An operation takes its time, as in a database: one that its transaction does not await is still under way when the transaction ends.
      opened.operations += 1;
      opened.hasWritten ||= kind === 'write of';
      session.operations += 1;
      await settled;
      await settled;
      opened.operations -= 1;
      return result;
    };
    return {
      read: (key) => operation('read of', key, () => t.read(key)),
      write: (key, value) => operation('write of', key, () => t.write(key, value)),
      abort: () => {
        throw ABORTED;
      },
    } as TransactionHandle;
  }

  /** Throws what a session gets for a transaction that was rolled back; returns when it should simply run again. */
  #conflict(session: RunSession, attempt: number): void {
    if (this.#conflicts === 'discard') this.#finish({ kind: 'discarded' });
    if (this.#conflicts === 'retry' && attempt < (this.#options.attemptsMax ?? 1_000)) return;
    const failure = new SerializationFailure(session.name, attempt);
    session.transactionError = failure;
    session.failure = failure;
    throw failure;
  }

  // ---- turns

  /** Waits for the session's turn and opens a transaction. */
  #begin(session: RunSession, level?: IsolationLevel): Promise<StoreTransaction> {
    if (session.isOpen || session.requests.length > 0) this.#queued.add(session.name);
    return new Promise((resolve) => {
      session.requests.push(() => {
        try {
          resolve(this.#store.begin(session.index, level));
        } catch (error) {
          void this.#fail(error);
        }
      });
      if (!session.isOpen && session.state === 'running') this.#stop(session, 'waiting');
      else if (session.state === 'outside' && !session.isOpen) this.#returned(session);
    });
  }

  #close(session: RunSession): void {
    session.isOpen = false;
    if (session.requests.length === 0) return;
    if (session.state === 'outside') this.#returned(session);
    else this.#stop(session, 'waiting');
  }

  /** A session that awaited something else has come back to wait for its turn. */
  #returned(session: RunSession): void {
    session.state = 'waiting';
    if (this.#running === 0) this.#next();
  }

  #stop(session: RunSession, state: 'waiting' | 'ended'): void {
    const wasRunning = session.state === 'running';
    session.state = state;
    if (wasRunning) this.#running -= 1;
    if (this.#running === 0) this.#next();
  }

  /** Every session waits, is outside or has ended: the next one's turn. */
  #next(): void {
    if (this.#isOver) return;
    if (this.#left === 0) return this.#finish(this.#endOutcome());
    const waiting: number[] = [];
    for (const { index, state, isOpen } of this.#sessions) if (state === 'waiting' && !isOpen) waiting.push(index);
    if (waiting.length > 1) for (const index of waiting) (this.#sessions[index] as RunSession).overlapped = true;
    if (waiting.length === 0) return; // those outside must come back first
    const next = this.#options.nextSession(waiting);
    if (next === null) return this.#finish(this.#endOutcome());
    const session = this.#sessions[next] as RunSession;
    this.#turns += 1;
    if (this.#turns > (this.#options.turnsMax ?? Infinity)) return this.#endLate(session, 'turns');
    if (this.#isLate(session)) return;
    this.#options.onTurn?.(session.index, session.lastOperation);
    session.state = 'running';
    session.isOpen = true;
    this.#running += 1;
    (session.requests.shift() as () => void)();
  }

  // ---- what does not go by itself

  /**
   * The immediate fires when no microtask is left: a session that still runs awaits something that no call of ours will bring. The others
   * continue; when none can, what is awaited must come from outside (a timer, a socket), until the deadline.
   */
  #watch(): void {
    this.#immediate = setImmediate(() => {
      if (this.#isOver) return;
      for (const session of this.#sessions) {
        if (session.state !== 'running') continue;
        session.state = 'outside';
        this.#waitedOutside.add(session.name);
      }
      this.#running = 0;
      const nested = this.#sessions.find(({ isOpen, requests }) => isOpen && requests.length > 0);
      if (this.#sessions.every(({ state, isOpen }) => state !== 'waiting' || isOpen) && nested !== undefined) {
        void this.#fail(nestedTransaction(nested));
        return;
      }
      this.#next();
      if (this.#sessions.some(({ state }) => state === 'running')) this.#watch();
      else this.#awaitOutside();
    });
  }

  #awaitOutside(): void {
    const { deadlineMs } = this.#options;
    const wait = deadlineMs === undefined ? POLL_MS : Math.min(POLL_MS, Math.max(0, deadlineMs - monotonicMs()));
    this.#timer = setTimeout(() => {
      const stuck = this.#sessions.find(({ state }) => state === 'outside');
      if (this.#isOver || (stuck !== undefined && this.#isPast(stuck))) return;
      this.#watch();
    }, wait);
  }

  /** Is the deadline over? Asked at every operation, answered by the clock at every 16th: in a long run each takes long. */
  #isLate(session: RunSession): boolean {
    this.#operations += 1;
    return (this.#operations & 15) === 0 && this.#isPast(session);
  }

  #isPast(session: RunSession): boolean {
    const { deadlineMs = Infinity, signal } = this.#options;
    const isInterrupted = signal?.aborted === true;
    if (!isInterrupted && monotonicMs() < deadlineMs) return false;
    this.#endLate(session, isInterrupted ? 'interrupted' : 'time');
    return true;
  }

  #endLate(session: RunSession, reason: 'time' | 'turns' | 'interrupted'): void {
    this.#finish({ kind: 'timeout', reason, session: session.name, lastOperation: session.lastOperation() });
  }

  #endOutcome(): RunOutcome {
    const sessions = this.#sessions.map(
      ({ operations, overlapped, failure, thrown, keptWrite, lostWrite }): SessionRun => ({
        operations,
        overlapped,
        failure: failure === null ? null : errorText(failure),
        loss: lostWrite && !keptWrite ? 'rolled-back' : null,
        rolledBack: thrown === NOTHING ? null : { error: errorText(thrown), statement: null },
      }),
    );
    const [waitedOutside, queued] = [[...this.#waitedOutside], [...this.#queued]];
    const common = { marks: this.#marks, waitedOutside, queued, sessions };
    return this.#threw === null
      ? { kind: 'finished', results: inOrderOf(this.#program, this.#results), ...common }
      : { kind: 'threw', ...this.#threw, ...common };
  }

  #finish(outcome: RunOutcome): void {
    this.#tidy();
    this.#resolve(outcome);
  }

  #fail(error: unknown): Promise<never> {
    this.#tidy();
    this.#reject(error);
    return never;
  }

  /** Called with the error of a call that a session makes after it has returned. Default: that call is rejected. */
  #refuse(fault: InputError): Promise<never> {
    if (!this.#isOver) return this.#fail(fault);
    const { onLateCall } = this.#options;
    if (onLateCall === undefined) return Promise.reject(fault);
    onLateCall(fault);
    return never;
  }

  #tidy(): void {
    this.#isOver = true;
    if (this.#immediate !== null) clearImmediate(this.#immediate);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

/** How often a run that waits for something outside looks at the clock. */
const POLL_MS = 10;

/** Results in the order of the program's sessions, whichever ended first. */
export function inOrderOf(
  { sessionNames }: Program,
  results: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const ordered: Record<string, unknown> = {};
  for (const name of sessionNames) if (Object.hasOwn(results, name)) ordered[name] = results[name];
  return ordered;
}
