/**
 * Timers that a part of the program sets itself: which of them never fire, and those that it leaves armed. Tests run in moments, so a timeout
 * beside a statement never comes first, and what a timer would do an hour later is not seen: the first is named, the second made to happen.
 * Timers of packages (idle connections, keep-alives) are their own business, but for the timeouts that a program asks of its driver.
 */
import { monotonicMs, callerFrame } from '../base/index.ts';

/** Which timers a program set, and whether they ever fired: over all its runs. */
export class TimerNotes {
  readonly #fired = new Map<string, boolean>();

  armed(timer: string): void {
    if (!this.#fired.has(timer)) this.#fired.set(timer, false);
  }

  fired(timer: string): void {
    this.#fired.set(timer, true);
  }

  neverFired(): string[] {
    return [...this.#fired].filter(([, fired]) => !fired).map(([timer]) => timer);
  }
}

/** How long a statement may hold back a timer: the statement may wait for what only this timer does. */
const heldMsMax = 1_000;

/** Those of one part of the program in one run. */
export class ArmedTimers {
  /** Has this part a statement under way? A timer of its own does not come before the answer, however long that takes on this machine. */
  isHeld: () => boolean = () => false;
  readonly #notes: TimerNotes;
  readonly #where: string;
  readonly #armed = new Map<object, TimerCallback>();

  constructor(notes: TimerNotes, where: string) {
    this.#notes = notes;
    this.#where = where;
  }

  /**
   * Sets a timer.
   * @param set with a callback in the place of the given one
   */
  arm<T>(source: string, callback: TimerCallback, set: (callback: TimerCallback) => T): T {
    const name = timerName(source, this.#where);
    if (name === null) return set(callback);
    this.#notes.armed(name);
    const onFire = (timer: object): void => {
      this.#notes.fired(name);
      if (source === 'setTimeout') this.#armed.delete(timer);
    };
    let dueMs: number | null = null;
    const isEarly = (): boolean => this.isHeld() && monotonicMs() - (dueMs ??= monotonicMs()) < heldMsMax;
    const timer = set(function (this: unknown): unknown {
      if (isEarly()) return hold(this, source);
      dueMs = null;
      onFire(this as object);
      return Reflect.apply(callback, this, []);
    });
    this.#armed.set(timer as object, callback);
    return timer;
  }

  /** Time passes: what is still armed fires, once. @returns whether there was anything @throws what a callback throws */
  passTime(): boolean {
    const left = [...this.#armed].filter(([timer]) => !isCleared(timer));
    this.#armed.clear();
    for (const [timer, callback] of left) {
      clearTimeout(timer as NodeJS.Timeout);
      Reflect.apply(callback, timer, []);
    }
    return left.length > 0;
  }
}

/** It fires again after its time; an interval does so by itself. */
function hold(timer: unknown, source: string): void {
  if (source === 'setTimeout') (timer as NodeJS.Timeout).refresh();
}

type TimerCallback = (this: unknown) => unknown;

/** Of Node's timers: it is set where one has fired or was cleared. */
function isCleared(timer: object): boolean {
  return (timer as Readonly<Record<string, unknown>>)['_destroyed'] === true;
}

/** `the setTimeout at src/jobs.ts:31 in session "a"`; `null`: a package's own. */
function timerName(source: string, where: string): string | null {
  const caller = callerFrame(new Error('where the timer is set'));
  if (caller?.file === undefined) return null;
  if (!caller.isPackage) return `the ${source} at ${caller.file}:${caller.line} ${where}`;
  // The only timers of pg's client are those of `query_timeout` and `connectionTimeoutMillis`, which a program asks for.
  return /[\\/]pg[\\/]lib[\\/]client\.js$/.test(caller.file) ? `the timeout of pg ${where}` : null;
}
