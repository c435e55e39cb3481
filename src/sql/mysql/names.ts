/** Names of tables and columns, lists of them, aliases. */
import type { RangeVar } from '@pgsql/types';
import { rangeVar } from '../tree/query.ts';
import type { Cursor, Name } from './cursor.ts';

/** `(a, b)`. */
export function parseNameList(cursor: Cursor): string[] {
  return cursor.parenthesized(() => cursor.list(() => cursor.nameText()));
}

/** `(a, b)`, or nothing. */
export function parseColumnNames(cursor: Cursor): string[] {
  return cursor.is('(') ? parseNameList(cursor) : [];
}

/** `t` or `db.t`. */
export function parseTable(cursor: Cursor): RangeVar {
  return tableNamed(cursor, parseTableNames(cursor));
}

/** @throws SqlError 42601, 42622 */
export function tableNamed(cursor: Cursor, names: readonly Name[], alias?: Name): RangeVar {
  const texts = cursor.checked(...names);
  return rangeVar(texts, names[0]?.at ?? 0, alias === undefined ? undefined : cursor.nameText(alias));
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
