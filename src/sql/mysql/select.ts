/** SELECT, VALUES, TABLE, their unions, and WITH (MySQL 8.0 manual, 15.2.13 and 15.2.20). */
import type { Cursor, Name } from './cursor.ts';
import { parseExpression } from './expression.ts';
import { parseFrom } from './from.ts';
import { commaList, parenthesized, type Output } from './output.ts';
import type { Rewritten } from './rewrite.ts';
import { parseSelectList, type SelectList } from './select-list.ts';
import { parseDelete, parseUpdate } from './update.ts';

/** A statement that begins like a query; WITH may also begin UPDATE and DELETE. */
export function parseQuery(cursor: Cursor): Rewritten | undefined {
  if (!cursor.is('WITH') && !isQueryAhead(cursor, 0)) return undefined;
  const withClause = parseWith(cursor);
  if (cursor.accept('UPDATE')) return { kind: 'text', output: parseUpdate(cursor, withClause) };
  if (cursor.accept('DELETE')) return { kind: 'text', output: parseDelete(cursor, withClause) };
  return { kind: 'text', output: [withLead(withClause), parseQueryBody(cursor)] };
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

/** `(SELECT ...)`. @throws SqlError 42601 */
export function parseSubquery(cursor: Cursor): Output {
  return parenthesized(cursor.parenthesized(() => cursor.nested(() => parseQueryExpression(cursor))));
}

/** A query with its WITH. Names in it mean its own tables, whatever they mean around it. */
export function parseQueryExpression(cursor: Cursor): Output {
  return cursor.withColumns(
    () => undefined,
    () => [withLead(parseWith(cursor)), parseQueryBody(cursor)],
  );
}

export interface WithClause {
  readonly isRecursive: boolean;
  readonly items: readonly Output[];
}

export function withLead(clause: WithClause): Output {
  return clause.items.length === 0 ? '' : [clause.isRecursive ? 'WITH RECURSIVE' : 'WITH', commaList(clause.items)];
}

function parseWith(cursor: Cursor): WithClause {
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

/** `(a, b)`. */
export function parseNameList(cursor: Cursor): Output {
  return parenthesized(commaList(cursor.parenthesized(() => cursor.list(() => cursor.quoted(cursor.name())))));
}

interface Term {
  readonly output: Output;
  /** Result columns by alias, lower case: for ORDER BY. */
  readonly aliases: SelectList['aliases'];
}

const noAliases: SelectList['aliases'] = new Map();

function parseQueryBody(cursor: Cursor): Output {
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

/** `t` or `db.t`. */
export function parseTableName(cursor: Cursor): Output {
  return cursor.quoted(...parseTableNames(cursor));
}

export function parseTableNames(cursor: Cursor): Name[] {
  const first = cursor.name();
  return cursor.accept('.') ? [first, cursor.nameAfterPoint()] : [first];
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

/** MySQL's HAVING and ORDER BY know aliases inside of expressions, PostgreSQL's do not: they become what they stand for. */
function withAliases<T>(cursor: Cursor, aliases: SelectList['aliases'], inside: () => T): T {
  return cursor.withColumns((names) => {
    const [name] = names;
    const found = names.length === 1 && name !== undefined ? aliases.get(name.value.toLowerCase()) : undefined;
    return found === undefined ? undefined : parenthesized(found);
  }, inside);
}

/** ORDER BY NULL asks for no order. */
export function parseOrderBy(cursor: Cursor, aliases: SelectList['aliases'] = noAliases): Output {
  cursor.expect('ORDER', 'BY');
  const items = cursor
    .list(() => {
      if (cursor.accept('NULL')) return undefined;
      const item = isBareName(cursor)
        ? parseExpression(cursor)
        : withAliases(cursor, aliases, () => parseExpression(cursor));
      return [item, cursor.acceptOneOf('ASC', 'DESC') ?? ''];
    })
    .filter((item) => item !== undefined);
  return items.length === 0 ? '' : ['ORDER BY', commaList(items)];
}

/** A name and nothing else: PostgreSQL too looks for an alias first. */
function isBareName(cursor: Cursor): boolean {
  if (!cursor.isName()) return false;
  const next = cursor.peek(1);
  return next === undefined || /^([,);]|ASC|DESC|LIMIT|FOR|LOCK)$/i.test(next.text);
}

/** From 2^63: more rows than there are, what clients write for OFFSET without a limit. */
const noLimit = 2n ** 63n;

export function parseLimit(cursor: Cursor): Output {
  if (!cursor.accept('LIMIT')) return '';
  const first = parseLimitNumber(cursor);
  if (cursor.accept(',')) return ['LIMIT', parseLimitNumber(cursor), 'OFFSET', first];
  return cursor.accept('OFFSET') ? ['LIMIT', first, 'OFFSET', parseLimitNumber(cursor)] : ['LIMIT', first];
}

function parseLimitNumber(cursor: Cursor): Output {
  const token = cursor.take();
  if (token.kind === 'parameter') return { text: `$${cursor.parameters.get(token) ?? 0}`, at: token.at };
  if (token.kind === 'number' && /^\d+$/.test(token.text))
    return { text: BigInt(token.text) >= noLimit ? 'ALL' : token.text, at: token.at };
  cursor.back(cursor.mark() - 1);
  throw cursor.syntaxError();
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

/** `(w PARTITION BY ... ORDER BY ... ROWS ...)`. */
export function parseWindow(cursor: Cursor): Output {
  return parenthesized(
    cursor.parenthesized(() => {
      const base = cursor.isName() && !cursor.isOneOf('ROWS') ? cursor.quoted(cursor.name()) : '';
      const partition = cursor.accept('PARTITION', 'BY')
        ? ['PARTITION BY', commaList(cursor.list(() => parseExpression(cursor)))]
        : '';
      const orderBy = cursor.is('ORDER', 'BY') ? parseOrderBy(cursor) : '';
      return [base, partition, orderBy, parseFrame(cursor)];
    }),
  );
}

function parseFrame(cursor: Cursor): Output {
  const unit = cursor.acceptOneOf('ROWS', 'RANGE');
  if (unit === undefined) return '';
  if (!cursor.accept('BETWEEN')) return [unit, parseFrameBound(cursor)];
  const from = parseFrameBound(cursor);
  cursor.expect('AND');
  return [unit, 'BETWEEN', from, 'AND', parseFrameBound(cursor)];
}

function parseFrameBound(cursor: Cursor): Output {
  if (cursor.accept('CURRENT', 'ROW')) return 'CURRENT ROW';
  const amount = cursor.accept('UNBOUNDED') ? 'UNBOUNDED' : parseExpression(cursor);
  const side = cursor.acceptOneOf('PRECEDING', 'FOLLOWING');
  if (side === undefined) throw cursor.syntaxError();
  return [amount, side];
}
