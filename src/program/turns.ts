/**
 * The turns of the sessions of a run. A session that is about to open a transaction waits; when all wait or have ended, one is chosen, and runs
 * until it waits again. One that awaits something else, which only another session can bring, is noticed when the microtask queue runs dry: the
 * others then continue, with its transaction open.
 */
import { monotonicMs } from '../base/index.ts';
import type { IsolationLevel } from '../isolation/index.ts';
import { nestedTransaction, type RunSession } from './run-session.ts';
import type { Store, StoreTransaction } from './store.ts';

export interface TurnOptions {
  /** Which of the waiting sessions (by index, ascending) goes next; `null` ends the run here, and they have no result. */
  readonly nextSession: (waiting: readonly number[]) => number | null;
  /** When the run must be over, in `monotonicMs`. Default: never. */
  readonly deadlineMs?: number;
  /** Aborted: the run is given up. */
  readonly signal?: AbortSignal;
  /** Turns that the run may take; one more is a timeout. Default: any number. */
  readonly turnsMax?: number;
  /** Called whenever a session gets to run, for those who watch: at its start and at its turns. */
  readonly onTurn?: (session: number, lastOperation: () => string) => void;
}

/** `turns`: the run took more than it may. `interrupted`: its signal was aborted. */
export type LateReason = 'time' | 'turns' | 'interrupted';

/** How the turns come to their end. */
export interface TurnsListener {
  /** No session has a turn any more. */
  readonly onEnd: () => void;
  readonly onLate: (session: RunSession, reason: LateReason) => void;
  readonly onError: (error: unknown) => void;
}

export class Turns {
  /** Sessions that awaited what is not the store's. */
  readonly waitedOutside = new Set<string>();
  /** Sessions that started a transaction while another of theirs was under way. */
  readonly queued = new Set<string>();
  isOver = false;
  readonly #sessions: readonly RunSession[];
  readonly #store: Store;
  readonly #options: TurnOptions;
  readonly #listener: TurnsListener;
  /** Sessions that are executing code of their own right now. */
  #running: number;
  /** Sessions that have not ended. */
  #left: number;
  #operations = 0;
  #turns = 0;
  #immediate: NodeJS.Immediate | null = null;
  #timer: NodeJS.Timeout | null = null;

  /** All sessions run. */
  constructor(sessions: readonly RunSession[], store: Store, options: TurnOptions, listener: TurnsListener) {
    this.#sessions = sessions;
    this.#store = store;
    this.#options = options;
    this.#listener = listener;
    this.#running = sessions.length;
    this.#left = sessions.length;
  }

  /** No turn comes any more. */
  stop(): void {
    this.isOver = true;
    if (this.#immediate !== null) clearImmediate(this.#immediate);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Waits for the session's turn and opens a transaction. */
  begin(session: RunSession, level?: IsolationLevel): Promise<StoreTransaction> {
    if (session.isOpen || session.requests.length > 0) this.queued.add(session.name);
    return new Promise((resolve) => {
      session.requests.push(() => {
        try {
          resolve(this.#store.begin(session.index, level));
        } catch (error) {
          this.#listener.onError(error);
        }
      });
      if (!session.isOpen && session.state === 'running') this.#pause(session, 'waiting');
      else if (session.state === 'outside' && !session.isOpen) this.#returned(session);
    });
  }

  /** Its transaction has ended. */
  close(session: RunSession): void {
    session.isOpen = false;
    if (session.requests.length === 0) return;
    if (session.state === 'outside') this.#returned(session);
    else this.#pause(session, 'waiting');
  }

  end(session: RunSession): void {
    this.#left -= 1;
    this.#pause(session, 'ended');
  }

  /** A session that awaited something else has come back to wait for its turn. */
  #returned(session: RunSession): void {
    session.state = 'waiting';
    if (this.#running === 0) this.#next();
  }

  #pause(session: RunSession, state: 'waiting' | 'ended'): void {
    const wasRunning = session.state === 'running';
    session.state = state;
    if (wasRunning) this.#running -= 1;
    if (this.#running === 0) this.#next();
  }

  /** Every session waits, is outside or has ended: the next one's turn. */
  #next(): void {
    if (this.isOver) return;
    if (this.#left === 0) return this.#listener.onEnd();
    const waiting: number[] = [];
    for (const { index, state, isOpen } of this.#sessions) if (state === 'waiting' && !isOpen) waiting.push(index);
    if (waiting.length > 1) for (const index of waiting) (this.#sessions[index] as RunSession).overlapped = true;
    if (waiting.length === 0) return; // those outside must come back first
    const next = this.#options.nextSession(waiting);
    if (next === null) return this.#listener.onEnd();
    const session = this.#sessions[next] as RunSession;
    this.#turns += 1;
    if (this.#turns > (this.#options.turnsMax ?? Infinity)) return this.#listener.onLate(session, 'turns');
    if (this.isLate(session)) return;
    this.#options.onTurn?.(session.index, session.lastOperation);
    session.state = 'running';
    session.isOpen = true;
    this.#running += 1;
    (session.requests.shift() as () => void)();
  }

  /**
   * The immediate fires when no microtask is left: a session that still runs awaits something that no call of ours will bring. The others
   * continue; when none can, what is awaited must come from outside (a timer, a socket), until the deadline.
   */
  watch(): void {
    this.#immediate = setImmediate(() => {
      if (this.isOver) return;
      for (const session of this.#sessions) {
        if (session.state !== 'running') continue;
        session.state = 'outside';
        this.waitedOutside.add(session.name);
      }
      this.#running = 0;
      const nested = this.#sessions.find(({ isOpen, requests }) => isOpen && requests.length > 0);
      if (this.#sessions.every(({ state, isOpen }) => state !== 'waiting' || isOpen) && nested !== undefined) {
        this.#listener.onError(nestedTransaction(nested));
        return;
      }
      this.#next();
      if (this.#sessions.some(({ state }) => state === 'running')) this.watch();
      else this.#awaitOutside();
    });
  }

  #awaitOutside(): void {
    const { deadlineMs } = this.#options;
    const wait = deadlineMs === undefined ? POLL_MS : Math.min(POLL_MS, Math.max(0, deadlineMs - monotonicMs()));
    this.#timer = setTimeout(() => {
      const stuck = this.#sessions.find(({ state }) => state === 'outside');
      if (this.isOver || (stuck !== undefined && this.#isPast(stuck))) return;
      this.watch();
    }, wait);
  }

  /** Is the deadline over? Asked at every operation, answered by the clock at every 16th: in a long run each takes long. */
  isLate(session: RunSession): boolean {
    this.#operations += 1;
    return (this.#operations & 15) === 0 && this.#isPast(session);
  }

  #isPast(session: RunSession): boolean {
    const { deadlineMs = Infinity, signal } = this.#options;
    const isInterrupted = signal?.aborted === true;
    if (!isInterrupted && monotonicMs() < deadlineMs) return false;
    this.#listener.onLate(session, isInterrupted ? 'interrupted' : 'time');
    return true;
  }
}

/** How often a run that waits for something outside looks at the clock. */
const POLL_MS = 10;
