/** Makes a folder with those above it. Node's own `recursive` never ends under /proc, which reports a parent as missing that is there. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes the folders that are missing. @throws Node's error where one cannot be made */
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
