/**
 * Bad input: the one error that a user can mend. It has a code that scripts can match and, where there is one, a place.
 * Everything else that is thrown is either the user's own error passing through or a bug of ours (`assert`).
 */

/** A place in a text, as far as it is known: line and column count from 1. */
export interface Place {
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** Bad input: the one error of moirai that a user can mend. `code` is for scripts (`area/what`), `place` says where in the input. */
export class InputError extends Error {
  override readonly name = 'InputError';

  readonly code: string;
  readonly place: Place | undefined;

  /** @param code `area/what`, for example `history/thin-air-read`. */
  constructor(code: string, message: string, place?: Place) {
    super(message);
    this.code = code;
    this.place = place;
  }

  /** The same error, placed in `file`; for callers that know the file where the thrower knew only the text. */
  in(file: string): InputError {
    return placedIn(this, file);
  }
}

/** Outside of the class: a bundler renames one that names itself, and stack traces would show that name. */
function placedIn({ code, message, place }: InputError, file: string): InputError {
  return new InputError(code, message, { ...place, file });
}

/** Did the data end before what it had begun? Then it says nothing, which is no fault of the command line: exit code 2. */
export function isTruncated({ code }: { readonly code: string }): boolean {
  return code === 'history/truncated';
}

/** One line: `file:line:column: message [code]`. */
export function formatInputError(error: InputError): string {
  const { file, line, column } = error.place ?? {};
  const where = [file, line, column].filter((part) => part !== undefined).join(':');
  return `${where === '' ? '' : `${where}: `}${error.message} [${error.code}]`;
}
