/** What a program or a protocol was written in: its module and the local modules that it imports, each with a hash. Packages and data files are not known. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { localModules } from './module-graph.ts';

export interface SourceFile {
  /** From the folder of the module, so that a project may move. */
  readonly file: string;
  readonly sha256: string;
}

/** Of the module first. */
export async function sourceOf(module: string): Promise<readonly SourceFile[]> {
  const path = resolve(module);
  // Loading a module that is not there says so.
  if (!existsSync(path)) return [];
  const imported = ((await localModules(path)) ?? []).filter((file) => file !== basename(path));
  const files = [basename(path), ...imported];
  return Promise.all(
    files.map(async (file) => {
      const bytes = await readFile(join(dirname(path), file));
      return { file, sha256: createHash('sha256').update(bytes).digest('hex') };
    }),
  );
}

/** Files that are new, gone or other than before. */
export function changedFiles(before: readonly SourceFile[], now: readonly SourceFile[]): string[] {
  const text = ({ file, sha256 }: SourceFile): string => `${sha256} ${file}`;
  const differing = [...before, ...now].filter(
    (each) => !before.some((known) => text(known) === text(each)) || !now.some((known) => text(known) === text(each)),
  );
  return [...new Set(differing.map(({ file }) => file))].toSorted();
}
