// The code that runs, from the sources into dist, beside the declarations that tsc wrote there. The command line would load some 300 modules one
// after the other, and those of a SQL program through the loader's thread; from a few files it starts in half the time.
import { build } from 'esbuild';
import { buildPage } from './build-page.mjs';
import { entryPoints, root } from './entry-points.mjs';

await build({
  absWorkingDir: root,
  entryPoints: [...entryPoints],
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
await buildPage();
