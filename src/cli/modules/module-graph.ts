/** What esbuild, which tsx brings, knows of a user's module: where its syntax is wrong, and which local modules it imports. Its packages are left out. */
import { createRequire } from 'node:module';
import { basename, dirname, resolve } from 'node:path';

export interface SyntaxFault {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The module and every local one that it imports, by paths from its folder; `null`: one of them cannot be read that way. */
export async function localModules(path: string): Promise<readonly string[] | null> {
  const built = await compile(path).catch(() => null);
  return built === null ? null : Object.keys(built.metafile.inputs).toSorted();
}

export async function syntaxFault(path: string): Promise<SyntaxFault | null> {
  const failure = await compile(path).then(
    () => null,
    (error: unknown) => error as CompilerFailure,
  );
  const location = failure?.errors?.[0]?.location ?? null;
  if (location === null) return null;
  return { file: resolve(dirname(path), location.file), line: location.line, column: location.column + 1 };
}

interface Compiler {
  readonly build: (
    options: Record<string, unknown>,
  ) => Promise<{ readonly metafile: { readonly inputs: Readonly<Record<string, unknown>> } }>;
}

interface CompilerFailure {
  readonly errors?: readonly {
    readonly location?: { readonly file: string; readonly line: number; readonly column: number } | null;
  }[];
}

function compile(path: string): ReturnType<Compiler['build']> {
  const requireAsTsx = createRequire(createRequire(import.meta.url).resolve('tsx/esm/api'));
  const { build } = requireAsTsx('esbuild') as Compiler;
  return build({
    entryPoints: [`./${basename(path)}`],
    absWorkingDir: dirname(path),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
}
