/** Where failing runs are kept: `.moirai/failures` in the working directory, or the folder that MOIRAI_FAILURES names; `off` keeps none. */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '../../files/index.ts';
import { makeFolder } from '../../files/index.ts';

export interface FailureFolder {
  /** As it is shown. */
  readonly path: string;
  /** Names of the files in it, the oldest first. */
  readonly list: () => Promise<readonly string[]>;
  readonly read: (name: string) => Promise<string>;
  readonly write: (name: string, text: string) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
}

/** `null`: nothing is kept. */
export function failureFolder(env: Readonly<Record<string, string | undefined>>): FailureFolder | null {
  const path = env['MOIRAI_FAILURES'] ?? '.moirai/failures';
  if (path === 'off') return null;
  return {
    path,
    list: () => namesIn(path),
    read: (name) => readFile(join(path, name), 'utf8'),
    write: async (name, text) => {
      await makeFolder(path);
      writeWhole(join(path, name), [new TextEncoder().encode(text)]);
    },
    remove: (name) => rm(join(path, name), { force: true }),
  };
}

async function namesIn(path: string): Promise<readonly string[]> {
  const names = await readdir(path).catch(() => []);
  const files = await Promise.all(
    names
      .filter((name) => name.endsWith('.json'))
      .map(async (name) => ({ name, writtenMs: (await stat(join(path, name)).catch(() => null))?.mtimeMs ?? 0 })),
  );
  return files.toSorted((a, b) => a.writtenMs - b.writtenMs || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
}
