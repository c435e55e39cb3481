// Installs the package as npm would publish it into an empty folder and uses it there: what works in this repository
// may still lack a file, a dependency or a type in the tarball. Needs dist (`npm run build`).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const shell = process.platform === 'win32';
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const folder = mkdtempSync(join(tmpdir(), 'moirai-package-'));
try {
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root));
  const paths = packed.files.map((file) => file.path);
  for (const path of [
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'SECURITY.md',
    'dist/api/index.js',
    'dist/api/index.d.ts',
    'dist/report-page.html',
    'examples/cart.ts',
    'examples/protocols/two-phase-locking.ts',
  ]) {
    assert.ok(paths.includes(path), `${path} is not in the package`);
  }
  assert.deepEqual(
    paths.filter((path) => path.startsWith('dist/') && (path.includes('.test.') || path.endsWith('.map'))),
    [],
    'the package has tests of its own or source maps in it',
  );
  assert.deepEqual(linksOutOf(paths), [], 'these files link to what is not in the package');

  // A project that resolves no peers gives every package the same older commander, and this one its own.
  const beside = join(folder, 'beside');
  mkdirSync(beside);
  writeFileSync(join(beside, 'package.json'), JSON.stringify({ name: 'beside', private: true }));
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['install', '--legacy-peer-deps', ...quiet, 'knex@3.3.0', `../${packed.filename}`], beside);
  assert.equal(run('npx', ['--no-install', 'moirai', '--version'], beside).trim(), version);

  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  run('npm', ['install', ...quiet, `./${packed.filename}`]);
  assert.equal(run('npx', ['--no-install', 'moirai', '--version']).trim(), version);
  assert.match(run('npx', ['--no-install', 'moirai', 'demo']), /violated in \d+ of 1,000 runs at causal/);

  cpSync(join(root, 'scripts/consumer'), folder, { recursive: true });
  const compiler = join(root, 'node_modules/typescript/bin/tsc6');
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2023', '--module', 'nodenext'];
  run(process.execPath, [compiler, ...strict, 'types.ts']);
  symlinkSync(join(root, 'node_modules/typescript'), join(folder, 'node_modules/typescript'), 'junction');
  const typesOfNode = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node'];
  run(process.execPath, [compiler, ...strict, ...typesOfNode, 'node-types.ts']);
  run(process.execPath, ['run.mjs']);
  // The drivers are the user's own: they are beside the package, which does not bring them.
  for (const driver of ['pg', 'postgres', 'mysql2', 'mariadb'])
    symlinkSync(join(root, 'node_modules', driver), join(folder, 'node_modules', driver), 'junction');
  run(process.execPath, ['recorded.mjs']);
  console.log(
    `moirai ${version}: ${paths.length} files, ${Math.round(packed.size / 1024)} KiB packed; installs and works`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Relative links of the packed Markdown files that lead to no packed file or folder. */
function linksOutOf(paths) {
  return paths
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...withoutCode(readFileSync(join(root, path), 'utf8')).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => [
        path,
        posix.join(posix.dirname(path), link),
      ]),
    )
    .filter(([, target]) => !paths.some((path) => path === target || path.startsWith(`${target}/`)))
    .map(([path, target]) => `${path}: ${target}`);
}

function withoutCode(markdown) {
  return markdown.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');
}

/** Standard output of a command; its messages go to ours, and so does its output when it fails. */
function run(command, args, cwd = folder) {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], shell });
  } catch (error) {
    console.error(`${error.stdout ?? ''}failed: ${command} ${args.join(' ')}`);
    throw error;
  }
}
