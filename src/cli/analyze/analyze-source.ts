/** An application from a folder of source, or from one file of it, and the schema's SQL: what `moirai analyze SRC --schema FILE` reads. */
import { join, relative, sep } from 'node:path';
import type { SourceOptions, Application, Dialect } from '../../analyze/index.ts';
import type { DatabaseEvidence } from '../../analyze/source/index.ts';
import { InputError, type Place } from '../../base/index.ts';
import type { Host } from '../host.ts';

export interface AnalyzedSource {
  readonly path: string;
  readonly schema: string;
  /** `undefined`: the one that the source names. */
  readonly engine: Dialect | undefined;
}

/** What was read, and how its database is known where no option says it. */
interface ReadSource {
  readonly source: SourceOptions;
  /** A line for people; `null`: it is certain. */
  readonly found: string | null;
  /** A clause of the verdict; `null`: nothing is. */
  readonly assumed: string | null;
}

/** @throws InputError where a file cannot be read, there is no source, or TypeScript is not installed */
export async function applicationOfSource(source: AnalyzedSource, host: Host): Promise<Application> {
  const { applicationFromSource } = await import('../../analyze/source/index.ts');
  return applicationFromSource((await readSource(source, host)).source);
}

/** @throws InputError where a file cannot be read, or TypeScript is not installed */
export async function readSource({ path, schema, engine }: AnalyzedSource, host: Host): Promise<ReadSource> {
  const { databasesOf, isSource, loadTypeScript, tableColumns } = await import('../../analyze/source/index.ts');
  const ddl = await ddlOf(schema, host);
  const all = await filesBelow(path, host);
  const insideOf = (name: string): string => relative(path, name).replaceAll('\\', '/');
  const sources = all.filter((name) => insideOf(name) === '' || isSource(insideOf(name)));
  if (sources.length === 0)
    throw new InputError('analyze/no-source', 'there is no TypeScript or JavaScript file to read', { file: path });
  const names = all.filter(
    (name) => sources.includes(name) || isConfiguration.test(insideOf(name)) || name.endsWith('.prisma'),
  );
  const files = new Map<string, string>();
  const models = names.some((name) => name.endsWith('.prisma')) ? [] : await modelFiles(host);
  for (const name of [...names, ...models, ...(await configurationAbove(path, host))]) {
    const read = await text(name, host);
    // A patch writes the source back: a byte order mark stays.
    files.set(relative('', name).replaceAll('\\', '/'), isSource(name) ? read : withoutMark(read));
  }
  const ts = await loadTypeScript();
  const { dialect, ...known } =
    engine === undefined ? databaseNamed(databasesOf(ts, files)) : { dialect: engine, found: null, assumed: null };
  return {
    source: { ts, files, schema: ddl, dialect, tables: await tableColumns({ schema: ddl, dialect }) },
    ...known,
  };
}

function databaseNamed(
  named: readonly DatabaseEvidence[],
): Pick<ReadSource, 'found' | 'assumed'> & { readonly dialect: Dialect } {
  const [first, second] = named;
  const saidBy = (one: DatabaseEvidence): string => `${one.text} in ${one.file}`;
  if (first === undefined || second !== undefined)
    return {
      dialect: 'postgres',
      found: null,
      assumed: `the database is PostgreSQL: the source names ${named.length === 0 ? 'none' : named.map(saidBy).join(' and ')}; --engine says which`,
    };
  const isDefault = first.dialect === 'postgres';
  return {
    dialect: first.dialect,
    found: isDefault ? null : `the database is MySQL (${saidBy(first)}); --engine chooses another`,
    assumed: null,
  };
}

/** They say what file the name of a module is. */
const isConfiguration = /(?:^|\/)(?:[jt]sconfig[\w.-]*|package)\.json$/;

/** In the folders around the source, the working directory and its parents at most. */
async function configurationAbove(path: string, host: Host): Promise<readonly string[]> {
  const parts = relative('', path).split(sep).slice(0, -1);
  const folders = [...parts.keys(), parts.length].map((length) => parts.slice(0, length).join(sep));
  const found = folders
    .filter((folder) => !/(?:^|[\\/])\.\.$/.test(folder))
    .map(async (folder) => {
      const entries = (await host.listFolder(folder === '' ? '.' : folder)) ?? [];
      return entries.flatMap(({ name, isFolder }) =>
        !isFolder && isConfiguration.test(name) ? [join(folder, name)] : [],
      );
    });
  return (await Promise.all(found)).flat();
}

/** Prisma's models stand beside the source, not in it. */
async function modelFiles(host: Host): Promise<readonly string[]> {
  const inFolder = (await host.listFolder('prisma')) === null ? [] : await filesBelow('prisma', host);
  return inFolder.filter((name) => name.endsWith('.prisma'));
}

/**
 * The DDL of a file, or of the migrations of a folder, one behind the other by their paths.
 * @throws InputError analyze/schema-folder where migrations are code
 */
export async function ddlOf(schema: string, host: Host): Promise<string> {
  return (await ddlFiles(schema, host)).map(({ ddl }) => ddl).join(betweenFiles);
}

/** Where line `line` of `ddlOf` stands. */
export async function placeInDdl(schema: string, line: number, host: Host): Promise<Place> {
  let first = 1;
  let found: Place = { file: schema, line };
  for (const { file, ddl } of await ddlFiles(schema, host)) {
    if (line < first) break;
    const lines = ddl.split('\n').length;
    found = { file, line: Math.min(line - first + 1, lines) };
    first += lines + 1;
  }
  return found;
}

/** A file may end in a comment, or without a semicolon. */
const betweenFiles = '\n;\n';

async function ddlFiles(
  schema: string,
  host: Host,
): Promise<readonly { readonly file: string; readonly ddl: string }[]> {
  if ((await host.listFolder(schema)) === null) return [{ file: schema, ddl: withoutMark(await text(schema, host)) }];
  const files = (await filesBelow(schema, host))
    .filter((file) => /\.sql$/i.test(file) && !undoes.test(file))
    .toSorted();
  if (files.length === 0)
    throw new InputError(
      'analyze/schema-folder',
      'the folder has no .sql file. Where migrations are code, give what they make: pg_dump --schema-only DATABASE > schema.sql (MySQL: mysqldump --no-data)',
      { file: schema },
    );
  const read = async (file: string): Promise<string> => withoutMark(await text(file, host)).replace(undoPart, '');
  return Promise.all(files.map(async (file) => ({ file, ddl: await read(file) })));
}

/** `down.sql`, `0001_users.down.sql`, `20190101-users-down.sql` */
const undoes = /(?:^|[\\/._-])(?:down|undo|rollback)\.sql$/i;

/** What a file of some tools holds behind its own statements: how to undo them. */
const undoPart = /^--\s*(?:\+(?:migrate|goose)\s+down|migrate:\s*down|(?:down|undo)\s+migration|\/\/@undo)\b[^]*$/im;

/** With its byte order mark. */
async function text(file: string, host: Host): Promise<string> {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await host.readInput(file));
}

function withoutMark(read: string): string {
  return read.replace(/^\uFEFF/, '');
}

/** The file itself, or all files of the folder and those below it. */
async function filesBelow(path: string, host: Host): Promise<readonly string[]> {
  const entries = await host.listFolder(path);
  if (entries === null) return [path];
  const inner = entries
    .filter(({ name, isFolder }) => !isFolder || !/^(?:node_modules|dist|build|coverage)$/.test(name))
    .map(async ({ name, isFolder }) => (isFolder ? filesBelow(join(path, name), host) : [join(path, name)]));
  return (await Promise.all(inner)).flat();
}

/** Does it name moirai? One that cannot be read is: loading it says why. */
async function mayBeProgram(file: string, host: Host): Promise<boolean> {
  try {
    return (await text(file, host)).includes('moirai');
  } catch {
    return true;
  }
}

/**
 * The schema of a folder or file of source; `null` for a module that is an application: it has its own.
 * @throws InputError `analyze/schema-missing` for a folder without, and for a file that has nothing of moirai: a module would be run, and source is only read
 */
export async function schemaOf(path: string, schema: string | undefined, host: Host): Promise<string | null> {
  if (schema !== undefined) return schema;
  if ((await host.listFolder(path)) === null && (await mayBeProgram(path, host))) return null;
  throw new InputError(
    'analyze/schema-missing',
    `source needs the schema of its database: moirai analyze ${path} --schema schema.sql`,
  );
}
