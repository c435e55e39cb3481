/** A folder with those above it. Node's `recursive` never ends where a file system answers that a folder above is missing and is not: /proc. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes what is missing. @throws Node's error where that cannot be */
export async function makeFolder(path: string): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
    await make(path);
  }
}

async function make(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
