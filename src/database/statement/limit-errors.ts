/** Errors of statements that take too much: time, memory, stack. */
import { SqlError } from '../../sql/model/index.ts';

/** A stack that overflows while a statement is read, planned or run is the statement's fault, as in PostgreSQL; so is a text longer than V8 has. */
export function withLimits(error: unknown): unknown {
  if (!(error instanceof RangeError)) return error;
  if (/^Invalid (?:string|array|typed array) length|too big|allocation failed/i.test(error.message))
    return outOfMemory();
  if (!/call stack/i.test(error.message)) return error;
  return new SqlError('54001', 'stack depth limit exceeded', {
    hint: 'The statement is nested too deeply, or it has too many terms.',
    mysqlNumber: 1436,
  });
}

/** For work that is not a statement yet: @throws what `withLimits` makes of its error */
export function orStackError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw withLimits(error);
  }
}

export function tooLong(computeMs: number): SqlError {
  return new SqlError('57014', `canceling statement: it computed for ${computeMs / 1_000} s`, {
    hint: 'While a statement computes, moirai serves no other client.',
    mysqlNumber: 1317,
    isUnsupported: true,
  });
}

export function outOfMemory(): SqlError {
  return new SqlError('53200', 'out of memory', {
    hint: 'The rows and values of one statement take most of the memory; NODE_OPTIONS=--max-old-space-size gives more.',
    mysqlNumber: 1041,
    isUnsupported: true,
  });
}
