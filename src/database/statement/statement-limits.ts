/**
 * Limits of one statement: the time that its session's settings give it, what it may compute, memory and stack. Statements run one at a time; other
 * clients and cancel requests wait. So a statement that would never end is stopped by time, and before its rows fill the memory of the process. Where a
 * run must not depend on the machine's clock, a limit that a client has set never expires, and what is taken for granted by that is noted.
 */
import { getHeapStatistics } from 'node:v8';
import { SqlError } from '../../sql/model/index.ts';
import type { TimeoutSetting } from '../dialect/index.ts';
import type { Instance, JobOptions } from '../instance/index.ts';
import type { SessionState } from '../session/index.ts';
import { type Settings, timeoutMs as millisecondsOf } from '../settings/index.ts';

/** What the scheduler has to know of a statement. */
export function statementLimits(instance: Instance, { settings }: SessionState, isRead: boolean): JobOptions {
  const { lockTimeout, statementTimeout, timeouts } = instance.rules;
  return {
    lockTimeoutMs: limitMs(timeouts.lock, instance, settings),
    timeoutMs: statementTimeoutMs(instance, settings, isRead),
    lockTimeoutError: lockTimeout,
    timeoutError: statementTimeout,
  };
}

/** To be called for every row that the statement looks at; most calls only count. @throws SqlError 57014, 53200 */
export function statementCheck(instance: Instance, { settings }: SessionState, isRead: boolean): () => void {
  const { scheduler, computeMsMax, rules } = instance;
  const timeoutMs = statementTimeoutMs(instance, settings, isRead);
  let rows = 0;
  return () => {
    rows += 1;
    if (rows % ROWS_PER_CHECK !== 0) return;
    const { steppingMs } = scheduler;
    if (steppingMs >= timeoutMs) throw rules.statementTimeout();
    if (steppingMs >= computeMsMax) throw tooLong(computeMsMax);
    if (rows % (ROWS_PER_CHECK * 16) === 0 && isMemoryShort()) throw outOfMemory();
  };
}

/** Milliseconds altogether. Infinity: any. */
function statementTimeoutMs(instance: Instance, settings: Settings, isRead: boolean): number {
  const { statement, isOfReads } = instance.rules.timeouts;
  return isRead || !isOfReads ? limitMs(statement, instance, settings) : Infinity;
}

function limitMs(
  [name, unit, byDefault = '0']: TimeoutSetting,
  { takenForGranted }: Instance,
  settings: Settings,
): number {
  const ms = millisecondsOf(`${settings.get(name) ?? byDefault}${unit}`);
  if (takenForGranted === null || ms === Infinity) return ms;
  const chosen = settings.chosen(name);
  if (chosen !== undefined) takenForGranted.add(`no statement takes as long as ${name} = ${chosen}${unit}`);
  return Infinity;
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
