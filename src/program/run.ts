/**
 * One run of a program under a controlled scheduler.
 *
 * Sessions are plain async functions. Each stops before each of its transactions and waits for its turn; when all have stopped or ended, one
 * continues (`turns.ts`). Inside a transaction every call answers at once, so a transaction runs to its end without another turn, and for the
 * axiomatic stores this loses nothing (MonkeyDB, Theorem 4.2). What happens in between is a deterministic function of the turns and the values
 * read.
 */
import { InputError } from '../base/index.ts';
import type { IsolationLevel } from '../isolation/index.ts';
import { errorText } from './invariant.ts';
import { requireKnownFields } from './known-fields.ts';
import { mark, type Marks } from './marks.ts';
import type { Program, SessionHandle, TransactionHandle } from './program.ts';
import {
  calledAfterReturn,
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
import { type LateReason, type TurnOptions, Turns } from './turns.ts';

export interface RunOptions extends TurnOptions {
  /** Default: what the program says. `discard` ends the run instead, for enumerations in which another path has the outcome. */
  readonly conflicts?: 'retry' | 'abort' | 'discard';
  /** Attempts of one transaction before its session gets the failure all the same. Default 1,000. */
  readonly attemptsMax?: number;
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
  | {
      readonly kind: 'timeout';
      readonly reason: LateReason;
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
  readonly #options: RunOptions;
  readonly #conflicts: 'retry' | 'abort' | 'discard';
  readonly #sessions: readonly RunSession[];
  readonly #results: Record<string, unknown> = {};
  readonly #marks = new Map<string, boolean>();
  readonly #turns: Turns;
  #threw: { session: string; error: unknown; isOutside: boolean } | null = null;
  #resolve: (outcome: RunOutcome) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(program: Program, store: Store, options: RunOptions) {
    this.#program = program;
    this.#options = options;
    this.#conflicts = options.conflicts ?? program.conflicts;
    this.#sessions = program.sessionNames.map((name, index) => new RunSession(index, name));
    this.#turns = new Turns(this.#sessions, store, options, {
      onEnd: () => this.#finish(this.#endOutcome()),
      onLate: (session, reason) =>
        this.#finish({ kind: 'timeout', reason, session: session.name, lastOperation: session.lastOperation() }),
      onError: (error) => void this.#fail(error),
    });
  }

  start(): Promise<RunOutcome> {
    const outcome = new Promise<RunOutcome>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    for (const session of this.#sessions) void this.#runSession(session);
    this.#turns.watch();
    return outcome;
  }

  async #runSession(session: RunSession): Promise<void> {
    try {
      const body = this.#program.sessions[session.index] as Program['sessions'][number];
      this.#options.onTurn?.(session.index, session.lastOperation);
      this.#results[session.name] = await body(this.#sessionHandle(session));
    } catch (error) {
      if (this.#turns.isOver) return;
      if (error instanceof InputError) return this.#fail(error);
      session.failure ??= error;
      this.#threw ??= { session: session.name, error, isOutside: error !== session.transactionError };
    }
    if (this.#turns.isOver) return;
    if (session.underWay > 0 && Object.hasOwn(this.#results, session.name))
      return void this.#fail(transactionOpen(session));
    this.#turns.end(session);
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
    if (this.#turns.isOver) return never;
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
      const t = await this.#turns.begin(session, level);
      const opened = { operations: 0, isEnded: false, hasWritten: false };
      let result: T;
      try {
        result = await body(this.#transactionHandle(session, t, opened));
        opened.isEnded = true;
        if (opened.operations > 0) return this.#fail(operationUnderWay(session));
      } catch (error) {
        opened.isEnded = true;
        if (this.#turns.isOver) return never;
        t.abort();
        this.#turns.close(session);
        if (error === ABORTED) {
          session.lostWrite ||= opened.hasWritten;
          return undefined;
        }
        session.transactionError = error;
        session.failure = error;
        if (session.thrown === NOTHING) session.thrown = error;
        throw error;
      }
      if (this.#turns.isOver) return never;
      const outcome = t.commit();
      this.#turns.close(session);
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
      const t = await this.#turns.begin(session);
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
      this.#turns.close(session);
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
      if (this.#turns.isOver) return never;
      session.lastKind = kind;
      session.lastKey = key;
      if (this.#turns.isLate(session)) return never;
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
    const [waitedOutside, queued] = [[...this.#turns.waitedOutside], [...this.#turns.queued]];
    const common = { marks: this.#marks, waitedOutside, queued, sessions };
    return this.#threw === null
      ? { kind: 'finished', results: inOrderOf(this.#program, this.#results), ...common }
      : { kind: 'threw', ...this.#threw, ...common };
  }

  #finish(outcome: RunOutcome): void {
    this.#turns.stop();
    this.#resolve(outcome);
  }

  #fail(error: unknown): Promise<never> {
    this.#turns.stop();
    this.#reject(error);
    return never;
  }

  /** Called with the error of a call that a session makes after it has returned. Default: that call is rejected. */
  #refuse(fault: InputError): Promise<never> {
    if (!this.#turns.isOver) return this.#fail(fault);
    const { onLateCall } = this.#options;
    if (onLateCall === undefined) return Promise.reject(fault);
    onLateCall(fault);
    return never;
  }
}

/** Results in the order of the program's sessions, whichever ended first. */
export function inOrderOf(
  { sessionNames }: Program,
  results: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const ordered: Record<string, unknown> = {};
  for (const name of sessionNames) if (Object.hasOwn(results, name)) ordered[name] = results[name];
  return ordered;
}
