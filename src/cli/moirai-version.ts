/** Of this package. */
import { createRequire } from 'node:module';

export function moiraiVersion(): string {
  return (createRequire(import.meta.url)('../../package.json') as { readonly version: string }).version;
}
