/** Places in the user's own code: where an error says that it came from, told from frames of ours, of Node and of packages. */
import { isAbsolute, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InputError, type Place } from '../base/index.ts';

/** Where the code of this package is. */
const ownFolder = fileURLToPath(new URL('..', import.meta.url));

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

/** The innermost frame that is the user's. */
export function firstUserFrame(error: unknown): Place | undefined {
  if (!(error instanceof Error)) return undefined;
  for (const line of (error.stack ?? '').split('\n')) {
    const frame =
      /^\s+at (?:.*\()?(?<file>(?:file:\/\/|\/|[A-Za-z]:\\).*?)(?:\?[^:]*)?:(?<line>\d+):(?<column>\d+)\)?$/.exec(
        line,
      )?.groups;
    if (frame === undefined) continue;
    const path = pathOf(frame['file'] as string);
    if (isOthers(path)) continue;
    return { file: shownPath(path), line: Number(frame['line']), column: Number(frame['column']) };
  }
  return undefined;
}

export function pathOf(urlOrPath: string): string {
  return urlOrPath.startsWith('file:') ? fileURLToPath(urlOrPath) : urlOrPath;
}

/** As people would type it: relative to where they are, if it is below. */
export function shownPath(path: string): string {
  if (!isAbsolute(path)) return path;
  const below = relative(process.cwd(), path);
  return below === '' || below.startsWith('..') || isAbsolute(below) ? path : below;
}

function isOthers(path: string): boolean {
  return path.startsWith(ownFolder) || path.includes(`${sep}node_modules${sep}`);
}
