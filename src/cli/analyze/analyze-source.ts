/** An application from a folder of source, or from one file of it, and the schema's SQL: what `moirai analyze SRC --schema FILE` reads. */
import { join, relative } from 'node:path';
import type { SourceOptions, Application, Dialect } from '../../analyze/index.ts';
import { InputError } from '../../base/index.ts';
import type { Host } from '../host.ts';

export interface AnalyzedSource {
  readonly path: string;
  readonly schema: string;
  readonly engine: Dialect;
}

/** @throws InputError where a file cannot be read, there is no source, or TypeScript is not installed */
export async function applicationOfSource(source: AnalyzedSource, host: Host): Promise<Application> {
  const { applicationFromSource } = await import('../../analyze/source/index.ts');
  return applicationFromSource(await readSource(source, host));
}

/** @throws InputError where a file cannot be read, or TypeScript is not installed */
export async function readSource({ path, schema, engine }: AnalyzedSource, host: Host): Promise<SourceOptions> {
  const { isSource, loadTypeScript } = await import('../../analyze/source/index.ts');
  const schemaText = withoutMark(await text(schema, host));
  const names = (await filesBelow(path, host)).filter((name) => {
    const inside = relative(path, name).replaceAll('\\', '/');
    return inside === '' || isSource(inside) || /^[jt]sconfig\.json$|\.prisma$/.test(inside);
  });
  const files = new Map<string, string>();
  const models = names.some((name) => name.endsWith('.prisma')) ? [] : await modelFiles(host);
  for (const name of [...names, ...models]) {
    const read = await text(name, host);
    // A patch writes the source back: a byte order mark stays.
    files.set(relative('', name).replaceAll('\\', '/'), isSource(name) ? read : withoutMark(read));
  }
  const ts = await loadTypeScript();
  return { ts, files, schema: schemaText, dialect: engine };
}

/** Prisma's models stand beside the source, not in it. */
async function modelFiles(host: Host): Promise<readonly string[]> {
  const inFolder = (await host.listFolder('prisma')) === null ? [] : await filesBelow('prisma', host);
  return inFolder.filter((name) => name.endsWith('.prisma'));
}

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

/**
 * The schema of a folder or file of source; `null` for a module that is an application: it has its own.
 * @throws InputError analyze/schema-missing for a folder without
 */
export async function schemaOf(path: string, schema: string | undefined, host: Host): Promise<string | null> {
  if (schema !== undefined) return schema;
  if ((await host.listFolder(path)) === null) return null;
  throw new InputError(
    'analyze/schema-missing',
    `source needs the schema of its database: moirai analyze ${path} --schema schema.sql`,
  );
}
