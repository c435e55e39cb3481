/**
 * Which of the statements that have arrived goes next. One runs at a time, from its start to its end or to a lock that it has to wait for;
 * everything that real servers leave to timing is decided here, by the decisions that the database was given.
 *
 * A server cannot know whether another statement is on its way. So before it decides it waits until every session with an open transaction
 * has sent its next statement, or until `settle` says that every statement on its way has arrived. In process that is a few turns of the event
 * loop; over sockets a window of some milliseconds. Without other open transactions nothing waits.
 *
 * Statements stop inside as well (`engine/pause.ts`), where others may overtake them. Those have waited before they began.
 */
// That of the module: the global one is watched while programs are tested.
import { setTimeout } from 'node:timers';
import { assert, monotonicMs, SmallMap } from '../../base/index.ts';
import type { SqlError, Wait, Waiting } from '../../sql/model/index.ts';
import { pause } from '../../engine/index.ts';

/** Waits for statements on their way. @returns stops the waiting */
export type Settle = (callback: () => void) => () => void;

/** What a decision interrupts: nothing; the only statement that can run; one of several that can. */
export type Moment = 'before a statement' | 'inside the only statement' | 'inside one of several';

export interface SchedulerOptions {
  /** Which of the sessions that could continue goes next; given by number, ascending. */
  readonly nextSession: (ready: readonly number[]) => number;
  /** `null`: the scheduler does not wait for further sessions; statements run as they arrive. */
  readonly settle: Settle | null;
  /** Where no transaction is open: how does a decision wait, so that others can come before it? `null`: not at all. */
  readonly holdBack: (moment: Moment) => Settle | null;
  /** A recorded schedule says which session is next: no other runs before its statement has arrived. `undefined`: any. */
  readonly awaited?: () => number | undefined;
  readonly onWait?: (session: number, wait: Wait) => void;
  /**
   * When do waits with a limit end: when their time has come (default), or, where a run must not depend on the clock, when nothing else can continue, the
   * shortest first?
   */
  readonly limits?: 'time' | 'stuck';
}

export interface JobOptions {
  /** How long it may wait for locks, together; the error when it is over. Infinity: for ever. */
  readonly lockTimeoutMs: number;
  readonly lockTimeoutError: () => SqlError;
  /** How long it may take with all that it waits for, and the error then. Default: for ever. */
  readonly timeoutMs?: number;
  readonly timeoutError?: () => SqlError;
}

interface Job {
  readonly session: number;
  readonly steps: Waiting<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly options: JobOptions;
  wait: Wait | null;
  lockTimer: NodeJS.Timeout | undefined;
  timer: NodeJS.Timeout | undefined;
  /** Of the wait under way, where it ends by itself. */
  limitTimer: NodeJS.Timeout | undefined;
  /** What it gets when it is its turn: a timeout, a cancel request. */
  interruption: SqlError | null;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  /** One for each session that waits for an answer. */
  readonly #jobs = new SmallMap<number, Job>();
  /** Sessions with an open transaction and no statement: they will come back, or hang up. */
  readonly #expected = new Set<number>();
  #stopSettling: (() => void) | null = null;
  #isSettled = false;
  /** How the coming decision is held back; `null`: not drawn yet. */
  #held: { readonly moment: Moment; readonly settle: Settle | null } | null = null;
  #isRunning = false;
  #isClosed = false;
  #isAbandoned = false;
  #stepBegan = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Runs `steps` when it is this session's turn. A session has one statement at a time. */
  run<T>(session: number, steps: Waiting<T>, options: JobOptions): Promise<T> {
    if (this.#isAbandoned) return new Promise(() => {});
    assert(!this.#jobs.has(session), `session ${session} already waits for an answer`);
    assert(!this.#isClosed, 'the scheduler is closed');
    this.#expected.delete(session);
    return new Promise<T>((resolve, reject) => {
      const job: Job = {
        session,
        steps,
        resolve: resolve as (result: unknown) => void,
        reject,
        options,
        wait: null,
        lockTimer: undefined,
        timer: undefined,
        limitTimer: undefined,
        interruption: null,
      };
      const { timeoutMs = Infinity, timeoutError } = options;
      if (timeoutError !== undefined) job.timer = this.#timer(job, timeoutMs, timeoutError);
      this.#jobs.set(session, job);
      this.#consider();
    });
  }

  /** Does this session wait for an answer? */
  isBusy(session: number): boolean {
    return this.#jobs.has(session);
  }

  /** Timers that are set for statements that wait. */
  get timers(): number {
    return this.#jobs
      .values()
      .reduce(
        (count, { lockTimer, timer, limitTimer }) =>
          count + [lockTimer, timer, limitTimer].filter((each) => each !== undefined).length,
        0,
      );
  }

  /** How long what runs now has computed since it went last. */
  get steppingMs(): number {
    return monotonicMs() - this.#stepBegan;
  }

  /** Will this session, which has been answered, send another statement before others should go? */
  expect(session: number, isExpected: boolean): void {
    if (isExpected) this.#expected.add(session);
    else if (this.#expected.delete(session)) this.#consider();
  }

  /** Ends a statement that has not begun or that waits, with `error`. */
  interrupt(session: number, error: SqlError): void {
    const job = this.#jobs.get(session);
    if (job === undefined) return;
    job.interruption ??= error;
    if (this.#isRunning) return;
    this.#step(job);
    this.#consider();
  }

  /** Something was released: statements that waited may continue. */
  released(): void {
    this.#consider();
  }

  /** Who waits for whom, for those who look. */
  waiting(): readonly { readonly session: number; readonly wait: Wait | null }[] {
    return this.#jobs.values().map(({ session, wait }) => ({ session, wait }));
  }

  /** Every statement that waits ends with this error, and nothing runs any more. */
  close(error: () => SqlError): void {
    this.#isClosed = true;
    this.#stopSettling?.();
    for (const job of this.#jobs.values().slice()) {
      job.interruption = error();
      this.#step(job);
    }
    assert(this.#jobs.size === 0, 'what is interrupted ends');
  }

  /** Nothing runs any more, and no statement that waits is ever answered: for clients that are not to notice the end. */
  abandon(): void {
    this.#isClosed = true;
    this.#isAbandoned = true;
    this.#stopSettling?.();
    for (const { lockTimer, timer, limitTimer } of this.#jobs.values())
      for (const each of [lockTimer, timer, limitTimer]) clearTimeout(each);
    this.#jobs.clear();
  }

  #consider(): void {
    if (this.#isRunning || this.#isClosed) return;
    for (let ready = this.#ready(); ready.length > 0; ready = this.#ready()) {
      const settle = this.#waitsBy(ready);
      if (settle !== null) return this.#settle(settle);
      const session = this.#options.nextSession(ready);
      this.#isSettled = false;
      this.#held = null;
      this.#stopSettling?.();
      this.#stopSettling = null;
      this.#step(this.#jobs.get(session) as Job);
    }
    this.#endWaitWhenStuck();
  }

  /** Nothing can continue: a wait with a limit ends, once every statement on its way has arrived. */
  #endWaitWhenStuck(): void {
    if (this.#options.limits !== 'stuck') return;
    const limits = this.#jobs.values().flatMap(({ wait }) => (wait?.limit === undefined ? [] : [wait.limit]));
    const shortest = Math.min(...limits.map(({ ms }) => ms));
    if (shortest === Infinity) return;
    const { settle } = this.#options;
    if (!this.#isSettled && settle !== null) return this.#settle(settle);
    this.#isSettled = false;
    limits.find(({ ms }) => ms === shortest)?.reached();
    this.#consider();
  }

  #ready(): number[] {
    const ready: number[] = [];
    for (const { session, wait, interruption } of this.#jobs.values())
      if (interruption !== null || wait === null || wait.isReady()) ready.push(session);
    if (ready.length < 2) return ready;
    const urgent = ready.filter((session) => this.#isUrgent(session));
    return (urgent.length > 0 ? urgent : ready).toSorted((a, b) => a - b);
  }

  #isUrgent(session: number): boolean {
    return this.#jobs.get(session)?.wait?.isUrgent?.() === true;
  }

  /** How it waits for others before it decides; `null`: it decides now. */
  #waitsBy(ready: readonly number[]): Settle | null {
    const { settle, awaited, holdBack } = this.#options;
    if (this.#isSettled || settle === null || ready.some((session) => this.#isUrgent(session))) return null;
    const next = awaited?.();
    if (next !== undefined) return ready.includes(next) ? null : settle;
    const paused = ready.filter((session) => this.#jobs.get(session)?.wait === pause).length;
    if (this.#expected.size > 0 && paused < ready.length) return settle;
    const moment = momentOf(paused, ready.length);
    if (this.#held?.moment !== moment) this.#held = { moment, settle: holdBack(moment) };
    return this.#held.settle;
  }

  #settle(settle: Settle): void {
    this.#stopSettling ??= settle(() => {
      this.#stopSettling = null;
      this.#isSettled = true;
      this.#consider();
    });
  }

  #step(job: Job): void {
    this.#isRunning = true;
    this.#stepBegan = monotonicMs();
    try {
      const { interruption } = job;
      job.interruption = null;
      job.wait = null;
      clearTimeout(job.limitTimer);
      const step = interruption === null ? job.steps.next() : job.steps.throw(interruption);
      if (step.done === true) this.#end(job, () => job.resolve(step.value));
      else this.#wait(job, step.value);
    } catch (error) {
      this.#end(job, () => job.reject(error));
    } finally {
      this.#isRunning = false;
    }
  }

  #wait(job: Job, wait: Wait): void {
    job.wait = wait;
    if (wait === pause) return;
    this.#options.onWait?.(job.session, wait);
    if (wait.limit !== undefined) return this.#waitWithin(job, wait, wait.limit);
    job.lockTimer ??= this.#timer(job, job.options.lockTimeoutMs, job.options.lockTimeoutError);
  }

  #waitWithin(job: Job, wait: Wait, { ms, reached }: NonNullable<Wait['limit']>): void {
    if (this.#options.limits === 'stuck' || ms > TIMER_MAX_MS) return;
    job.limitTimer = setTimeout(() => {
      if (job.wait !== wait) return;
      reached();
      this.#consider();
    }, ms);
  }

  #timer(job: Job, ms: number, error: () => SqlError): NodeJS.Timeout | undefined {
    if (ms > TIMER_MAX_MS) return undefined;
    return setTimeout(() => {
      if (this.#jobs.get(job.session) === job) this.interrupt(job.session, error());
    }, ms);
  }

  #end(job: Job, answer: () => void): void {
    clearTimeout(job.lockTimer);
    clearTimeout(job.timer);
    clearTimeout(job.limitTimer);
    this.#jobs.delete(job.session);
    answer();
  }
}

function momentOf(paused: number, ready: number): Moment {
  if (paused === 0) return 'before a statement';
  return ready === 1 ? 'inside the only statement' : 'inside one of several';
}

/** Timers that are set for longer go off at once; a statement that waits for 24 days waits for ever. */
const TIMER_MAX_MS = 2 ** 31 - 1;
