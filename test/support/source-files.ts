import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Path from the project's root, with forward slashes, to text. */
export type SourceFiles = ReadonlyMap<string, string>;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Every TypeScript file below src, unit tests included. */
export function readSources(): SourceFiles {
  const entries = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [relative(root, path).split(sep).join('/'), readFileSync(path, 'utf8')]));
}
