/**
 * What the parts of the grammar have from each other: expressions hold queries and queries expressions, so each asks the cursor's grammar
 * for the other, and no file imports the one that it is used by.
 */
import type { Node, SelectStmt } from '@pgsql/types';
import type { Cursor } from './cursor.ts';

/** @throws SqlError 42601 */
export function parseExpression(cursor: Cursor): Node {
  return cursor.grammar.expression(cursor);
}

export function parseBits(cursor: Cursor, levelMin = 1): Node {
  return cursor.grammar.bits(cursor, levelMin);
}

/** Names in a query mean its own tables, whatever they mean around it. */
export function parseQueryExpression(cursor: Cursor): SelectStmt {
  return cursor.withColumns(
    () => undefined,
    () => cursor.grammar.query(cursor),
  );
}

/** `(SELECT ...)`. @throws SqlError 42601 */
export function parseSubquery(cursor: Cursor): SelectStmt {
  return cursor.parenthesized(() => cursor.nested(() => parseQueryExpression(cursor)));
}

/** `(SELECT ...)`, for expressions. @throws SqlError 42601 */
export function parseSubqueryNode(cursor: Cursor): Node {
  return { SelectStmt: parseSubquery(cursor) };
}

/** Does a query begin here, perhaps behind parentheses? */
export function isQueryAhead(cursor: Cursor, from: number): boolean {
  let ahead = from;
  while (cursor.peek(ahead)?.text === '(') ahead += 1;
  const word = cursor.peek(ahead);
  if (word?.kind !== 'word') return false;
  const text = word.text.toUpperCase();
  if (text === 'VALUES') return ahead === from || cursor.peek(ahead + 1)?.text.toUpperCase() === 'ROW';
  return text === 'SELECT' || text === 'WITH' || (text === 'TABLE' && cursor.isName(ahead + 1));
}

const behindQueries = new Set([')', 'UNION', 'INTERSECT', 'EXCEPT', 'ORDER', 'LIMIT']);

/** At `(`: is it a subquery? `((SELECT 1) UNION (SELECT 2))` is one, `((SELECT 1) / 2)` has one in it. */
export function isSubquery(cursor: Cursor): boolean {
  if (!isQueryAhead(cursor, 1)) return false;
  if (cursor.peek(1)?.text !== '(') return true;
  let depth = 0;
  let ahead = 1;
  do {
    const text = cursor.peek(ahead)?.text;
    if (text === undefined) return true;
    depth += text === '(' ? 1 : text === ')' ? -1 : 0;
    ahead += 1;
  } while (depth > 0);
  return behindQueries.has(cursor.peek(ahead)?.text.toUpperCase() ?? ')');
}
