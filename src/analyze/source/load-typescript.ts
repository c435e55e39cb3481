/** TypeScript's compiler API: an optional peer of the package, loaded only when source is analysed. TypeScript 7 has no such API (only `version`). */
import { createRequire } from 'node:module';
import { InputError } from '../../base/index.ts';
import type ts from 'typescript';

export type TypeScript = typeof ts;

/** @throws InputError analyze/typescript-missing where neither package has the compiler API. */
export async function loadTypeScript(load: (name: string) => Promise<unknown> = requireModule): Promise<TypeScript> {
  for (const name of ['typescript', '@typescript/typescript6']) {
    const module = await load(name).catch(() => undefined);
    const api = (module as { default?: TypeScript | { createProgram?: undefined } } | undefined)?.default;
    if (api?.createProgram !== undefined) return api;
  }
  throw new InputError(
    'analyze/typescript-missing',
    'analyze reads source with the compiler API of TypeScript 5 or 6, which is not installed (TypeScript 7 has none): npm install --save-dev @typescript/typescript6',
  );
}

/** Not by `import`: it would read the nine megabytes once more, to find the names that they export. */
async function requireModule(name: string): Promise<unknown> {
  return { default: createRequire(import.meta.url)(name) };
}
