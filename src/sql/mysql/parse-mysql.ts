/**
 * MySQL's statements as trees of PostgreSQL's grammar, with what that has no words for as properties of their own (../tree/mysql.ts). One
 * planner and executor serve both dialects. What MySQL computes differently (`/`, `=` between a string and a number, LIKE without case) is
 * the business of the expression compiler in the dialect `mysql`: the operators come to it unchanged. Grammar: MySQL 8.0 manual, chapter
 * 15. Cost: linear in the text.
 *
 * - Names are as written. The catalog of the dialect `mysql` finds columns, aliases and index names without regard to case; table and
 *   database names with regard to case. A table's schema is its database.
 * - Result columns that are no plain columns get MySQL's name, the text of the expression.
 * - Index and constraint names are those of their table, as in MySQL: an index to drop or rename stands behind its table's name. The
 *   primary key's constraint is named `PRIMARY`, an unnamed unique key after its first column.
 * - `?` is `$n` by its place in the text; TRUE and FALSE are 1 and 0; x'..' is a string of bytes, b'..' a number in numeric places.
 * - UPDATE with inner joins has them in FROM and WHERE, DELETE in USING. SET assigns from left to right.
 * - What MySQL does in one statement may take several here: `several`.
 *
 * Locations in the trees are offsets in the text, in UTF-16 units from 0.
 */
import { RecentTexts } from '../recent-texts.ts';
import { Cursor, type Grammar } from './cursor.ts';
import { parseDefinition } from './define.ts';
import { parseBits, parseOr } from './expression.ts';
import type { Parsed } from './parsed.ts';
import { parseQueryStatement } from './query-statement.ts';
import { parseQuery } from './select.ts';
import { parseSession } from './session-statement.ts';
import { parseShow } from './show.ts';
import { parseWrite } from './write.ts';

const grammar: Grammar = { expression: parseOr, bits: parseBits, query: parseQuery };

const recent = new RecentTexts<Parsed>();

/**
 * One statement. Trees are shared and never changed.
 * @param database in use: it is part of a column's name in SHOW TABLES
 * @throws SqlError 42601 (1064) where MySQL's grammar does not allow it, 0A000 what we do not support, 42622 a name too long
 */
export function parseMysql(sql: string, database = ''): Parsed {
  return recent.get(`${database}\0${sql}`, () => parseAnew(sql, database));
}

function parseAnew(sql: string, database: string): Parsed {
  const cursor = new Cursor(sql, database, grammar);
  if (cursor.isAtEnd()) return { kind: 'statement', statement: { kind: 'empty' } };
  const parsed = parseOneStatement(cursor);
  if (!cursor.isAtEnd()) throw cursor.syntaxError();
  return parsed;
}

function parseOneStatement(cursor: Cursor): Parsed {
  const found =
    parseQueryStatement(cursor) ??
    parseWrite(cursor) ??
    parseDefinition(cursor) ??
    parseShow(cursor) ??
    parseSession(cursor);
  if (found === undefined) throw cursor.syntaxError();
  return found;
}
