/** Strings, numbers, collations. */
import type { Cursor } from './cursor.ts';
import { stringConstant, type Output } from './output.ts';

export function isString(cursor: Cursor): boolean {
  if (cursor.isKind('string')) return true;
  const token = cursor.peek();
  return token?.kind === 'word' && /^_\w+$/.test(token.text) && (cursor.isKind('string', 1) || cursor.isKind('hex', 1));
}

/** Adjacent strings are one; `_binary'..'` is bytes, other introducers say what is so anyway: everything is UTF-8. */
export function parseString(cursor: Cursor): Output {
  const first = cursor.peek();
  const at = first?.at ?? 0;
  const introducer = first?.kind === 'word' ? cursor.take().text.toLowerCase() : '';
  const hex = cursor.peek();
  if (introducer !== '' && hex?.kind === 'hex') {
    cursor.take();
    return { text: introducer === '_binary' ? `X'${hex.value}'` : `mysql_string(X'${hex.value}')`, at };
  }
  const text = stringConstant(parseStringValue(cursor));
  return { text: introducer === '_binary' ? `mysql_binary(${text})` : text, at };
}

/** @throws SqlError 42601 */
export function parseStringValue(cursor: Cursor): string {
  if (!cursor.isKind('string')) throw cursor.syntaxError();
  let value = '';
  while (cursor.isKind('string')) value += cursor.take().value;
  return value;
}

/** PostgreSQL's scanner wants a digit before `e` and none after a last point. */
export function numberConstant(text: string): string {
  return text.replace(/\.(?=e|$)/i, '');
}

/** What is left of a collation: only those that tell case apart mean something. */
export function collation(name: string): string {
  return /(_bin|_cs|^binary)$/i.test(name) ? 'COLLATE "binary"' : '';
}
