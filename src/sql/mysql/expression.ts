/** MySQL's expressions, by the levels of its grammar (sql_yacc.yy: expr, bool_pri, predicate, bit_expr, simple_expr). */
import type { Node } from '@pgsql/types';
import {
  allSubquery,
  anySubquery,
  between,
  booleanTest,
  inList,
  like,
  logical,
  not,
  notDistinct,
  nullTest,
  operation,
} from '../tree/expression.ts';
import { mysqlCall } from '../tree/mysql.ts';
import type { Cursor } from './cursor.ts';
import { parseIntervalOf } from './interval.ts';
import { isQueryAhead, parseExpression, parseSubqueryNode } from './nested.ts';
import { parseSimple } from './simple-expression.ts';

export function parseOr(cursor: Cursor): Node {
  return cursor.nested(() => {
    let left = parseXor(cursor);
    for (;;) {
      const at = cursor.at();
      if (cursor.acceptOneOf('OR', '||') === undefined) return left;
      left = logical('OR_EXPR', left, parseXor(cursor), at);
    }
  });
}

function parseXor(cursor: Cursor): Node {
  let left = parseAnd(cursor);
  for (;;) {
    const at = cursor.at();
    if (!cursor.accept('XOR')) return left;
    left = mysqlCall({ kind: 'xor' }, [left, parseAnd(cursor)], at);
  }
}

function parseAnd(cursor: Cursor): Node {
  let left = parseNot(cursor);
  for (;;) {
    const at = cursor.at();
    if (cursor.acceptOneOf('AND', '&&') === undefined) return left;
    left = logical('AND_EXPR', left, parseNot(cursor), at);
  }
}

function parseNot(cursor: Cursor): Node {
  const at = cursor.at();
  if (!cursor.accept('NOT')) return parseComparison(cursor);
  return not(
    cursor.nested(() => parseNot(cursor)),
    at,
  );
}

const comparisons = ['=', '<=>', '>=', '>', '<=', '<', '<>', '!='];

function parseComparison(cursor: Cursor): Node {
  let left = parsePredicate(cursor);
  for (;;) {
    const at = cursor.at();
    if (cursor.accept('IS')) {
      left = parseIs(cursor, left, at);
      continue;
    }
    const operator = cursor.acceptOneOf(...comparisons);
    if (operator === undefined) return left;
    left = parseCompared(cursor, left, operator, at);
  }
}

function parseCompared(cursor: Cursor, left: Node, operator: string, at: number): Node {
  if (operator === '<=>') {
    if (cursor.isOneOf('ANY', 'SOME', 'ALL')) throw cursor.syntaxError();
    return notDistinct(left, parsePredicate(cursor), at);
  }
  const name = operator === '!=' ? '<>' : operator;
  switch (cursor.acceptOneOf('ANY', 'SOME', 'ALL')) {
    case undefined:
      return operation(name, left, parsePredicate(cursor), at);
    case 'ALL':
      return allSubquery(left, name, parseSubqueryNode(cursor), at);
    default:
      return anySubquery(left, name, parseSubqueryNode(cursor), at);
  }
}

function parseIs(cursor: Cursor, subject: Node, at: number): Node {
  const isNot = cursor.accept('NOT');
  switch (cursor.acceptOneOf('NULL', 'TRUE', 'FALSE', 'UNKNOWN')) {
    case 'NULL':
      return nullTest(subject, isNot ? 'IS_NOT_NULL' : 'IS_NULL', at);
    case 'TRUE':
      return booleanTest(subject, isNot ? 'IS_NOT_TRUE' : 'IS_TRUE', at);
    case 'FALSE':
      return booleanTest(subject, isNot ? 'IS_NOT_FALSE' : 'IS_FALSE', at);
    case 'UNKNOWN':
      return booleanTest(subject, isNot ? 'IS_NOT_UNKNOWN' : 'IS_UNKNOWN', at);
    default:
      throw cursor.syntaxError();
  }
}

function parsePredicate(cursor: Cursor): Node {
  const left = parseBits(cursor, 1);
  const mark = cursor.mark();
  const at = cursor.at();
  const isNot = cursor.accept('NOT');
  switch (cursor.acceptOneOf('IN', 'BETWEEN', 'LIKE', 'REGEXP', 'RLIKE')) {
    case 'IN':
      return parseIn(cursor, left, isNot, at);
    case 'BETWEEN': {
      const low = parseBits(cursor, 1);
      cursor.expect('AND');
      return between(left, low, parsePredicate(cursor), isNot, at);
    }
    case 'LIKE': {
      const pattern = parseSimple(cursor);
      const escape = cursor.accept('ESCAPE') ? parseSimple(cursor) : undefined;
      return like(left, pattern, escape, isNot, at);
    }
    case 'REGEXP':
    case 'RLIKE':
      return operation(isNot ? '!~*' : '~*', left, parseBits(cursor, 1), at);
    default:
      cursor.back(mark);
      if (cursor.is('SOUNDS') || cursor.is('MEMBER', 'OF')) throw cursor.unsupported(cursor.take().text.toUpperCase());
      return left;
  }
}

function parseIn(cursor: Cursor, subject: Node, isNot: boolean, at: number): Node {
  if (cursor.is('(') && isQueryAhead(cursor, 1)) {
    const found = anySubquery(subject, undefined, parseSubqueryNode(cursor), at);
    return isNot ? not(found, at) : found;
  }
  const items = cursor.parenthesized(() => cursor.list(() => parseExpression(cursor)));
  return inList(subject, items, isNot, at);
}

interface BitOperator {
  /** How tightly it binds, from 1. */
  readonly level: number;
  /** PostgreSQL's. */
  readonly name: string;
}

/** MySQL's binary operators below comparison. */
const bitOperators: ReadonlyMap<string, BitOperator> = new Map([
  ['|', { level: 1, name: '|' }],
  ['&', { level: 2, name: '&' }],
  ['<<', { level: 3, name: '<<' }],
  ['>>', { level: 3, name: '>>' }],
  ['+', { level: 4, name: '+' }],
  ['-', { level: 4, name: '-' }],
  ['*', { level: 5, name: '*' }],
  ['/', { level: 5, name: '/' }],
  ['%', { level: 5, name: '%' }],
  ['MOD', { level: 5, name: '%' }],
  ['DIV', { level: 5, name: 'DIV' }],
  ['^', { level: 6, name: '#' }],
]);

/** `bit_expr`: operators of at least this level. */
export function parseBits(cursor: Cursor, levelMin: number): Node {
  let left = cursor.nested(() => parseSimple(cursor));
  for (;;) {
    const operator = bitOperatorAhead(cursor);
    if (operator === undefined || operator.level < levelMin) return left;
    const { at } = cursor.take();
    const isDate = operator.level === 4 && cursor.is('INTERVAL');
    const right = (isDate ? parseIntervalOf(cursor) : undefined) ?? parseBits(cursor, operator.level + 1);
    left =
      operator.name === 'DIV'
        ? mysqlCall({ kind: 'div' }, [left, right], at)
        : operation(operator.name, left, right, at);
  }
}

function bitOperatorAhead(cursor: Cursor): BitOperator | undefined {
  const token = cursor.peek();
  if (token?.kind !== 'operator' && token?.kind !== 'word') return undefined;
  return bitOperators.get(token.text.toUpperCase());
}
