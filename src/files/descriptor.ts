/** What both ways of writing share: all bytes of a piece, and a file forced to the disk. */
import { closeSync, fsyncSync, openSync, realpathSync, statSync, writeSync } from 'node:fs';

/** A pipe may be full for a moment; then this waits for its reader, because memory would grow otherwise. */
export function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSome(file, bytes, at);
}

function writeSome(file: number, bytes: Uint8Array, at: number): number {
  try {
    return writeSync(file, bytes, at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    return 0;
  }
}

/** Forces a file to the disk. Pipes and devices have none (EINVAL, ENOTSUP). */
export function sync(file: number): void {
  try {
    fsyncSync(file);
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Forces a rename to the disk. Windows opens no folders. */
export function syncFolder(folder: string): void {
  let file: number;
  try {
    file = openSync(folder, 'r');
  } catch {
    return;
  }
  try {
    sync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Where a path leads: a regular file (also one that is still to be made) by its own name, so that a link stays a link; or a pipe, a device,
 * a folder, which are opened by the path as it is.
 */
export function targetOf(path: string): {
  readonly file: string;
  readonly isRegular: boolean;
  readonly mode: number | null;
} {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return { file: path, isRegular: true, mode: null };
  if (!found.isFile()) return { file: path, isRegular: false, mode: null };
  return { file: realpathSync(path), isRegular: true, mode: found.mode & 0o7777 };
}
