/**
 * A public repository at a tag, in the user's cache or from a folder, and what its tests need. Nothing of it is in this repository. Its
 * package files are cut to what the tests import; the tests are not changed.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../src/base/index.ts';

export interface Checkout {
  readonly repository: string;
  readonly tag: string;
  readonly packages: readonly PackageFile[];
  /** For esbuild: what is compiled, and where to. */
  readonly builds: readonly Build[];
}

interface Build {
  readonly from: string;
  readonly to: string;
  readonly format: 'cjs' | 'esm';
  /** Of the sources. Default: `.ts`, which becomes `.js`. */
  readonly extension?: '.mts';
}

interface PackageFile {
  readonly path: string;
  /** Of its development dependencies, those that tests import. */
  readonly keeps: readonly string[];
  readonly workspaces?: readonly string[];
}

/**
 * @param from a folder with the sources of the tag, which is copied; `undefined`: they are cloned
 * @throws InputError `conformance/sources`
 */
export function checkedOut(checkout: Checkout, from: string | undefined): string {
  const name = checkout.repository.replaceAll(/\W+/g, '-');
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'moirai', name, checkout.tag);
  if (existsSync(folder) && from === undefined) return folder;
  const making = `${folder}.making`;
  for (const each of [making, folder]) rmSync(each, { recursive: true, force: true });
  mkdirSync(join(making, '..'), { recursive: true });
  const address = `https://github.com/${checkout.repository}`;
  if (from === undefined) clone(address, checkout.tag, making);
  else cpSync(from, making, { recursive: true, filter: (path) => !/\/(?:\.git|node_modules)$/.test(path) });
  for (const each of checkout.packages) cutPackage(making, each);
  call('npm', ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps'], making);
  for (const { from: sources, to, format, extension = '.ts' } of checkout.builds) {
    const files = execFileSync('find', [sources, '-name', `*${extension}`, '-not', '-name', '*.d.ts'], { cwd: making });
    const options = [
      `--outdir=${to}`,
      `--outbase=${sources}`,
      `--format=${format}`,
      '--target=node20',
      '--log-level=error',
      `--out-extension:.js=${extension.replace('ts', 'js')}`,
    ];
    call(join(process.cwd(), 'node_modules/.bin/esbuild'), [...String(files).trim().split('\n'), ...options], making);
  }
  renameSync(making, folder);
  return folder;
}

/** @throws InputError `conformance/sources` */
function clone(address: string, tag: string, folder: string): void {
  try {
    call('git', ['clone', '-q', '--depth', '1', '--branch', tag, address, folder], '.');
  } catch {
    const advice = 'give a folder with these sources: --suite NAME --from FOLDER';
    throw new InputError('conformance/sources', `git cannot clone ${address} at ${tag}; ${advice}`);
  }
}

function cutPackage(folder: string, { path, keeps, workspaces }: PackageFile): void {
  const file = join(folder, path);
  const text = JSON.parse(readFileSync(file, 'utf8')) as { devDependencies?: Record<string, string> };
  const kept = Object.entries(text.devDependencies ?? {}).filter(([name]) => keeps.includes(name));
  const cut = { ...text, devDependencies: Object.fromEntries(kept), ...(workspaces && { workspaces }) };
  writeFileSync(file, JSON.stringify(cut));
}

function call(program: string, args: readonly string[], cwd: string): void {
  execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}
