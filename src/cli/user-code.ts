/** Errors with the place in the user's own code that they came from. */
import { firstUserFrame, InputError, shownPath } from '../base/index.ts';

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
