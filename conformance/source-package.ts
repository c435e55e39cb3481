/**
 * PostgreSQL's own tests, from the source package of the Debian package that is installed. It is downloaded once, by apt, into the user's
 * cache, and unpacked there; the repository has nothing of it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const packageName = 'postgresql-15';
const sourcesFolder = '/etc/apt/sources.list.d';

/** The folder `src/test` of PostgreSQL. @throws an error that says what is missing */
export function postgresTests(): string {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'moirai', packageName);
  const version = execFileSync('dpkg-query', ['-W', '-f', '${Version}', packageName], { encoding: 'utf8' });
  const unpacked = join(cache, version);
  const tests = join(unpacked, 'src', 'test');
  if (existsSync(tests)) return tests;
  rmSync(cache, { recursive: true, force: true });
  const download = join(cache, 'download');
  mkdirSync(download, { recursive: true });
  apt(cache, ['update', '-qq'], download);
  apt(cache, ['source', '-qq', '--download-only', `${packageName}=${version}`], download);
  const archive = readdirSync(download).find((name) => /\.orig\.tar\.\w+$/.test(name));
  if (archive === undefined) throw new Error(`apt has no source of ${packageName} ${version}`);
  const unpacking = join(cache, 'unpacking');
  mkdirSync(unpacking);
  const only = '*/src/test/isolation/*';
  const wildcards = ['--wildcards', only, '*/src/test/regress/*'];
  execFileSync('tar', ['-xf', join(download, archive), '-C', unpacking, '--strip-components=1', ...wildcards]);
  renameSync(unpacking, unpacked);
  rmSync(download, { recursive: true });
  return tests;
}

/** With lists of its own: the machine's say where packages come from, and need not name their sources. */
function apt(cache: string, args: readonly string[], cwd: string): void {
  const parts = join(cache, 'apt');
  const lists = join(cache, 'lists');
  mkdirSync(parts, { recursive: true });
  mkdirSync(join(lists, 'partial'), { recursive: true });
  for (const name of readdirSync(sourcesFolder).filter((each) => each.endsWith('.sources'))) {
    const text = readFileSync(join(sourcesFolder, name), 'utf8');
    writeFileSync(join(parts, name), text.replaceAll(/^Types:.*$/gm, 'Types: deb-src'));
  }
  const options = {
    'Dir::Etc::sourcelist': '/dev/null',
    'Dir::Etc::sourceparts': parts,
    'Dir::State::lists': lists,
    'APT::Sandbox::User': '',
  };
  const flags = Object.entries(options).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  execFileSync('apt-get', [...flags, ...args], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}
