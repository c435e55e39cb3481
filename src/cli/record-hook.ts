/**
 * `node --import moirai/record app.js`: records what the application's database drivers do into the file that MOIRAI_TRACE names (default
 * `moirai.trace.jsonl`). Drivers are found from the application's folder; those that are not there are left out.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hookMariadb, hookMysql2, hookPg, hookPostgresJs, Recording } from '../capture/index.ts';
import { loadParser } from '../sql/index.ts';
import { monotonicNanoseconds } from './monotonic-clock.ts';
import { openTraceFile } from './trace-file.ts';

const file = openTraceFile(process.env['MOIRAI_TRACE'] ?? 'moirai.trace.jsonl');
const recording = new Recording({
  write: file.write,
  now: monotonicNanoseconds,
  warn: (message) => void process.stderr.write(`moirai: ${message}\n`),
});
await loadParser();

/** From the program's own folder, else from where it was started. */
const requires = [process.argv[1] ?? join(process.cwd(), 'app.js'), join(process.cwd(), 'app.js')].map((from) =>
  createRequire(from),
);

function found(name: string): unknown {
  for (const require of requires) {
    try {
      return require(name) as unknown;
    } catch {
      // It is not installed there.
    }
  }
  return undefined;
}

const pg = found('pg') as Parameters<typeof hookPg>[0] | undefined;
if (pg !== undefined) hookPg(pg, recording);
const mysql2 = found('mysql2') as Parameters<typeof hookMysql2>[0] | undefined;
if (mysql2 !== undefined) hookMysql2(mysql2, recording);

/** The folder of a package, whose files are then taken by their addresses: the very modules that the application imports. */
function folderOf(name: string): string | undefined {
  for (const require of requires) {
    try {
      const folder = require.resolve(name);
      return folder.slice(0, folder.lastIndexOf(join('node_modules', name)) + join('node_modules', name).length);
    } catch {
      // It is not installed there.
    }
  }
  return undefined;
}

async function imported(...path: string[]): Promise<unknown> {
  const module = (await import(pathToFileURL(join(...path)).href)) as { default?: unknown };
  return module.default;
}

type PostgresJs = Parameters<typeof hookPostgresJs>[0];
const postgresJs = folderOf('postgres');
if (postgresJs !== undefined) {
  hookPostgresJs((await imported(postgresJs, 'src', 'index.js')) as PostgresJs, recording);
  hookPostgresJs(found('postgres') as PostgresJs, recording);
}
const mariadb = folderOf('mariadb');
if (mariadb !== undefined)
  hookMariadb((await imported(mariadb, 'lib', 'connection.js')) as Parameters<typeof hookMariadb>[0], recording);

process.once('exit', () => {
  recording.end();
  file.close();
});
