/**
 * The decisions of one run as a short text, the first part of its replay token. `2.` (the version), then a character for each decision, 0-9
 * a-z A-Z; a decision of 62 or more is `_` and its digits in base 36 and `_`. Decisions of 0 at the end are left out: a replay takes the first
 * way there.
 */
import { InputError } from '../base/index.ts';

const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const version = '2.';

export function encodePath(path: readonly number[]): string {
  const last = path.findLastIndex((position) => position !== 0);
  return (
    version +
    path
      .slice(0, last + 1)
      .map((position) => digits[position] ?? `_${position.toString(36)}_`)
      .join('')
  );
}

/** @throws InputError `replay/token` */
export function decodePath(choices: string): number[] {
  if (!/^2\.(?:[0-9a-zA-Z]|_[0-9a-z]{1,6}_)*$/.test(choices)) {
    throw new InputError(
      'replay/token',
      `"${choices}" are not the choices of a replay token: they start with ${version}, the version of tokens`,
    );
  }
  return (choices.slice(version.length).match(/_[0-9a-z]+_|./g) ?? []).map((part) =>
    part.startsWith('_') ? Number.parseInt(part.slice(1, -1), 36) : digits.indexOf(part),
  );
}
