/**
 * The drivers of an application that is recorded: found from its folder and hooked before it loads them. What `import` and `require` give of a
 * driver are hooked both: pg and mysql2 are one CommonJS module for either; postgres.js has a copy of its code for each; MariaDB's
 * connector has a bundle for `require` that shows nothing of its inside, so the modules that `import` gives take its place.
 */
import { createRequire, Module } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hookMariadb } from './hook-mariadb.ts';
import { hookMysql2 } from './hook-mysql2.ts';
import { hookPg } from './hook-pg.ts';
import { hookPostgresJs } from './hook-postgres-js.ts';
import type { Recording } from './recording.ts';

type PostgresJs = Parameters<typeof hookPostgresJs>[0];

/**
 * @param from files, or their URLs, whose `require` finds the drivers; the first that finds one counts
 * @param warn a driver that is there and cannot be loaded is none of ours to stop the application for
 * @returns undoes it
 */
export async function hookDrivers(
  recording: Recording,
  from: readonly string[],
  warn: (message: string) => void,
): Promise<() => void> {
  const requires = from.map((file) => createRequire(file));
  const undo: (() => void)[] = [];
  for (const [name, hook] of drivers) {
    const place = placeOf(requires, name);
    if (place === undefined) continue;
    try {
      undo.push(...(await hook(place, recording)));
    } catch (error) {
      warn(`${name} is not recorded: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return () => {
    for (const each of undo) each();
  };
}

interface Place {
  readonly require: NodeJS.Require;
  /** Of the package. */
  readonly folder: string;
}

/** @returns what undoes it */
type Hook = (place: Place, recording: Recording) => Promise<readonly (() => void)[]> | readonly (() => void)[];

const drivers: readonly (readonly [name: string, hook: Hook])[] = [
  ['pg', ({ require }, recording) => [hookPg(require('pg') as Parameters<typeof hookPg>[0], recording)]],
  [
    'mysql2',
    ({ require }, recording) => [hookMysql2(require('mysql2') as Parameters<typeof hookMysql2>[0], recording)],
  ],
  ['postgres', hookBothPostgresJs],
  ['mariadb', hookBothMariadb],
];

async function hookBothPostgresJs({ require, folder }: Place, recording: Recording): Promise<(() => void)[]> {
  const postgres = (await imported(folder, 'src', 'index.js')).default as PostgresJs;
  return [hookPostgresJs(postgres, recording), hookPostgresJs(require('postgres') as PostgresJs, recording)];
}

async function hookBothMariadb({ require, folder }: Place, recording: Recording): Promise<(() => void)[]> {
  const connection = await imported(folder, 'lib', 'connection.js');
  const undo = hookMariadb(connection.default as Parameters<typeof hookMariadb>[0], recording);
  for (const [name, file] of [
    ['mariadb', 'promise.js'],
    ['mariadb/callback', 'callback.js'],
  ] as const)
    requireGives(require, name, await imported(folder, file));
  // What `require` gives stays the module that `import` gives: without the hook it is the driver as it was.
  return [undo];
}

/** The folder of a package, whose files are then taken by their addresses: the very modules that the application imports. */
function placeOf(requires: readonly NodeJS.Require[], name: string): Place | undefined {
  const inside = join('node_modules', name);
  for (const require of requires) {
    const file = resolved(require, name);
    const at = file?.lastIndexOf(inside) ?? -1;
    if (file !== undefined && at >= 0) return { require, folder: file.slice(0, at + inside.length) };
  }
  return undefined;
}

function resolved(require: NodeJS.Require, name: string): string | undefined {
  try {
    return require.resolve(name);
  } catch {
    return undefined; // it is not installed there
  }
}

async function imported(...path: string[]): Promise<{ readonly default?: unknown }> {
  return (await import(pathToFileURL(join(...path)).href)) as { readonly default?: unknown };
}

/** From now on `require(name)` is this module; it has the names that the file in its place would have. */
function requireGives(require: NodeJS.Require, name: string, module: object): void {
  const file = require.resolve(name);
  const taken = new Module(file);
  taken.filename = file;
  taken.loaded = true;
  taken.exports = { ...module };
  Object.defineProperty(taken.exports, '__esModule', { value: true });
  require.cache[file] = taken;
}
