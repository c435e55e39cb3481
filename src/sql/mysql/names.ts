/** Names of tables and columns, lists of them, aliases. */
import type { Cursor, Name } from './cursor.ts';
import { commaList, parenthesized, type Output } from './output.ts';

/** `(a, b)`. */
export function parseNameList(cursor: Cursor): Output {
  return parenthesized(commaList(cursor.parenthesized(() => cursor.list(() => cursor.quoted(cursor.name())))));
}

/** `t` or `db.t`. */
export function parseTableName(cursor: Cursor): Output {
  return cursor.quoted(...parseTableNames(cursor));
}

export function parseTableNames(cursor: Cursor): Name[] {
  const first = cursor.name();
  return cursor.accept('.') ? [first, cursor.nameAfterPoint()] : [first];
}

/** `AS a`, `a`, `AS 'a'`. */
export function parseAlias(cursor: Cursor): Name | undefined {
  const hasAs = cursor.accept('AS');
  const { at = 0 } = cursor.peek() ?? {};
  if (cursor.isKind('string')) return { value: cursor.take().value, at };
  return hasAs || cursor.isName() ? cursor.name() : undefined;
}
