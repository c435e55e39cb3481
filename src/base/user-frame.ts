/** Places in the user's own code: where a stack says that a call came from, told from frames of ours, of Node and of packages. */
import { isAbsolute, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Place } from './input-error.ts';

/** Where the code of this package is. */
const ownFolder = fileURLToPath(new URL('..', import.meta.url));

/** The innermost frame that is the user's. */
export function firstUserFrame(error: unknown): Place | undefined {
  if (!(error instanceof Error)) return undefined;
  for (const line of (error.stack ?? '').split('\n')) {
    const frame =
      /^\s+at (?:async )?(?:.*\()?(?<file>(?:file:\/\/|\/|[A-Za-z]:\\).*?)(?:\?[^:]*)?:(?<line>\d+):(?<column>\d+)\)?$/.exec(
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
