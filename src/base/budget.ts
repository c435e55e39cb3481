/** How long a tool may work: until a deadline, and until the user interrupts it. Reaching either is an answer, not an error. */
import { monotonicMs } from './clock.ts';

/** Why a tool stopped before it was done. */
export type StopReason = 'time' | 'interrupted';

/** As a clause, the same in every tool. */
export function stopText(reason: StopReason): string {
  return reason === 'time' ? 'stopped by --max-time' : 'interrupted';
}

/** What a tool takes among its options. */
export interface BudgetOptions {
  /** Time to spend. Default: any. */
  readonly timeMaxMs?: number;
  /** Aborted when the user interrupts the tool, which then ends with what it has. */
  readonly signal?: AbortSignal;
}

export class Budget {
  /** In `monotonicMs`. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
  readonly #startedMs = monotonicMs();

  constructor({ timeMaxMs = Infinity, signal }: BudgetOptions) {
    this.deadlineMs = this.#startedMs + timeMaxMs;
    this.signal = signal;
  }

  /** `null`: there is time left. */
  get over(): StopReason | null {
    if (this.signal?.aborted === true) return 'interrupted';
    return monotonicMs() < this.deadlineMs - TIMER_MS ? null : 'time';
  }

  get spentMs(): number {
    return monotonicMs() - this.#startedMs;
  }

  get leftMs(): number {
    return this.signal?.aborted === true ? 0 : Math.max(0, this.deadlineMs - monotonicMs());
  }

  /** The moment at which something that may take `timeoutMs` by itself must be over. */
  deadlineOf(timeoutMs: number): number {
    return Math.min(monotonicMs() + timeoutMs, this.deadlineMs);
  }
}

/** A timer that is set for the deadline may fire this much earlier. */
const TIMER_MS = 2;

/** Gives timers, signals and sockets their turn, at most every 50 ms: to be awaited in every long loop. */
export class Breather {
  #breathedAt = monotonicMs();

  /** @returns whether it was time */
  async breathe(): Promise<boolean> {
    if (monotonicMs() - this.#breathedAt < BREATH_MS) return false;
    await new Promise((resolve) => setImmediate(resolve));
    this.#breathedAt = monotonicMs();
    return true;
  }
}

const BREATH_MS = 50;
