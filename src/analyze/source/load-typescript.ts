/** TypeScript's compiler API: an optional peer of the package, loaded only when source is analysed. TypeScript 7 has no such API (only `version`). */
import { InputError } from '../../base/index.ts';
import type ts from 'typescript';

export type TypeScript = typeof ts;

/** @throws InputError analyze/typescript-missing where neither package has the compiler API. */
export async function loadTypeScript(load: (name: string) => Promise<unknown> = importModule): Promise<TypeScript> {
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

function importModule(name: string): Promise<unknown> {
  return import(name);
}
