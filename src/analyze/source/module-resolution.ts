/**
 * Which file of the sources a module name stands for: the `paths` and `baseUrl` of the nearest tsconfig.json, which may extend another, and the
 * packages of a workspace by their package.json. Paths are those of the TypeScript program.
 */
import type ts from 'typescript';
import type { TypeScript } from './load-typescript.ts';

export type ResolveModule = (specifier: string, from: string) => ts.ResolvedModuleFull | undefined;

interface Given {
  readonly options: ts.CompilerOptions;
  readonly host: ts.ModuleResolutionHost;
  readonly packages: readonly Package[];
}

export function moduleResolver(api: TypeScript, { options, host, packages }: Given): ResolveModule {
  const known = new Map<string, ts.ResolvedModuleFull | undefined>();
  const configured = new Map<string, ts.CompilerOptions>();
  const optionsOf = (folder: string): ts.CompilerOptions => {
    const found =
      configured.get(folder) ??
      pathOptions(api, host, folder) ??
      (folder.includes('/') ? optionsOf(parentOf(folder)) : options);
    configured.set(folder, found);
    return found;
  };
  const plainly = (specifier: string, from: string, own: ts.CompilerOptions): ts.ResolvedModuleFull | undefined =>
    api.resolveModuleName(specifier, from, { ...options, ...own }, host).resolvedModule;
  const ofPackage = (specifier: string): ts.ResolvedModuleFull | undefined => {
    for (const { name, folder, exports } of packages) {
      if (name === null || (specifier !== name && !specifier.startsWith(`${name}/`))) continue;
      const inside = `.${specifier.slice(name.length)}`;
      for (const target of entriesOf(exports, inside)) {
        const found = plainly(target, `${folder}/package.json`, {});
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };
  return (specifier, from) => {
    const key = `${parentOf(from)} ${specifier}`;
    if (!known.has(key)) {
      const found = plainly(specifier, from, optionsOf(parentOf(from)));
      known.set(key, found ?? (specifier.startsWith('.') ? undefined : ofPackage(specifier)));
    }
    return known.get(key);
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

interface Config {
  readonly extends?: string | readonly string[];
  readonly compilerOptions?: { readonly paths?: Readonly<Record<string, string[]>>; readonly baseUrl?: string };
}

/** Of the configuration in the folder; `undefined` where there is none, or it has no paths. */
function pathOptions(api: TypeScript, host: ts.ModuleResolutionHost, folder: string): ts.CompilerOptions | undefined {
  for (const name of ['tsconfig.json', 'jsconfig.json', 'tsconfig.base.json']) {
    const paths = pathsOf(api, host, `${folder}/${name}`, 8);
    if (paths !== undefined) return { paths };
  }
  return undefined;
}

/** With absolute targets: they are relative to the file that has them. */
function pathsOf(
  api: TypeScript,
  host: ts.ModuleResolutionHost,
  file: string,
  depth: number,
): Record<string, string[]> | undefined {
  const text = depth === 0 ? undefined : host.readFile(file);
  if (text === undefined) return undefined;
  const config = (api.parseConfigFileTextToJson(file, text) as { config?: Config }).config ?? {};
  const { paths, baseUrl } = config.compilerOptions ?? {};
  if (paths === undefined && baseUrl === undefined) {
    const parents = typeof config.extends === 'string' ? [config.extends] : (config.extends ?? []);
    return parents.reduce<Record<string, string[]> | undefined>((found, parent) => {
      const path = joined(parentOf(file), parent);
      return pathsOf(api, host, path.endsWith('.json') ? path : `${path}.json`, depth - 1) ?? found;
    }, undefined);
  }
  const base = joined(parentOf(file), baseUrl ?? '.');
  const all: Record<string, string[]> = {};
  for (const [pattern, targets] of Object.entries(paths ?? {}))
    all[pattern] = targets.map((target) => joined(base, target));
  if (baseUrl !== undefined) all['*'] ??= [`${base}/*`];
  return all;
}

function joined(folder: string, path: string): string {
  const parts = folder.split('/');
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/** What a package.json says. */
export interface Package {
  readonly name: string | null;
  readonly folder: string;
  readonly exports: unknown;
  /** The versions of the packages that it needs, by their names. */
  readonly dependencies: ReadonlyMap<string, string>;
}

/**
 * Longer names first: `@shop/db-test` is no file of `@shop/db`.
 * @param files All files that are given.
 */
export function packagesIn(
  api: TypeScript,
  host: ts.ModuleResolutionHost,
  files: readonly string[],
): readonly Package[] {
  const found = files.flatMap((file): readonly Package[] => {
    if (!file.endsWith('/package.json')) return [];
    const { config } = api.parseConfigFileTextToJson(file, host.readFile(file) ?? '') as { config?: unknown };
    if (!isRecord(config)) return [];
    const { name, exports, main, ...fields } = config;
    const dependencies = Object.entries(fields).flatMap(([key, value]) =>
      /^(?:d|devD|peerD|optionalD)ependencies$/.test(key) && isRecord(value) ? Object.entries(value) : [],
    );
    return [
      {
        name: typeof name === 'string' && name !== '' ? name : null,
        folder: parentOf(file),
        exports: exports ?? main,
        dependencies: new Map(dependencies.map(([each, version]) => [each, String(version)])),
      },
    ];
  });
  return found.toSorted((a, b) => (b.name ?? '').length - (a.name ?? '').length);
}

/**
 * Tells the modules of the application from public packages by their names: those that are relative or aliased, in the scope of a package of the
 * sources, or not declared as of a registry.
 */
export function ownModules(packages: readonly Package[]): (specifier: string) => boolean {
  const scopes = new Set(packages.flatMap(({ name }) => (name?.startsWith('@') === true ? [name.split('/')[0]] : [])));
  const versions = new Map(packages.flatMap(({ dependencies }) => [...dependencies]));
  return (specifier) => {
    if (/^(?:\.|\/|[@~]\/|#)/.test(specifier)) return specifier !== '#file';
    if (specifier === '' || specifier.includes(':')) return false;
    const [scope = '', name = ''] = specifier.split('/');
    if (scopes.has(scope)) return true;
    const version = versions.get(scope.startsWith('@') ? `${scope}/${name}` : scope);
    return version === undefined ? versions.size > 0 : /^(?:workspace|file|link|portal):|^\*$/.test(version);
  };
}

/** What `exports` or `main` names, and where the source of built files is by habit. */
function entriesOf(exports: unknown, inside: string): readonly string[] {
  const whole = typeof exports === 'string' ? { '.': exports } : exports;
  const named = isRecord(whole) ? Object.entries(whole) : [];
  const targets = named.flatMap(([pattern, target]) => {
    const [head = '', tail] = pattern.split('*');
    const matches =
      tail === undefined ? pattern === inside : inside.startsWith(head) && inside.endsWith(tail) && inside !== pattern;
    const star = tail === undefined ? '' : inside.slice(head.length, inside.length - tail.length);
    return matches ? textsIn(target).map((text) => text.replaceAll('*', star)) : [];
  });
  const rest = inside.slice(1);
  const relative = targets.map((target) => (target.startsWith('.') ? target : `./${target}`));
  return [
    ...relative,
    ...relative.map((target) => target.replace(/^\.\/(?:dist|build|lib)\//, './src/').replace(/\.d\.ts$/, '')),
    ...(rest === '' ? ['./src/index', './index', './src/main'] : [`./src${rest}`, `.${rest}`]),
  ];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of the conditions of an export, any order: each is tried. */
function textsIn(target: unknown): readonly string[] {
  if (typeof target === 'string') return [target];
  if (Array.isArray(target)) return target.flatMap(textsIn);
  return isRecord(target) ? Object.values(target).flatMap(textsIn) : [];
}
