/**
 * Files of this installation by their URLs. In the sources and in the build this module lies in the same folder, `cli`: what the build makes of it is part of
 * `main.js` or of a file beside it. A module in a folder of `cli` cannot say the same of itself.
 */
import { createRequire } from 'node:module';

/** TypeScript where moirai runs from its sources. */
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

export const runsFromSources = extension === 'ts';

/** @param path from the root of the package */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}

/** @param name of a module that is a program, a thread or a hook, from `cli`, without its ending */
export function ownModule(name: string): URL {
  return new URL(`./${name}.${extension}`, import.meta.url);
}

interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

/** The package.json of this installation. */
export function ownManifest(): Manifest {
  return createRequire(import.meta.url)('../../package.json') as Manifest;
}

export function moiraiVersion(): string {
  return ownManifest().version;
}
