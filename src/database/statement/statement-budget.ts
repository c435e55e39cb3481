/**
 * What one statement may compute. Statements run one at a time; other clients and cancel requests wait. So a statement that would never end is
 * stopped by time, and before its rows and values fill the memory of the process.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { createContext, runInNewContext, Script } from 'node:vm';
import type { Budget } from '../../sql/index.ts';
import type { Instance } from '../instance/index.ts';
import type { SessionState } from '../session/index.ts';
import { outOfMemory, tooLong } from './limit-errors.ts';
import { statementTimeoutMs } from './statement-limits.ts';

export class StatementBudget implements Budget {
  readonly #instance: Instance;
  readonly #state: SessionState;
  readonly #isRead: boolean;
  #timeoutMs = -1;
  #rows = 0;
  #uncheckedBytes = 0;

  constructor(instance: Instance, state: SessionState, isRead: boolean) {
    this.#instance = instance;
    this.#state = state;
    this.#isRead = isRead;
  }

  checkInterrupt(): void {
    this.#rows += 1;
    if (this.#rows % ROWS_PER_CHECK !== 0) return;
    this.#checkTime();
    if (this.#rows % ROWS_PER_MEMORY_CHECK === 0) checkMemory(0);
  }

  charge(bytes: number): void {
    this.#uncheckedBytes += bytes;
    if (this.#uncheckedBytes < BYTES_PER_CHECK) return;
    this.#uncheckedBytes = 0;
    this.#checkTime();
    checkMemory(bytes);
  }

  stoppable<T>(work: () => T): T {
    this.#checkTime();
    const { scheduler, computeMsMax } = this.#instance;
    const leftMs = Math.min(this.#limitMs(), computeMsMax) - scheduler.steppingMs;
    if (leftMs > TIMER_MAX_MS) return work();
    try {
      return withinMs(work, Math.ceil(leftMs) + 1);
    } catch (error) {
      if (!isTimeout(error)) throw error;
      this.#checkTime();
      throw tooLong(computeMsMax);
    }
  }

  #checkTime(): void {
    const { scheduler, computeMsMax, rules } = this.#instance;
    const { steppingMs } = scheduler;
    if (steppingMs >= this.#limitMs()) throw rules.statementTimeout();
    if (steppingMs >= computeMsMax) throw tooLong(computeMsMax);
  }

  /** Asked for by statements that compute much only. */
  #limitMs(): number {
    if (this.#timeoutMs < 0) this.#timeoutMs = statementTimeoutMs(this.#instance, this.#state.settings, this.#isRead);
    return this.#timeoutMs;
  }
}

const ROWS_PER_CHECK = 1_024;
const ROWS_PER_MEMORY_CHECK = 4 * ROWS_PER_CHECK;
const BYTES_PER_CHECK = 1 << 20;

/** Of the heap that the process may have. The rest is for the answer's bytes and for other clients. */
const HEAP_SHARE_MAX = 0.8;

/** @throws SqlError 53200 where so many bytes more would not leave the rest free */
function checkMemory(bytes: number): void {
  if (!isMemoryShort(bytes)) return;
  // What fills it may be garbage: V8 lets that grow almost to the limit.
  collectGarbage();
  if (isMemoryShort(bytes)) throw outOfMemory();
}

function isMemoryShort(bytes: number): boolean {
  const { used_heap_size: used, external_memory: external, heap_size_limit: limit } = getHeapStatistics();
  return used + external + bytes > limit * HEAP_SHARE_MAX;
}

let collect: (() => void) | null = null;

function collectGarbage(): void {
  if (collect === null) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}

const inContext = createContext({ work: (): unknown => undefined });
const script = new Script('work()');

/** V8 stops what runs, also a regular expression that backtracks. @throws ERR_SCRIPT_EXECUTION_TIMEOUT */
function withinMs<T>(work: () => T, timeout: number): T {
  const before = inContext['work'];
  inContext['work'] = work;
  try {
    // The script returns what `work` does.
    return script.runInContext(inContext, { timeout }) as T;
  } finally {
    inContext['work'] = before;
  }
}

/** An Error of the script's own context. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}

/** Timers cannot be set for longer. */
const TIMER_MAX_MS = 2 ** 31 - 2;
