/** Names in SQL text: quoted only where they have to be. */
import type { Dialect } from '../../application.ts';
import { dialects } from './dialect.ts';

export function identifier(name: string, dialect: Dialect): string {
  const { quote, needsQuotes } = dialects[dialect];
  return needsQuotes(name) ? quote + name.replaceAll(quote, quote + quote) + quote : name;
}

/** `a.b` as two names; `*` stays. */
export function qualifiedName(path: string, dialect: Dialect): string {
  return path
    .split('.')
    .map((name) => (name === '*' ? name : identifier(name, dialect)))
    .join('.');
}

export function snakeCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}
