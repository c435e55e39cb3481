/** Calls with a grammar of their own: CAST, EXTRACT, TRIM, GROUP_CONCAT, DATE_ADD. Each is read behind `name(` and takes the `)`. */
import type { Node } from '@pgsql/types';
import { stringNode } from '../tree/constant.ts';
import { columnRef, extract, funcCall, operation, trim } from '../tree/expression.ts';
import { mysqlCall } from '../tree/mysql.ts';
import { intervalNode, namedType, typeCast } from '../tree/type-name.ts';
import { parseDataType, skipCharsetName } from './cast-type.ts';
import type { Cursor } from './cursor.ts';
import { isIntervalUnit, parseIntervalOf, timesUnit } from './interval.ts';
import { parseString } from './literal.ts';
import { parseBits, parseExpression } from './nested.ts';
import { parseOrderBy } from './order-by.ts';

export function parseCast(cursor: Cursor, at: number): Node {
  const value = parseExpression(cursor);
  if (cursor.is('AT')) throw cursor.unsupported('AT TIME ZONE');
  cursor.expect('AS');
  return castTo(cursor, value, at);
}

export function parseConvert(cursor: Cursor, at: number): Node {
  const value = parseExpression(cursor);
  if (cursor.accept(',')) return castTo(cursor, value, at);
  cursor.expect('USING');
  const isBinary = cursor.accept('BINARY');
  if (!isBinary) skipCharsetName(cursor);
  cursor.expect(')');
  return isBinary ? mysqlCall({ kind: 'binary' }, [value], at) : typeCast(value, namedType('text'), at);
}

function castTo(cursor: Cursor, value: Node, at: number): Node {
  const type = parseDataType(cursor);
  cursor.expect(')');
  return type === 'binary' ? mysqlCall({ kind: 'binary' }, [value], at) : typeCast(value, type, at);
}

/** DATE_ADD(d, INTERVAL n unit); ADDDATE(d, n) counts days. */
export function parseDateAdd(cursor: Cursor, sign: '+' | '-', at: number): Node {
  const date = parseExpression(cursor);
  cursor.expect(',');
  const interval = cursor.is('INTERVAL') ? parseIntervalOf(cursor) : undefined;
  const amount = interval ?? operation('*', parseExpression(cursor), intervalNode('1 day', at), at);
  cursor.expect(')');
  return operation(sign, date, amount, at);
}

/** TIMESTAMPADD(unit, n, d). */
export function parseTimestampAdd(cursor: Cursor, at: number): Node {
  const unit = parseUnit(cursor);
  cursor.expect(',');
  const amount = parseExpression(cursor);
  cursor.expect(',');
  const date = parseExpression(cursor);
  cursor.expect(')');
  return operation('+', date, timesUnit(amount, unit, at), at);
}

/** TIMESTAMPDIFF(unit, a, b). */
export function parseTimestampDiff(cursor: Cursor, at: number): Node {
  const unitAt = cursor.at();
  const unit = stringNode(parseUnit(cursor), unitAt);
  cursor.expect(',');
  const args = cursor.list(() => parseExpression(cursor));
  cursor.expect(')');
  return funcCall('timestampdiff', [unit, ...args], at);
}

function parseUnit(cursor: Cursor): string {
  const unit = cursor
    .take()
    .text.toLowerCase()
    .replace(/^sql_tsi_/, '');
  if (!isIntervalUnit(unit)) throw cursor.syntaxError();
  return unit;
}

export function parseExtract(cursor: Cursor, at: number): Node {
  const { text, at: unitAt } = cursor.take();
  cursor.expect('FROM');
  const value = parseExpression(cursor);
  cursor.expect(')');
  return extract(stringNode(text.toLowerCase(), unitAt), value, at);
}

/** GROUP_CONCAT([DISTINCT] a, b ORDER BY c SEPARATOR ';'). */
export function parseGroupConcat(cursor: Cursor, at: number): Node {
  const isDistinct = cursor.accept('DISTINCT');
  const values = cursor.list(() => parseExpression(cursor));
  const [only] = values;
  const value = values.length === 1 && only !== undefined ? only : funcCall('concat', values, at);
  const orderBy = parseOrderBy(cursor);
  const separator = cursor.accept('SEPARATOR') ? parseString(cursor) : stringNode(',', at);
  if (cursor.is('LIMIT')) throw cursor.unsupported('LIMIT in GROUP_CONCAT');
  cursor.expect(')');
  return funcCall('group_concat', [value, separator], at, {
    ...(orderBy.length === 0 ? {} : { agg_order: orderBy }),
    ...(isDistinct ? { agg_distinct: true } : {}),
  });
}

/** POSITION(a IN b) is LOCATE(a, b). */
export function parsePosition(cursor: Cursor, at: number): Node {
  const part = parseBits(cursor);
  cursor.expect('IN');
  const whole = parseExpression(cursor);
  cursor.expect(')');
  return funcCall('locate', [part, whole], at);
}

/** SUBSTRING(s FROM p FOR n) is SUBSTRING(s, p, n). */
export function parseSubstring(cursor: Cursor, at: number): Node {
  const items = [parseExpression(cursor)];
  while (!cursor.is(')')) {
    if (cursor.acceptOneOf(',', 'FROM', 'FOR') === undefined || items.length === 3) throw cursor.syntaxError();
    items.push(parseExpression(cursor));
  }
  if (items.length === 1) throw cursor.syntaxError();
  cursor.expect(')');
  return funcCall('substring', items, at);
}

/** MySQL removes whole strings, PostgreSQL any of the characters: only the form without them is the same. */
export function parseTrim(cursor: Cursor, at: number): Node {
  const side = parseSide(cursor);
  let what: Node = stringNode(' ', at);
  let value: Node | undefined;
  if (side !== undefined && cursor.accept('FROM')) value = parseExpression(cursor);
  else what = parseExpression(cursor);
  if (value === undefined && cursor.accept('FROM')) value = parseExpression(cursor);
  cursor.expect(')');
  if (value === undefined && side === undefined) return trim(what, at);
  if (value === undefined) throw cursor.syntaxError();
  return mysqlCall({ kind: 'trim', side: side ?? 'both' }, [what, value], at);
}

function parseSide(cursor: Cursor): 'both' | 'leading' | 'trailing' | undefined {
  if (cursor.accept('BOTH')) return 'both';
  if (cursor.accept('LEADING')) return 'leading';
  return cursor.accept('TRAILING') ? 'trailing' : undefined;
}

export function parseChar(cursor: Cursor, at: number): Node {
  const items = cursor.list(() => parseExpression(cursor));
  const isText = cursor.accept('USING');
  if (isText) cursor.nameAfterPointOrString();
  cursor.expect(')');
  const bytes = funcCall('char', items, at);
  return isText ? mysqlCall({ kind: 'text of bytes' }, [bytes], at) : bytes;
}

/** VALUES(c) means something in ON DUPLICATE KEY UPDATE only, which gives `excluded` to it. */
export function parseValuesOf(cursor: Cursor): Node {
  const { at } = cursor.peek() ?? { at: 0 };
  const name = cursor.nameText();
  cursor.expect(')');
  return columnRef(['excluded', name], at);
}
