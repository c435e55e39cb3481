import type { Statement } from '../statement.ts';
import type { Output } from './output.ts';

/** What parsers of statements give back: text under construction, or the finished statement. */
export type Rewritten =
  | { readonly kind: 'text'; readonly output: Output; readonly discardsRows?: boolean }
  | { readonly kind: 'statement'; readonly statement: Statement }
  | { readonly kind: 'several'; readonly parts: readonly Rewritten[] };
