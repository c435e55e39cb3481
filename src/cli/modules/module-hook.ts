/**
 * Module resolution for users' programs; Node runs this in its loader's thread. `moirai` is this installation, whether or not there is
 * one beside the program, so that both share their modules. A file that is written as an ES module is one, whatever package.json says.
 */
import { readFile } from 'node:fs/promises';
import type { InitializeHook, ResolveHook } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The name of each entry point of the package to its URL. */
export type EntryPoints = Readonly<Record<string, string>>;

let entryPoints: EntryPoints = {};

export const initialize: InitializeHook<EntryPoints> = (data) => {
  entryPoints = data;
};

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const own = entryPoints[specifier];
  if (own !== undefined) return { url: own, format: 'module', shortCircuit: true };
  const resolved = await nextResolve(specifier, pooling.test(specifier) ? withoutPool(context) : context);
  return isUndecided(resolved.url, resolved.format) && (await isWrittenAsModule(resolved.url))
    ? { ...resolved, format: 'module' }
    : resolved;
};

/**
 * Packages whose builds for Node.js fill a pool of random bytes once and draw from it for all runs: run by run other identifiers. Their builds for browsers
 * draw each identifier by itself.
 */
const pooling = /^(?:nanoid(?:\/async)?|uuid)$/;

function withoutPool<Context extends { readonly conditions: string[] }>(context: Context): Context {
  return { ...context, conditions: ['browser', ...context.conditions.filter((condition) => condition !== 'node')] };
}

function isUndecided(url: string, format: string | null | undefined): boolean {
  const isOpen = format === 'commonjs' || format === null || format === undefined;
  return isOpen && /^file:.*\.[jt]sx?(?:\?|$)/.test(url) && !url.includes('/node_modules/');
}

/** Has the text an import or export statement at the start of a line? */
export async function isWrittenAsModule(url: string): Promise<boolean> {
  const text = await readFile(fileURLToPath(url), 'utf8').catch(() => '');
  return /^\s*(?:import\s*[\w{*'"]|export\s*[\w{*])/m.test(text) && !/^\s*export\s*=/m.test(text);
}
