// The code that runs, from the sources into dist, beside the declarations that tsc wrote there. The command line would load some 300 modules one
// after the other, and those of a SQL program through the loader's thread; from a few files it starts in half the time.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

// What is imported by name, started as a program or a thread. A program under test gets the very modules of the command line: one build.
const sources = readdirSync(join(root, 'src'), { recursive: true }).map((file) => file.replaceAll('\\', '/'));
const entryPoints = [
  ...Object.values(exports).flatMap((files) => files['moirai-source'] ?? []),
  ...sources
    .filter((file) => /^(?:[^/]+\/index|cli\/(?:main|module-hook)|.*-worker)\.ts$/.test(file))
    .map((file) => `./src/${file}`),
];

await build({
  absWorkingDir: root,
  entryPoints: [...new Set(entryPoints)],
  conditions: ['moirai-source'],
  outdir: 'dist',
  outbase: 'src',
  // Modules that find others by a URL relative to their own are in the command line's folder.
  chunkNames: 'cli/[name]-[hash]',
  bundle: true,
  splitting: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20.12',
  sourcemap: true,
  logLevel: 'warning',
});
