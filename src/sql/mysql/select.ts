/** SELECT, VALUES, TABLE, their unions, and WITH (MySQL 8.0 manual, 15.2.13 and 15.2.20). */
import type { Node, SelectStmt, WithClause } from '@pgsql/types';
import {
  commonTable,
  commonTables,
  locking,
  rangeVar,
  select,
  setOperation,
  tableQuery,
  target,
  valuesQuery,
  withTail,
} from '../tree/query.ts';
import { SqlError } from '../model/index.ts';
import type { Cursor } from './cursor.ts';
import { parseFrom } from './from.ts';
import { parseColumnNames, parseTable } from './names.ts';
import { parseExpression, parseSubquery } from './nested.ts';
import { type Aliases, noAliases, parseLimit, parseOrderBy, parseWindow, withAliases } from './order-by.ts';
import { parseSelectList } from './select-list.ts';

/** A query with its WITH. */
export function parseQuery(cursor: Cursor): SelectStmt {
  return parseQueryBody(cursor, parseWith(cursor), null);
}

export function parseWith(cursor: Cursor): WithClause | undefined {
  if (!cursor.accept('WITH')) return undefined;
  const isRecursive = cursor.accept('RECURSIVE');
  const tables = cursor.list(() => {
    const at = cursor.at();
    const name = cursor.nameText();
    const columns = parseColumnNames(cursor);
    cursor.expect('AS');
    return commonTable(name, columns, parseSubquery(cursor), at);
  });
  return commonTables(tables, isRecursive);
}

interface Term {
  readonly query: SelectStmt;
  /** Does it end with a query in parentheses? */
  readonly endsInBrackets: boolean;
  /** Result columns by alias, lower case: for ORDER BY. */
  readonly aliases: Aliases;
}

/** Behind WITH. @param into gets the variables behind INTO; `null`: there is none in a query inside another statement */
export function parseQueryBody(cursor: Cursor, clause: WithClause | undefined, into: string[] | null): SelectStmt {
  const { query, aliases, endsInBrackets } = parseUnion(cursor, into);
  const orderBy = parseOrderBy(cursor, aliases);
  const limit = parseLimit(cursor);
  const isTwice =
    (orderBy.length > 0 && query.sortClause !== undefined) ||
    (limit !== undefined && query.limitCount !== undefined) ||
    (clause !== undefined && query.withClause !== undefined);
  if (isTwice) throw cursor.unsupported('the same clause inside of the parentheses of a query and behind them');
  parseInto(cursor, into);
  const locks = parseLocks(cursor);
  parseInto(cursor, into);
  if (locks.length > 0 && query.op !== 'SETOP_NONE' && endsInBrackets) throw lockOfBrackets();
  return withTail(lockingLast(query, locks), { orderBy, limit, withClause: clause });
}

/** Locks behind a union are those of its last query. */
function lockingLast(query: SelectStmt, locks: Node[]): SelectStmt {
  if (locks.length === 0) return query;
  if (query.rarg !== undefined) return { ...query, rarg: lockingLast(query.rarg, locks) };
  return { ...query, lockingClause: [...(query.lockingClause ?? []), ...locks] };
}

function lockOfBrackets(): SqlError {
  const message = 'Incorrect usage of lock options and SELECT in brackets';
  return new SqlError('42601', message, { mysqlNumber: 1221 });
}

const setOperations = { UNION: 'SETOP_UNION', EXCEPT: 'SETOP_EXCEPT' } as const;

function parseUnion(cursor: Cursor, into: string[] | null): Term {
  let term = parseIntersection(cursor, into);
  for (;;) {
    const word = cursor.accept('UNION') ? 'UNION' : cursor.accept('EXCEPT') ? 'EXCEPT' : undefined;
    if (word === undefined) return term;
    const isAll = cursor.acceptOneOf('ALL', 'DISTINCT') === 'ALL';
    if (into !== null && into.length > 0) throw cursor.syntaxError();
    const last = parseIntersection(cursor, null);
    const query = setOperation(setOperations[word], isAll, term.query, last.query);
    term = { query, aliases: noAliases, endsInBrackets: last.endsInBrackets };
  }
}

/** INTERSECT binds tighter than the others. */
function parseIntersection(cursor: Cursor, into: string[] | null): Term {
  let term = parseTerm(cursor, into);
  while (cursor.accept('INTERSECT')) {
    const isAll = cursor.acceptOneOf('ALL', 'DISTINCT') === 'ALL';
    if (into !== null && into.length > 0) throw cursor.syntaxError();
    const last = parseTerm(cursor, null);
    const query = setOperation('SETOP_INTERSECT', isAll, term.query, last.query);
    term = { query, aliases: noAliases, endsInBrackets: last.endsInBrackets };
  }
  return term;
}

function parseTerm(cursor: Cursor, into: string[] | null): Term {
  if (cursor.is('(')) return { query: parseSubquery(cursor), aliases: noAliases, endsInBrackets: true };
  if (cursor.accept('VALUES')) {
    const rows = cursor.list(() => {
      cursor.expect('ROW');
      return cursor.parenthesized(() => cursor.list(() => parseExpression(cursor)));
    });
    return { query: valuesQuery(rows), aliases: noAliases, endsInBrackets: false };
  }
  if (cursor.accept('TABLE'))
    return { query: tableQuery(parseTable(cursor)), aliases: noAliases, endsInBrackets: false };
  cursor.expect('SELECT');
  return parseSelect(cursor, into);
}

/** SELECT of computed values alone. */
export function selectOf(values: readonly Node[]): SelectStmt {
  return select({ targetList: values.map((value) => target(value, undefined, 0)) });
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

function parseSelect(cursor: Cursor, into: string[] | null): Term {
  const isDistinct = parseModifiers(cursor);
  const { items, aliases } = parseSelectList(cursor);
  parseInto(cursor, into);
  const from = cursor.accept('FROM') && !cursor.accept('DUAL') ? parseFrom(cursor) : [];
  const where = cursor.accept('WHERE') ? parseExpression(cursor) : undefined;
  const groupBy = cursor.accept('GROUP', 'BY') ? parseGroupBy(cursor) : [];
  const having = cursor.accept('HAVING') ? withAliases(cursor, aliases, () => parseExpression(cursor)) : undefined;
  const windows = cursor.accept('WINDOW') ? parseWindows(cursor) : [];
  const query = select({
    // The parser of PostgreSQL makes an empty node of DISTINCT without ON.
    ...(isDistinct ? { distinctClause: [{} as Node] } : {}),
    targetList: [...items],
    ...(from.length === 0 ? {} : { fromClause: from }),
    ...(where === undefined ? {} : { whereClause: where }),
    ...(groupBy.length === 0 ? {} : { groupClause: groupBy }),
    ...(having === undefined ? {} : { havingClause: having }),
    ...(windows.length === 0 ? {} : { windowClause: windows }),
  });
  return { query, aliases, endsInBrackets: false };
}

/** @returns DISTINCT? */
function parseModifiers(cursor: Cursor): boolean {
  let isDistinct = false;
  for (;;) {
    if (cursor.is('SQL_CALC_FOUND_ROWS')) throw cursor.unsupported('SQL_CALC_FOUND_ROWS');
    if (cursor.acceptOneOf('DISTINCT', 'DISTINCTROW') !== undefined) isDistinct = true;
    else if (cursor.acceptOneOf(...modifiers) === undefined) return isDistinct;
  }
}

function parseGroupBy(cursor: Cursor): Node[] {
  const items = cursor.list(() => {
    const item = parseExpression(cursor);
    cursor.acceptOneOf('ASC', 'DESC');
    return item;
  });
  if (cursor.is('WITH', 'ROLLUP')) throw cursor.unsupported('GROUP BY ... WITH ROLLUP');
  return items;
}

/** INTO @a, @b: behind the select list, or at the end. @throws SqlError 42601, 0A000, 42000 (1327) */
function parseInto(cursor: Cursor, into: string[] | null): void {
  if (!cursor.is('INTO')) return;
  if (into === null || into.length > 0) throw cursor.syntaxError();
  cursor.take();
  if (cursor.is('OUTFILE') || cursor.is('DUMPFILE')) throw cursor.unsupported('SELECT ... INTO of a file');
  const names = cursor.list(() => {
    if (cursor.isKind('user-variable')) return cursor.take().value.toLowerCase();
    throw new SqlError('42000', `Undeclared variable: ${cursor.nameText()}`, { mysqlNumber: 1327 });
  });
  into.push(...names);
}

/** FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE. */
function parseLocks(cursor: Cursor): Node[] {
  const locks: Node[] = [];
  for (;;) {
    if (cursor.accept('LOCK', 'IN', 'SHARE', 'MODE')) {
      locks.push(locking('LCS_FORSHARE', [], 'LockWaitBlock'));
      continue;
    }
    if (!cursor.accept('FOR')) break;
    locks.push(parseLock(cursor));
  }
  return locks;
}

/** Behind FOR. */
function parseLock(cursor: Cursor): Node {
  const word = cursor.acceptOneOf('UPDATE', 'SHARE');
  if (word === undefined) throw cursor.syntaxError();
  const tables = cursor.accept('OF')
    ? cursor.list(() => {
        const at = cursor.at();
        return rangeVar([cursor.nameText()], at);
      })
    : [];
  if (cursor.is('WAIT')) throw cursor.unsupported('FOR UPDATE WAIT n');
  const ifLocked = cursor.accept('SKIP', 'LOCKED')
    ? 'LockWaitSkip'
    : cursor.accept('NOWAIT')
      ? 'LockWaitError'
      : 'LockWaitBlock';
  return locking(word === 'UPDATE' ? 'LCS_FORUPDATE' : 'LCS_FORSHARE', tables, ifLocked);
}

function parseWindows(cursor: Cursor): Node[] {
  return cursor.list(() => {
    const name = cursor.nameText();
    cursor.expect('AS');
    return { WindowDef: { name, ...parseWindow(cursor) } };
  });
}
