/** A real PostgreSQL for tests that compare with it: private data folder and port, gone afterwards. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { provideData } from './server-data.ts';
import { findProgram, freePort, isRoot, MissingServer, run, serverFolder, shared } from './server-process.ts';
import type { TestServer } from './server-process.ts';

/** User postgres without a password, database postgres, encoding UTF8, locale C, on 127.0.0.1. @throws MissingServer */
export const startPostgres: () => Promise<TestServer> = shared(() => startPostgresOf(programFolder()));

const settings = [
  'listen_addresses=127.0.0.1',
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'shared_buffers=64MB',
  'max_connections=200',
  'timezone=UTC',
];

/** @param programs the folder with `initdb`, `pg_ctl` and `postgres`, which the user postgres can enter */
export async function startPostgresOf(programs: string): Promise<TestServer> {
  const user = isRoot() ? 'postgres' : undefined;
  const folder = serverFolder('postgres', user);
  const data = join(folder, 'data');
  const options = ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-sync'];
  provideData(`postgres${programs.replaceAll('/', '-')}`, data, () => run(join(programs, 'initdb'), options, user));
  const port = await freePort();
  const flags = [`-p ${port}`, `-k ${folder}`, ...settings.map((setting) => `-c ${setting}`)].join(' ');
  const control = join(programs, 'pg_ctl');
  run(control, ['-D', data, '-w', '-t', '30', '-l', join(folder, 'log'), '-o', flags, 'start'], user);
  return {
    port,
    stop: () => {
      run(control, ['-D', data, '-m', 'immediate', '-w', 'stop'], user);
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}

/** Debian keeps the programs of each version in a folder of its own, outside the path. */
function programFolder(): string {
  const root = '/usr/lib/postgresql';
  const versions = namesIn(root)
    .map(Number)
    .filter(Number.isFinite)
    .toSorted((a, b) => b - a);
  const folders = versions.map((version) => join(root, String(version), 'bin'));
  const found = folders.find((folder) => findProgram([join(folder, 'postgres')]) !== undefined);
  if (found !== undefined) return found;
  if (findProgram(['pg_config']) !== undefined) {
    const folder = run('pg_config', ['--bindir']).trim();
    if (findProgram([join(folder, 'postgres')]) !== undefined) return folder;
  }
  throw new MissingServer('no PostgreSQL server is installed; on Debian: apt-get install postgresql');
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
