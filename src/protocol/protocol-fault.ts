/** Errors that the protocol's own code is to blame for, with what it did. */
import { InputError } from '../base/index.ts';
import type { Trace } from './trace.ts';

/** @param where who did it: `name: t1 at RUN, step RUN`, `the invariant "x"`. The cause keeps the place in the user's code. */
export function protocolFault(where: string, error: unknown): InputError {
  if (error instanceof InputError)
    return caused(new InputError(error.code, `${where}: ${error.message}`, error.place), error);
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return caused(new InputError('protocol/throws', `${where} throws ${what}`), error);
}

export function caused(error: InputError, cause: unknown): InputError {
  error.cause = cause instanceof InputError ? (cause.cause ?? cause) : cause;
  return error;
}

/** Conditions answer true or false. @throws InputError `protocol/condition` for a forgotten return, and for a promise, which is never false */
export function requireAnswer(answer: unknown, what: string): void {
  const isPromise = typeof answer === 'object' && answer !== null && 'then' in answer;
  if (answer !== undefined && !isPromise) return;
  const found = isPromise ? 'a promise, which is always true' : 'undefined; is a return missing?';
  throw new InputError('protocol/condition', `${what} should be true or false, and is ${found}`);
}

/** A fault of the protocol's code in a step from the last state of a path. */
export class FaultOnPath extends InputError {
  readonly path: readonly Int32Array[];

  constructor({ code, message, place, cause }: InputError, path: readonly Int32Array[]) {
    super(code, message, place);
    this.path = path;
    this.cause = cause;
  }
}

/** The same, for people. */
export class ProtocolFault extends InputError {
  /** The steps that lead to the one at fault. */
  readonly trace: Trace;

  constructor({ code, message, place, cause }: InputError, trace: Trace) {
    super(code, message, place);
    this.trace = trace;
    this.cause = cause;
  }
}

/** @param pathOf the state at hand @throws FaultOnPath in the place of an InputError */
export function faultsWithPath(action: () => void, pathOf: () => readonly Int32Array[]): () => void {
  return () => {
    try {
      action();
    } catch (error) {
      throw error instanceof InputError ? new FaultOnPath(error, pathOf()) : error;
    }
  };
}
