/** Statements that begin like a query. */
import type { Cursor } from './cursor.ts';
import { isQueryAhead } from './nested.ts';
import { type Parsed, parsedQuery, parsedTree } from './parsed.ts';
import { parseQueryBody, parseWith } from './select.ts';
import { parseDelete, parseUpdate } from './update.ts';

/** A statement that begins like a query; WITH may also begin UPDATE and DELETE. */
export function parseQueryStatement(cursor: Cursor): Parsed | undefined {
  if (!cursor.is('WITH') && !isQueryAhead(cursor, 0)) return undefined;
  const withClause = parseWith(cursor);
  if (cursor.accept('UPDATE')) return parsedTree(parseUpdate(cursor, withClause));
  if (cursor.accept('DELETE')) return parsedTree(parseDelete(cursor, withClause));
  const variables: string[] = [];
  const query = parseQueryBody(cursor, withClause, variables);
  return variables.length === 0 ? parsedQuery(query) : { kind: 'into', query, variables };
}
