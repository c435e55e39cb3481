/**
 * A user's module becomes a program. TypeScript runs through tsx, without a build; JavaScript runs as it is. Whatever goes wrong on the
 * way is the module's fault and is reported with its place.
 */
import { stat } from 'node:fs/promises';
import Module, { createRequire, register } from 'node:module';
import { extname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { firstUserFrame, InputError, pathOf, type Place, shownPath } from '../../base/index.ts';
import { checkProgram, isSqlProgram, type Program, type SqlProgram, watchSources } from '../../program/index.ts';
import { ownManifest, ownModule, packageFile, runsFromSources } from '../own-files.ts';
import { syntaxFault } from './module-graph.ts';
import { type EntryPoints, isWrittenAsModule } from './module-hook.ts';
import { placed, withCause } from './user-code.ts';

const typescript = ['.ts', '.mts', '.cts', '.tsx'];
const javascript = ['.js', '.mjs', '.cjs'];

/** @throws InputError `program/missing-file`, `/file-type`, `/syntax`, `/load`, `/no-default`, `/shape`, `history/value` */
export async function loadProgram(file: string): Promise<Program | SqlProgram> {
  const found = await loadDefault(file, 'program');
  if (isSqlProgram(found)) return found;
  try {
    return checkProgram(found);
  } catch (error) {
    throw error instanceof InputError ? placed(error, resolve(file)) : error;
  }
}

/** The default export of a user's module, which should be what the function `made` makes. */
export async function loadDefault(file: string, made: string): Promise<unknown> {
  const path = await preparedPath(file);
  // For as long as the process lives: a module keeps what it takes when it loads, such as `const { randomInt } = crypto`.
  watchSources();
  const found = defaultOf(await importModule(path));
  if (found === undefined) {
    const message = `the module has no default export; it should say: export default ${made}({ ... })`;
    throw new InputError('program/no-default', message, { file: shownPath(path) });
  }
  return found;
}

/** What a user's module exports; of CommonJS, all may stand below `default`. @throws InputError `program/...` */
export async function loadModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  return importModule(await preparedPath(file));
}

async function preparedPath(file: string): Promise<string> {
  const path = resolve(file);
  await requireFile(file, path);
  await prepareLoader(path);
  return path;
}

async function requireFile(file: string, path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null) throw new InputError('program/missing-file', 'there is no such file', { file });
  if (!found.isFile()) throw new InputError('program/missing-file', 'this is no file', { file });
  const known = [...typescript, ...javascript];
  if (known.includes(extname(path))) return;
  throw new InputError('program/file-type', `a program is a module: ${known.join(', ')}`, { file });
}

/** This installation's modules by the names under which programs import them: the exports of package.json. */
function entryPoints(): EntryPoints {
  const { exports } = ownManifest();
  const condition = runsFromSources ? 'moirai-source' : 'default';
  return Object.fromEntries(
    Object.entries(exports).flatMap(([subpath, files]): [string, string][] => {
      const file = typeof files === 'string' ? undefined : files[condition];
      return file === undefined ? [] : [[`moirai${subpath.slice(1)}`, packageFile(file).href]];
    }),
  );
}

/** What the hooks load by now: they stay for as long as the thread lives. */
let loaded: 'nothing' | 'JavaScript' | 'TypeScript' = 'nothing';

/** Our hook is registered last and therefore asked first. */
async function prepareLoader(path: string): Promise<void> {
  const needsTypeScript = typescript.includes(extname(path));
  if (loaded === 'TypeScript' || (loaded === 'JavaScript' && !needsTypeScript)) return;
  loaded = needsTypeScript ? 'TypeScript' : 'JavaScript';
  const data = entryPoints();
  if (needsTypeScript) (await import('tsx/esm/api')).register();
  register<EntryPoints>(ownModule('modules/module-hook'), { data });
  if (!(await isWrittenAsModule(pathToFileURL(path).href))) await answerRequire(data);
}

/** Hooks see imports only. A require of `moirai` gets the very module that this process has, which not every Node 20 could load that way. */
async function answerRequire(data: EntryPoints): Promise<void> {
  const front: unknown = await import(data['moirai'] as string);
  const internals = Module as unknown as { ['_load']: (request: string, ...rest: unknown[]) => unknown };
  const { _load: load } = internals;
  const answering = (request: string, ...rest: unknown[]): unknown => {
    if (request === 'moirai') return front;
    const own = data[request];
    return Reflect.apply(load, Module, [own === undefined ? request : fileURLToPath(own), ...rest]);
  };
  Object.assign(internals, { _load: answering });
}

async function importModule(path: string): Promise<Record<string, unknown>> {
  try {
    return await importAny(path);
  } catch (error) {
    throw await loadError(error, path);
  }
}

async function importAny(path: string): Promise<Record<string, unknown>> {
  if (extname(path) !== '.cts') return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  (await import('tsx/cjs/api')).register();
  return { default: createRequire(path)(path) as unknown };
}

/** TypeScript and Babel write `export default` into CommonJS as a property. */
export function defaultOf(module: Readonly<Record<string, unknown>>): unknown {
  const found = module['default'];
  const isWrapped = typeof found === 'object' && found !== null && '__esModule' in found;
  return isWrapped ? (found as { readonly default?: unknown }).default : found;
}

async function loadError(error: unknown, path: string): Promise<InputError> {
  if (error instanceof InputError) return placed(error, path);
  const message = error instanceof Error ? error.message : String(error);
  const transform = /^(?<file>.+):(?<line>\d+):(?<column>\d+): ERROR: (?<text>.*)$/m.exec(message)?.groups;
  if (transform !== undefined) {
    const [line, column] = [Number(transform['line']), Number(transform['column']) + 1];
    const place = { file: shownPath(pathOf(transform['file'] as string)), line, column };
    return withCause(new InputError('program/syntax', transform['text'] as string, place), error);
  }
  if (error instanceof SyntaxError) {
    const place = placeInSource(error) ?? (await syntaxErrorPlace(path)) ?? { file: shownPath(path) };
    return withCause(new InputError('program/syntax', firstLine(message), place), error);
  }
  const what = error instanceof Error ? `${error.name}: ${firstLine(message)}` : `${message} was thrown`;
  const place = firstUserFrame(error) ?? { file: shownPath(path) };
  return withCause(new InputError('program/load', `the module cannot be loaded: ${what}`, place), error);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] as string;
}

/** V8 writes the place of some syntax errors above the stack: the file and line, the source, a caret below it. */
function placeInSource(error: SyntaxError): Place | undefined {
  const excerpt = /^(?<file>(?:file:\/\/|\/|[A-Za-z]:\\).*):(?<line>\d+)\n.*\n(?<indent> *)\^/.exec(
    error.stack ?? '',
  )?.groups;
  if (excerpt === undefined) return undefined;
  const { file = '', line, indent = '' } = excerpt;
  return { file: shownPath(pathOf(file)), line: Number(line), column: indent.length + 1 };
}

async function syntaxErrorPlace(path: string): Promise<Place | undefined> {
  const fault = await syntaxFault(path);
  return fault === null ? undefined : { ...fault, file: shownPath(fault.file) };
}
