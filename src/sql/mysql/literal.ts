/** Strings, numbers, collations. */
import type { Node } from '@pgsql/types';
import { bitsNode, stringNode } from '../tree/constant.ts';
import { mysqlCall } from '../tree/mysql.ts';
import type { Cursor } from './cursor.ts';

export function isString(cursor: Cursor): boolean {
  if (cursor.isKind('string')) return true;
  const token = cursor.peek();
  return token?.kind === 'word' && /^_\w+$/.test(token.text) && (cursor.isKind('string', 1) || cursor.isKind('hex', 1));
}

/** Adjacent strings are one; `_binary'..'` is bytes, other introducers say what is so anyway: everything is UTF-8. */
export function parseString(cursor: Cursor): Node {
  const first = cursor.peek();
  const at = cursor.at();
  const introducer = first?.kind === 'word' ? cursor.take().text.toLowerCase() : '';
  const hex = cursor.peek();
  if (introducer !== '' && hex?.kind === 'hex') {
    cursor.take();
    if (introducer === '_binary') return bitsNode(`x${hex.value}`, at);
    return stringNode(new TextDecoder().decode(Buffer.from(hex.value, 'hex')), at);
  }
  const text = stringNode(parseStringValue(cursor), at);
  return introducer === '_binary' ? mysqlCall({ kind: 'binary' }, [text], at) : text;
}

/** @throws SqlError 42601 */
export function parseStringValue(cursor: Cursor): string {
  if (!cursor.isKind('string')) throw cursor.syntaxError();
  let value = '';
  while (cursor.isKind('string')) value += cursor.take().value;
  return value;
}

/** Without the point that nothing follows. */
export function numberText(text: string): string {
  return text.replace(/\.(?=e|$)/i, '');
}

/** What is left of a collation: only those that tell case apart mean something. */
export function collation(name: string): 'binary' | undefined {
  return /(_bin|_cs|^binary)$/i.test(name) ? 'binary' : undefined;
}
