/**
 * The sources as one TypeScript program, from texts alone: no file is opened, no library and no package is loaded. The checker resolves names and
 * imports between the files; the rest stays an import of an unknown module, by whose name a driver is recognised.
 */
import { InputError } from '../../base/index.ts';
import type ts from 'typescript';
import type { CodeRange, Place } from '../application.ts';
import type { TypeScript } from './load-typescript.ts';
import { moduleResolver, ownModules, packagesIn } from './module-resolution.ts';

export interface Project {
  readonly ts: TypeScript;
  readonly checker: ts.TypeChecker;
  /** Without declaration files and those that do not parse. */
  readonly files: readonly ts.SourceFile[];
  readonly faulty: readonly { readonly place: Place; readonly message: string }[];
  /** Files that are no source: schema.prisma. */
  readonly others: ReadonlyMap<string, string>;
  place(node: ts.Node): Place;
  lines(node: ts.Node): CodeRange;
  /** The project's file that a module name in `from` stands for. */
  resolve(specifier: string, from: ts.SourceFile): ts.SourceFile | undefined;
  /** Is the module one of the application, as far as its name says? */
  isOwn(specifier: string): boolean;
}

const root = '/project/';
/** Stands for `..` at the beginning of a path, so that all files are below the root. */
const above = '(above)/';

/**
 * @param given TypeScript and JavaScript files, and tsconfig.json and package.json for the names of modules, by path relative to the working directory.
 * @throws InputError analyze/no-source without any source file.
 */
export function loadProject(ts: TypeScript, given: ReadonlyMap<string, string>): Project {
  const texts = new Map([...given].map(([path, text]) => [path.replaceAll('../', above), text]));
  const names = [...texts.keys()].filter((path) => /\.[cm]?[jt]sx?$/.test(path)).toSorted();
  if (names.length === 0)
    throw new InputError('analyze/no-source', 'there is no TypeScript or JavaScript file to read');
  const options: ts.CompilerOptions = {
    allowJs: true,
    noLib: true,
    noResolve: false,
    types: [],
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleDetection: ts.ModuleDetectionKind.Force,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    noEmit: true,
    jsx: ts.JsxEmit.Preserve,
  };
  const sources = textHost(ts, texts);
  const packages = packagesIn(
    ts,
    sources,
    [...texts.keys()].map((name) => root + name),
  );
  const resolve = moduleResolver(ts, { options, host: sources, packages });
  const host: ts.CompilerHost = {
    ...sources,
    resolveModuleNameLiterals: (literals, from) =>
      literals.map(({ text }) => ({ resolvedModule: resolve(text, from) })),
  };
  const program = ts.createProgram({ rootNames: names.map((name) => root + name), options, host });
  const files = names.flatMap((name) => program.getSourceFile(root + name) ?? []);
  const place = (node: ts.Node): Place => placeAt(node.getSourceFile(), node.getStart());
  const faults = files.flatMap((file) => program.getSyntacticDiagnostics(file).slice(0, 1));
  return {
    ts,
    checker: rememberingSymbols(program.getTypeChecker()),
    files: files.filter((file) => !faults.some((fault) => fault.file === file)),
    faulty: faults.map((fault) => ({
      place: placeAt(fault.file, fault.start),
      message: ts.flattenDiagnosticMessageText(fault.messageText, ' '),
    })),
    others: new Map([...given].filter(([path]) => path.endsWith('.prisma'))),
    place,
    lines: (node) => {
      const { file, line } = place(node);
      return { file, from: line, to: placeAt(node.getSourceFile(), node.getEnd()).line };
    },
    resolve: (specifier, from) => {
      const found = resolve(specifier, from.fileName);
      return found === undefined ? undefined : program.getSourceFile(found.resolvedFileName);
    },
    isOwn: ownModules(packages),
  };
}

/** A file with code of the application: no declarations, no tests. */
export function isSource(path: string): boolean {
  return (
    /\.[cm]?[jt]sx?$/.test(path) &&
    !/\.d\.[cm]?ts$|\.(?:test|spec|e2e|stories)\.\w+$|(?:^|\/)(?:__tests__|__mocks__|tests?|node_modules|dist|build|coverage)\//.test(
      path,
    )
  );
}

function placeAt(file: ts.SourceFile, position: number): Place {
  return {
    file: file.fileName.slice(root.length).replaceAll(above, '../'),
    line: file.getLineAndCharacterOfPosition(position).line + 1,
  };
}

/** The reader asks for the symbol of a name each time it runs the code around it, and the checker searches all scopes for those of other packages. */
function rememberingSymbols(checker: ts.TypeChecker): ts.TypeChecker {
  const known = new Map<ts.Node, ts.Symbol | undefined>();
  return {
    ...checker,
    getSymbolAtLocation: (node) => {
      if (!known.has(node)) known.set(node, checker.getSymbolAtLocation(node));
      return known.get(node);
    },
  };
}

function textHost(ts: TypeScript, texts: ReadonlyMap<string, string>): ts.CompilerHost {
  const textOf = (file: string): string | undefined =>
    file.startsWith(root) ? texts.get(file.slice(root.length)) : undefined;
  const folders = new Set<string>();
  for (const name of texts.keys()) {
    const parts = name.split('/');
    for (let depth = 0; depth < parts.length; depth++)
      folders.add((root + parts.slice(0, depth).join('/')).replace(/\/$/, ''));
  }
  return {
    fileExists: (file) => textOf(file) !== undefined,
    readFile: textOf,
    directoryExists: (folder) => folders.has(folder.replace(/\/$/, '')),
    getSourceFile: (file, languageVersion) => {
      const text = textOf(file);
      return text === undefined ? undefined : ts.createSourceFile(file, text, languageVersion, true);
    },
    getDefaultLibFileName: () => `${root}lib.d.ts`,
    getCurrentDirectory: () => root.slice(0, -1),
    getCanonicalFileName: (file) => file,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
    writeFile: () => undefined,
  };
}
