/**
 * Limits of what one statement computes. Statements run one at a time; other clients and cancel requests wait. So a statement that would never end
 * is stopped by time, and before its rows fill the memory of the process.
 */
import { getHeapStatistics } from 'node:v8';
import { SqlError } from '../../sql/model/index.ts';
import type { Scheduler } from '../instance/index.ts';

interface ComputingLimits {
  /** Milliseconds between two waits. */
  readonly computeMs: number;
  /** `statement_timeout`, `max_execution_time`: milliseconds. Infinity: none. */
  readonly timeoutMs: number;
  readonly timeoutError: () => SqlError;
}

/** To be called for every row that is looked at; most calls only count. @throws SqlError 57014, 53200 */
export function interruptCheck(
  scheduler: Scheduler,
  { computeMs, timeoutMs, timeoutError }: ComputingLimits,
): () => void {
  let rows = 0;
  return () => {
    rows += 1;
    if (rows % ROWS_PER_CHECK !== 0) return;
    const { steppingMs } = scheduler;
    if (steppingMs >= timeoutMs) throw timeoutError();
    if (steppingMs >= computeMs) throw tooLong(computeMs);
    if (rows % (ROWS_PER_CHECK * 16) === 0 && isMemoryShort()) throw outOfMemory();
  };
}

/** A stack that overflows while a statement is read, planned or run is the statement's fault, as in PostgreSQL. */
export function withStackLimit(error: unknown): unknown {
  if (!(error instanceof RangeError) || !/call stack/i.test(error.message)) return error;
  return new SqlError('54001', 'stack depth limit exceeded', {
    hint: 'The statement is nested too deeply, or it has too many terms.',
    mysqlNumber: 1436,
  });
}

const ROWS_PER_CHECK = 1_024;

/** Of the heap that the process may have. The rest is for the answer's bytes and for other clients. */
const HEAP_SHARE_MAX = 0.8;

function isMemoryShort(): boolean {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used > limit * HEAP_SHARE_MAX;
}

function tooLong(computeMs: number): SqlError {
  return new SqlError('57014', `canceling statement: it computed for ${computeMs / 1_000} s`, {
    hint: 'While a statement computes, moirai serves no other client.',
    mysqlNumber: 1317,
    isUnsupported: true,
  });
}

function outOfMemory(): SqlError {
  return new SqlError('53200', 'out of memory', {
    hint: 'The rows of one statement take most of the memory; NODE_OPTIONS=--max-old-space-size gives more.',
    mysqlNumber: 1041,
    isUnsupported: true,
  });
}

/** For work that is not a statement yet: @throws what `withStackLimit` makes of its error */
export function orStackError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw withStackLimit(error);
  }
}
