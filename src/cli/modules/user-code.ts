/** Errors with the place in the user's own code that they came from. */
import { firstUserFrame, InputError, shownPath } from '../../base/index.ts';

/** The error with the place in the user's code that its stack names, or that its cause names; at least with the file. */
export function placed(error: InputError, file: string): InputError {
  if (error.place?.line !== undefined) return error;
  const place = firstUserFrame(error.cause) ?? firstUserFrame(error) ?? { file: shownPath(file) };
  return withCause(new InputError(error.code, error.message, place), error);
}

export function withCause(error: InputError, cause: unknown): InputError {
  error.cause = cause;
  return error;
}

/** An error that nothing caught. It is the user's where a stack names the user's code, or where it is no `Error`: this package throws no other. */
export function uncaught(error: unknown): unknown {
  const place = firstUserFrame(error);
  if (error instanceof InputError || (place === undefined && isError(error))) return error;
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return withCause(new InputError('program/uncaught', `an error that nothing catches: ${what}`, place), error);
}

/** Node wraps what is none, and with which a promise was rejected. */
function isError(error: unknown): boolean {
  return error instanceof Error && !('code' in error && error.code === 'ERR_UNHANDLED_REJECTION');
}
