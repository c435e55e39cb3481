/** SELECT, VALUES, TABLE, their unions, and WITH (MySQL 8.0 manual, 15.2.13 and 15.2.20). */
import type { Cursor } from './cursor.ts';
import { parseFrom } from './from.ts';
import { parseNameList, parseTableName } from './names.ts';
import { parseExpression, parseSubquery } from './nested.ts';
import { noAliases, parseLimit, parseOrderBy, parseWindow, withAliases, type Aliases } from './order-by.ts';
import { commaList, parenthesized, type Output } from './output.ts';
import { parseSelectList } from './select-list.ts';

/** A query with its WITH. */
export function parseQuery(cursor: Cursor): Output {
  const withClause = parseWith(cursor);
  return [withLead(withClause), parseQueryBody(cursor)];
}

export interface WithClause {
  readonly isRecursive: boolean;
  readonly items: readonly Output[];
}

export function withLead(clause: WithClause): Output {
  return clause.items.length === 0 ? '' : [clause.isRecursive ? 'WITH RECURSIVE' : 'WITH', commaList(clause.items)];
}

export function parseWith(cursor: Cursor): WithClause {
  if (!cursor.accept('WITH')) return { isRecursive: false, items: [] };
  const isRecursive = cursor.accept('RECURSIVE');
  const items = cursor.list(() => {
    const name = cursor.quoted(cursor.name());
    const columns = cursor.is('(') ? parseNameList(cursor) : '';
    cursor.expect('AS');
    return [name, columns, 'AS', parseSubquery(cursor)];
  });
  return { isRecursive, items };
}

interface Term {
  readonly output: Output;
  /** Result columns by alias, lower case: for ORDER BY. */
  readonly aliases: Aliases;
}

export function parseQueryBody(cursor: Cursor): Output {
  let term = parseTerm(cursor);
  for (;;) {
    const operator = cursor.acceptOneOf('UNION', 'EXCEPT', 'INTERSECT');
    if (operator === undefined) break;
    const all = cursor.acceptOneOf('ALL', 'DISTINCT') === 'ALL' ? 'ALL' : '';
    term = { output: [term.output, operator, all, parseTerm(cursor).output], aliases: noAliases };
  }
  const orderBy = cursor.is('ORDER', 'BY') ? parseOrderBy(cursor, term.aliases) : '';
  const limit = parseLimit(cursor);
  return [term.output, orderBy, limit, parseLocks(cursor)];
}

function parseTerm(cursor: Cursor): Term {
  if (cursor.is('(')) return { output: parseSubquery(cursor), aliases: noAliases };
  if (cursor.accept('VALUES')) {
    const rows = cursor.list(() => {
      cursor.expect('ROW');
      return cursor.parenthesized(() => parenthesized(commaList(cursor.list(() => parseExpression(cursor)))));
    });
    return { output: ['VALUES', commaList(rows)], aliases: noAliases };
  }
  if (cursor.accept('TABLE')) return { output: ['TABLE', parseTableName(cursor)], aliases: noAliases };
  cursor.expect('SELECT');
  return parseSelect(cursor);
}

const modifiers = [
  'ALL',
  'HIGH_PRIORITY',
  'STRAIGHT_JOIN',
  'SQL_SMALL_RESULT',
  'SQL_BIG_RESULT',
  'SQL_BUFFER_RESULT',
  'SQL_NO_CACHE',
  'SQL_CACHE',
];

function parseSelect(cursor: Cursor): Term {
  let distinct = '';
  for (;;) {
    if (cursor.is('SQL_CALC_FOUND_ROWS')) throw cursor.unsupported('SQL_CALC_FOUND_ROWS');
    if (cursor.acceptOneOf('DISTINCT', 'DISTINCTROW') !== undefined) distinct = 'DISTINCT';
    else if (cursor.acceptOneOf(...modifiers) === undefined) break;
  }
  const { items, aliases } = parseSelectList(cursor);
  if (cursor.is('INTO')) throw cursor.unsupported('SELECT ... INTO');
  const from = cursor.accept('FROM') && !cursor.accept('DUAL') ? ['FROM', parseFrom(cursor)] : '';
  const where = cursor.accept('WHERE') ? ['WHERE', parseExpression(cursor)] : '';
  const groupBy = cursor.accept('GROUP', 'BY') ? parseGroupBy(cursor) : '';
  const having = cursor.accept('HAVING') ? ['HAVING', withAliases(cursor, aliases, () => parseExpression(cursor))] : '';
  const windows = cursor.accept('WINDOW') ? parseWindows(cursor) : '';
  return { output: ['SELECT', distinct, items, from, where, groupBy, having, windows], aliases };
}

function parseGroupBy(cursor: Cursor): Output {
  const items = cursor.list(() => {
    const item = parseExpression(cursor);
    cursor.acceptOneOf('ASC', 'DESC');
    return item;
  });
  if (cursor.is('WITH', 'ROLLUP')) throw cursor.unsupported('GROUP BY ... WITH ROLLUP');
  return ['GROUP BY', commaList(items)];
}

/** FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE: PostgreSQL's words for the same. */
function parseLocks(cursor: Cursor): Output {
  const locks: Output[] = [];
  for (;;) {
    if (cursor.accept('LOCK', 'IN', 'SHARE', 'MODE')) {
      locks.push('FOR SHARE');
      continue;
    }
    if (!cursor.accept('FOR')) break;
    const strength = cursor.acceptOneOf('UPDATE', 'SHARE');
    if (strength === undefined) throw cursor.syntaxError();
    const of = cursor.accept('OF') ? ['OF', commaList(cursor.list(() => cursor.quoted(cursor.name())))] : '';
    if (cursor.is('WAIT')) throw cursor.unsupported('FOR UPDATE WAIT n');
    const ifLocked = cursor.accept('SKIP', 'LOCKED') ? 'SKIP LOCKED' : cursor.accept('NOWAIT') ? 'NOWAIT' : '';
    locks.push(['FOR', strength, of, ifLocked]);
  }
  if (cursor.is('INTO')) throw cursor.unsupported('SELECT ... INTO');
  return locks;
}

function parseWindows(cursor: Cursor): Output {
  const items = cursor.list(() => {
    const name = cursor.quoted(cursor.name());
    cursor.expect('AS');
    return [name, 'AS', parseWindow(cursor)];
  });
  return ['WINDOW', commaList(items)];
}
