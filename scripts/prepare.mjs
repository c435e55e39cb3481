// Makes `npm run demo`, `npm test` and `npm run bench` work in a fresh clone: installs when the lock file is newer than
// what is installed, builds when a source is newer than what was built. Quiet and quick when there is nothing to do.
// Only Node's own modules here: this runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

// npm writes this file last, so an interrupted installation is done again.
if (modified('node_modules/.package-lock.json') < modified('package-lock.json')) {
  npm('installing dependencies', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
}

// `build` removes dist first and writes nothing when a type is wrong, so this file exists only after a good build.
const projects = ['base', 'ground', 'columns', 'build'].map((name) => `tsconfig.${name}.json`);
const settings = ['package.json', ...projects, 'scripts/bundle.mjs', 'scripts/build-page.mjs'].map(modified);
if (modified('dist/cli/main.js') < Math.max(...settings, lastChange('src'), lastChange('page'))) {
  npm('building', ['run', '--silent', 'build']);
}

/** When a file was last written, in milliseconds; 0 where there is none. */
function modified(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The newest change below a folder. Folders count too: their time tells that a file was removed. */
function lastChange(folder) {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  const built = entries.filter((entry) => !entry.name.endsWith('.test.ts'));
  return Math.max(
    modified(folder),
    ...built.map((entry) => statSync(join(entry.parentPath ?? entry.path, entry.name)).mtimeMs),
  );
}

/** Runs npm and ends with its code when it fails. Everything goes to standard error: what follows may print JSON. */
function npm(what, args) {
  console.error(`moirai: ${what} ...`);
  const sameNpm = process.env.npm_execpath;
  const [command, first] = sameNpm ? [process.execPath, [sameNpm]] : ['npm', []];
  const { status, error } = spawnSync(command, [...first, ...args], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: command === 'npm' && process.platform === 'win32',
  });
  if (error) console.error(`moirai: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}
