/** A file that one process keeps for itself while it works on what it will write there: of two that finish, the last would win. */
import { closeSync, openSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { targetOf } from './descriptor.ts';
import { lockFile } from './file-lock.ts';
import { outputError } from './write-error.ts';

/** The locks that this process keeps. */
const held = new Set<string>();

/**
 * Until it is released, or the process ends, other processes are refused; `writeWhole` of this one is not.
 * @returns releases it
 * @throws InputError `file/output`, `file/locked`
 */
export function holdFile(path: string): () => void {
  try {
    const { file, isRegular } = targetOf(path);
    if (!isRegular) {
      closeSync(openSync(path, 'r+'));
      return () => {};
    }
    const unlock = lockFile(resolve(file), path);
    const lock = realpathSync(`${file}.lock`);
    held.add(lock);
    const release = (): void => {
      process.off('exit', release);
      if (held.delete(lock)) unlock();
    };
    process.on('exit', release);
    return release;
  } catch (error) {
    throw outputError(error, path);
  }
}

/** Takes the lock for one writing, where this process does not hold it already. @returns unlocks @throws InputError `file/locked` */
export function lockUnlessHeld(file: string, shown: string): () => void {
  return isHeld(`${file}.lock`) ? () => {} : lockFile(file, shown);
}

function isHeld(lock: string): boolean {
  if (held.size === 0) return false;
  try {
    return held.has(realpathSync(lock));
  } catch {
    return false;
  }
}
