/** Statements that begin like a query. */
import type { Cursor } from './cursor.ts';
import { isQueryAhead } from './nested.ts';
import type { Rewritten } from './rewritten.ts';
import { parseQueryBody, parseWith, withLead } from './select.ts';
import { parseDelete, parseUpdate } from './update.ts';

/** A statement that begins like a query; WITH may also begin UPDATE and DELETE. */
export function parseQueryStatement(cursor: Cursor): Rewritten | undefined {
  if (!cursor.is('WITH') && !isQueryAhead(cursor, 0)) return undefined;
  const withClause = parseWith(cursor);
  if (cursor.accept('UPDATE')) return { kind: 'text', output: parseUpdate(cursor, withClause) };
  if (cursor.accept('DELETE')) return { kind: 'text', output: parseDelete(cursor, withClause) };
  return { kind: 'text', output: [withLead(withClause), parseQueryBody(cursor)] };
}
