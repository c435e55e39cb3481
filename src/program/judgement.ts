/** What an invariant makes of a state that no run had. */
import { Script } from 'node:vm';
import { monotonicMs, InputError } from '../base/index.ts';
import { violationOf } from './invariant.ts';

/** `no-answer`: it came upon a value of another shape than it takes, or returned none. */
export type Judgement = 'holds' | 'fails' | 'no-answer';

export async function judgementOf(judge: () => unknown): Promise<Judgement> {
  try {
    return violationOf(await judge()) === null ? 'holds' : 'fails';
  } catch (error) {
    return error instanceof InputError || isOfShape(error) ? 'no-answer' : 'fails';
  }
}

/** What the judgements of states that no run had may take. */
export interface JudgingLimits {
  /** For all of them, in milliseconds. Default: as long as the runs took, at least 2,000 and at most 5,000. */
  readonly timeMaxMs?: number;
  /** Of a program of keys: all judgements; default 500. Of a SQL program: those of its first final state; default 150. */
  readonly judgementsMax?: number;
}

/** @param spentMs by the runs */
export function judgingMs(spentMs: number, { timeMaxMs }: JudgingLimits): number {
  return timeMaxMs ?? Math.min(JUDGING_MS.max, Math.max(JUDGING_MS.min, spentMs));
}

const JUDGING_MS = { min: 2_000, max: 5_000 };

/**
 * Calls `judge`, which a changed value may send in circles, and ends it there. What it awaits is not ended.
 * @param deadlineMs in `monotonicMs`
 */
export function calledUntil(deadlineMs: number, judge: () => unknown): { readonly returned: unknown } | 'late' {
  const leftMs = Math.floor(Math.min(CALL_MS, deadlineMs - monotonicMs()));
  if (leftMs < 1) return 'late';
  Object.defineProperty(globalThis, called, { configurable: true, value: () => ({ returned: judge() }) });
  try {
    return call.runInThisContext({ timeout: leftMs }) as { readonly returned: unknown };
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'late';
    throw error;
  } finally {
    Reflect.deleteProperty(globalThis, called);
  }
}

/** Where a script of its own finds what it calls: only of a script can Node end synchronous code. */
const called = Symbol.for('moirai.judge');
const call = new Script("globalThis[Symbol.for('moirai.judge')]()");
const CALL_MS = 1_000;

/** `Cannot read properties of undefined`: what was changed has no place in the program, and nothing is compared. */
function isOfShape(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}
