/**
 * What the parts of the grammar have from each other: expressions hold queries and queries expressions, so each asks the cursor's grammar
 * for the other, and no file imports the one that it is used by.
 */
import type { Binding, Cursor, Expression } from './cursor.ts';
import { parenthesized, type Output } from './output.ts';

/** PostgreSQL manual, table 4.2, loosest first. */
const strength: Readonly<Record<Binding, number>> = {
  or: 1,
  and: 2,
  not: 3,
  comparison: 4,
  other: 5,
  additive: 6,
  multiplicative: 7,
  unary: 8,
  simple: 9,
};

/** @throws SqlError 42601 */
export function parseExpression(cursor: Cursor): Output {
  return cursor.grammar.expression(cursor).output;
}

export function parseOr(cursor: Cursor): Expression {
  return cursor.grammar.expression(cursor);
}

export function parseBits(cursor: Cursor, levelMin = 1): Expression {
  return cursor.grammar.bits(cursor, levelMin);
}

/** Names in a query mean its own tables, whatever they mean around it. */
export function parseQueryExpression(cursor: Cursor): Output {
  return cursor.withColumns(
    () => undefined,
    () => cursor.grammar.query(cursor),
  );
}

/** `(SELECT ...)`. @throws SqlError 42601 */
export function parseSubquery(cursor: Cursor): Output {
  return parenthesized(cursor.parenthesized(() => cursor.nested(() => parseQueryExpression(cursor))));
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

export function simple(output: Output): Expression {
  return { output, binding: 'simple' };
}

/** The expression as an operand of an operator that binds like this, or tighter. */
export function operand(expression: Expression, binding: Binding): Output {
  return strength[expression.binding] >= strength[binding] ? expression.output : parenthesized(expression.output);
}
