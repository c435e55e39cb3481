/** Places in the user's own code: where a stack says that a call came from, as against frames of ours, of Node and of packages. */
import { isAbsolute, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Place } from './input-error.ts';

/** Where the code of this package is, and where source maps say that it is. */
const ownFolders = ['..', '../../src/'].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));

/** The innermost frame that is the user's. */
export function firstUserFrame(error: unknown): Place | undefined {
  for (const { path, line, column } of framesOf(error))
    if (!isOwn(path) && !isPackage(path)) return { file: shownPath(path), line, column };
  return undefined;
}

/** The innermost frame that is not ours, and whether it is a package's or Node's. */
export function callerFrame(error: unknown): (Place & { readonly isPackage: boolean }) | undefined {
  for (const { path, line, column } of framesOf(error))
    if (!isOwn(path)) return { file: shownPath(path), line, column, isPackage: isPackage(path) };
  return undefined;
}

interface Frame {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

function* framesOf(error: unknown): Generator<Frame> {
  if (!(error instanceof Error)) return;
  for (const line of (error.stack ?? '').split('\n')) {
    const frame =
      /^\s+at (?:async )?(?:.*\()?(?<file>(?:file:\/\/|node:|\/|[A-Za-z]:\\).*?)(?:\?[^:]*)?:(?<line>\d+):(?<column>\d+)\)?$/.exec(
        line,
      )?.groups;
    if (frame === undefined) continue;
    yield { path: pathOf(frame['file'] as string), line: Number(frame['line']), column: Number(frame['column']) };
  }
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

function isOwn(path: string): boolean {
  return ownFolders.some((folder) => path.startsWith(folder));
}

function isPackage(path: string): boolean {
  return path.startsWith('node:') || path.includes(`${sep}node_modules${sep}`);
}
