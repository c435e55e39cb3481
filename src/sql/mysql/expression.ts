/**
 * MySQL's expressions, by the levels of its grammar (sql_yacc.yy: expr, bool_pri, predicate, bit_expr, simple_expr), written with
 * PostgreSQL's operators. Operators bind differently in the two, so operands that are not simple get parentheses.
 */
import type { Binding, Cursor, Expression } from './cursor.ts';
import { parseIntervalOf } from './interval.ts';
import { parseSimple } from './simple-expression.ts';
import { isQueryAhead, operand, parseExpression, parseSubquery, simple } from './nested.ts';
import type { Output } from './output.ts';

export function parseOr(cursor: Cursor): Expression {
  return cursor.nested(() => {
    let left = parseXor(cursor);
    while (cursor.acceptOneOf('OR', '||') !== undefined) {
      const right = parseXor(cursor);
      left = { output: [operand(left, 'or'), 'OR', operand(right, 'and')], binding: 'or' };
    }
    return left;
  });
}

function parseXor(cursor: Cursor): Expression {
  let left = parseAnd(cursor);
  while (cursor.accept('XOR')) left = simple(['mysql_xor(', left.output, ',', parseAnd(cursor).output, ')']);
  return left;
}

function parseAnd(cursor: Cursor): Expression {
  let left = parseNot(cursor);
  while (cursor.acceptOneOf('AND', '&&') !== undefined) {
    const right = parseNot(cursor);
    left = { output: [operand(left, 'and'), 'AND', operand(right, 'not')], binding: 'and' };
  }
  return left;
}

function parseNot(cursor: Cursor): Expression {
  if (!cursor.accept('NOT')) return parseComparison(cursor);
  const inner = cursor.nested(() => parseNot(cursor));
  return { output: ['NOT', operand(inner, 'not')], binding: 'not' };
}

const comparisons = ['=', '<=>', '>=', '>', '<=', '<', '<>', '!='];

function parseComparison(cursor: Cursor): Expression {
  let left = parsePredicate(cursor);
  for (;;) {
    const at = cursor.peek()?.at ?? 0;
    if (cursor.accept('IS')) {
      left = comparison([operand(left, 'other'), parseIs(cursor)]);
      continue;
    }
    const operator = cursor.acceptOneOf(...comparisons);
    if (operator === undefined) return left;
    const text = operator === '<=>' ? 'IS NOT DISTINCT FROM' : operator;
    const quantifier = cursor.acceptOneOf('ANY', 'SOME', 'ALL');
    const right =
      quantifier === undefined ? operand(parsePredicate(cursor), 'other') : [quantifier, parseSubquery(cursor)];
    left = comparison([operand(left, 'other'), { text, at }, right]);
  }
}

function comparison(output: Output): Expression {
  return { output, binding: 'comparison' };
}

function parseIs(cursor: Cursor): string {
  const not = cursor.accept('NOT') ? 'NOT ' : '';
  const what = cursor.acceptOneOf('NULL', 'TRUE', 'FALSE', 'UNKNOWN');
  if (what === undefined) throw cursor.syntaxError();
  return `IS ${not}${what}`;
}

function parsePredicate(cursor: Cursor): Expression {
  const left = parseBits(cursor, 1);
  const mark = cursor.mark();
  const not = cursor.accept('NOT') ? 'NOT' : '';
  const kind = cursor.acceptOneOf('IN', 'BETWEEN', 'LIKE', 'REGEXP', 'RLIKE');
  const subject = operand(left, 'other');
  switch (kind) {
    case 'IN':
      return comparison([subject, not, 'IN', parseInList(cursor)]);
    case 'BETWEEN': {
      const low = operand(parseBits(cursor, 1), 'additive');
      cursor.expect('AND');
      return comparison([subject, not, 'BETWEEN', low, 'AND', operand(parsePredicate(cursor), 'additive')]);
    }
    case 'LIKE': {
      const pattern = operand(parseSimple(cursor), 'simple');
      const escape = cursor.accept('ESCAPE') ? ['ESCAPE', operand(parseSimple(cursor), 'simple')] : '';
      return comparison([subject, not, 'LIKE', pattern, escape]);
    }
    case 'REGEXP':
    case 'RLIKE':
      return comparison([subject, not === '' ? '~*' : '!~*', operand(parseBits(cursor, 1), 'additive')]);
    default:
      cursor.back(mark);
      if (cursor.is('SOUNDS') || cursor.is('MEMBER', 'OF')) throw cursor.unsupported(cursor.take().text.toUpperCase());
      return left;
  }
}

function parseInList(cursor: Cursor): Output {
  if (cursor.is('(') && isQueryAhead(cursor, 1)) return parseSubquery(cursor);
  const items = cursor.parenthesized(() => cursor.list(() => parseExpression(cursor)));
  return ['(', items.flatMap((item, i) => (i === 0 ? [item] : [',', item])), ')'];
}

/** MySQL's binary operators below comparison: how tightly each binds there, from 1, and how it reads and binds in PostgreSQL. */
const bitOperators: Readonly<
  Record<string, { readonly level: number; readonly text: string; readonly binding: Binding }>
> = {
  '|': { level: 1, text: '|', binding: 'other' },
  '&': { level: 2, text: '&', binding: 'other' },
  '<<': { level: 3, text: '<<', binding: 'other' },
  '>>': { level: 3, text: '>>', binding: 'other' },
  '+': { level: 4, text: '+', binding: 'additive' },
  '-': { level: 4, text: '-', binding: 'additive' },
  '*': { level: 5, text: '*', binding: 'multiplicative' },
  '/': { level: 5, text: '/', binding: 'multiplicative' },
  '%': { level: 5, text: '%', binding: 'multiplicative' },
  MOD: { level: 5, text: '%', binding: 'multiplicative' },
  DIV: { level: 5, text: 'mysql_div', binding: 'simple' },
  '^': { level: 6, text: '#', binding: 'other' },
};
const bitOperatorTexts = Object.keys(bitOperators);

/** `bit_expr`: operators of at least this level. */
export function parseBits(cursor: Cursor, levelMin: number): Expression {
  let left = cursor.nested(() => parseSimple(cursor));
  for (;;) {
    const found = bitOperatorTexts.find((text) => cursor.is(text));
    const operator = found === undefined ? undefined : bitOperators[found];
    if (operator === undefined || operator.level < levelMin) return left;
    const { at } = cursor.take();
    const isDate = operator.level === 4 && cursor.is('INTERVAL');
    const right = (isDate ? parseIntervalOf(cursor) : undefined) ?? parseBits(cursor, operator.level + 1);
    left = combine(left, operator.text, operator.binding, right, at);
  }
}

function combine(left: Expression, text: string, binding: Binding, right: Expression, at: number): Expression {
  if (text === 'mysql_div') return simple([{ text: 'mysql_div(', at }, left.output, ',', right.output, ')']);
  const tighter = binding === 'additive' ? 'multiplicative' : 'unary';
  // PostgreSQL gives all bit operators one level: among them only parentheses say what belongs together.
  const leftMin = binding === 'other' ? 'unary' : binding;
  return { output: [operand(left, leftMin), { text, at }, operand(right, tighter)], binding };
}
