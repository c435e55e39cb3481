/** Function calls: those whose arguments are a list, with what stands behind them. Forms with words between their arguments: call-forms.ts. */
import type { Node, WindowDef } from '@pgsql/types';
import { SqlError } from '../model/index.ts';
import { stringNode } from '../tree/constant.ts';
import { type CallClauses, coalesce, funcCall, greatest, least, nullIf, nullTest } from '../tree/expression.ts';
import { mysqlCall } from '../tree/mysql.ts';
import { namedType, typeCast } from '../tree/type-name.ts';
import { namedWindow } from '../tree/window.ts';
import {
  parseCast,
  parseChar,
  parseConvert,
  parseDateAdd,
  parseExtract,
  parseGroupConcat,
  parsePosition,
  parseSubstring,
  parseTimestampAdd,
  parseTimestampDiff,
  parseTrim,
  parseValuesOf,
} from './call-forms.ts';
import type { Cursor } from './cursor.ts';
import { parseStringValue } from './literal.ts';
import { parseExpression } from './nested.ts';
import { parseWindow } from './order-by.ts';

/** Reserved words that are functions when a parenthesis follows. */
const functionWords = new Set(
  `CHAR DATABASE IF INSERT LEFT MOD REPEAT REPLACE RIGHT SCHEMA CURRENT_USER VALUES INTERVAL`.split(' '),
);

/** Their arguments are columns of the tables, also where names could be aliases. */
const aggregates = new Set('count sum avg min max bit_and bit_or bit_xor std stddev variance'.split(' '));

type SpecialCall = (cursor: Cursor, at: number) => Node;

/** Called behind `name(`; each takes the closing parenthesis. */
const specialCalls: Readonly<Record<string, SpecialCall>> = {
  CAST: parseCast,
  CONVERT: parseConvert,
  DATE_ADD: (cursor, at) => parseDateAdd(cursor, '+', at),
  ADDDATE: (cursor, at) => parseDateAdd(cursor, '+', at),
  DATE_SUB: (cursor, at) => parseDateAdd(cursor, '-', at),
  SUBDATE: (cursor, at) => parseDateAdd(cursor, '-', at),
  EXTRACT: parseExtract,
  GROUP_CONCAT: parseGroupConcat,
  IF: (cursor, at) => mysqlCall({ kind: 'if' }, parseArguments(cursor, at, 3, 3), at),
  IFNULL: (cursor, at) => coalesce(parseArguments(cursor, at, 2, 2), at),
  COALESCE: (cursor, at) => coalesce(parseArguments(cursor, at, 1), at),
  NULLIF: parseNullIf,
  GREATEST: (cursor, at) => greatest(parseArguments(cursor, at, 2), at),
  LEAST: (cursor, at) => least(parseArguments(cursor, at, 2), at),
  ISNULL: parseIsNull,
  POSITION: parsePosition,
  SUBSTRING: parseSubstring,
  SUBSTR: parseSubstring,
  MID: parseSubstring,
  TRIM: parseTrim,
  TIMESTAMPADD: parseTimestampAdd,
  TIMESTAMPDIFF: parseTimestampDiff,
  CHAR: parseChar,
  NOW: (cursor, at) => funcCall('now', parseArguments(cursor, at, 0, 1), at),
  SCHEMA: (cursor, at) => funcCall('database', parseArguments(cursor, at, 0, 0), at),
  UNIX_TIMESTAMP: parseUnixTimestamp,
  VALUES: parseValuesOf,
};

/** `name(...)`, or undefined and nothing taken. */
export function parseCall(cursor: Cursor): Node | undefined {
  const token = cursor.peek();
  if (token === undefined || !spellsOpen(cursor)) return undefined;
  const upper = token.value.toUpperCase();
  if (token.kind !== 'word' || (!cursor.isName() && !functionWords.has(upper))) return undefined;
  cursor.take();
  cursor.take();
  const special = Object.hasOwn(specialCalls, upper) ? specialCalls[upper] : undefined;
  return special === undefined
    ? parsePlainCall(cursor, token.value.toLowerCase(), token.at)
    : special(cursor, token.at);
}

function spellsOpen(cursor: Cursor): boolean {
  const token = cursor.peek(1);
  return token?.kind === 'operator' && token.text === '(';
}

/** An ordinary function, aggregate or window function, behind its parenthesis. */
function parsePlainCall(cursor: Cursor, name: string, at: number): Node {
  if (cursor.accept('*')) {
    cursor.expect(')');
    return funcCall(name, [], at, { agg_star: true, ...parseOver(cursor) });
  }
  const distinct: CallClauses = cursor.acceptOneOf('DISTINCT', 'ALL') === 'DISTINCT' ? { agg_distinct: true } : {};
  if (distinct.agg_distinct === true && cursor.is(')')) throw cursor.syntaxError();
  const rule = aggregates.has(name) ? () => undefined : cursor.columnRule;
  const args = cursor.withColumns(rule, () => parseArguments(cursor, at, 0));
  return funcCall(name, args, at, { ...distinct, ...parseOver(cursor) });
}

/** MySQL's null treatment and OVER clause. */
function parseOver(cursor: Cursor): { readonly over?: WindowDef } {
  if (cursor.is('IGNORE', 'NULLS')) throw cursor.unsupported('IGNORE NULLS');
  cursor.accept('RESPECT', 'NULLS');
  if (!cursor.accept('OVER')) return {};
  if (cursor.is('(')) return { over: parseWindow(cursor) };
  const at = cursor.at();
  return { over: namedWindow(cursor.nameText(), at) };
}

/** Behind the opening parenthesis; takes the closing one. @throws SqlError 42883 (1582) with fewer or more arguments than these */
function parseArguments(cursor: Cursor, at: number, countMin: number, countMax = Infinity): Node[] {
  const items = cursor.is(')') ? [] : cursor.list(() => parseExpression(cursor));
  cursor.expect(')');
  if (items.length < countMin || items.length > countMax) throw wrongCount(cursor.sql.slice(at), at);
  return items;
}

function wrongCount(source: string, at: number): SqlError {
  const name = /^\w+/.exec(source)?.[0] ?? '';
  return new SqlError('42883', `Incorrect parameter count in the call to native function '${name}'`, {
    position: at + 1,
    mysqlNumber: 1582,
  });
}

function parseNullIf(cursor: Cursor, at: number): Node {
  const [left, right] = parseArguments(cursor, at, 2, 2);
  if (left === undefined || right === undefined) throw cursor.syntaxError();
  return nullIf(left, right, at);
}

function parseIsNull(cursor: Cursor, at: number): Node {
  const value = parseExpression(cursor);
  cursor.expect(')');
  return nullTest(value, 'IS_NULL', at);
}

/** Of a parameter it has microseconds, whatever the value has: the server gives it the type DATETIME(6). */
function parseUnixTimestamp(cursor: Cursor, at: number): Node {
  const isOfParameter = cursor.isKind('parameter') && cursor.peek(1)?.text === ')';
  const args = parseArguments(cursor, at, 0, 1);
  if (!isOfParameter) return funcCall('unix_timestamp', args, at);
  return typeCast(mysqlCall({ kind: 'epoch' }, args, at), namedType('numeric', 20, 6), at);
}

/** Constants of the clock without parentheses, and typed literals. */
const clockWords: Readonly<Record<string, string>> = {
  CURRENT_TIMESTAMP: 'now',
  LOCALTIME: 'now',
  LOCALTIMESTAMP: 'now',
  CURRENT_DATE: 'curdate',
  CURRENT_TIME: 'curtime',
  UTC_DATE: 'utc_date',
  UTC_TIME: 'utc_time',
  UTC_TIMESTAMP: 'utc_timestamp',
};

const literalTypes: Readonly<Record<string, 'date' | 'time' | 'timestamp'>> = {
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP: 'timestamp',
};

/** CONVERT(...), CURRENT_TIMESTAMP, CURRENT_USER, DATE '...': words with a grammar of their own. */
export function parseTypedForm(cursor: Cursor): Node | undefined {
  const at = cursor.at();
  const word = cursor.isKind('word') ? (cursor.peek()?.text.toUpperCase() ?? '') : '';
  const clock = Object.hasOwn(clockWords, word) ? clockWords[word] : undefined;
  if (clock !== undefined) {
    cursor.take();
    return funcCall(clock, cursor.accept('(') ? parseArguments(cursor, at, 0, 1) : [], at);
  }
  if (cursor.accept('CONVERT', '(')) return parseConvert(cursor, at);
  if (cursor.accept('CURRENT_USER')) {
    if (cursor.accept('(')) cursor.expect(')');
    return funcCall('current_user', [], at);
  }
  const type = Object.hasOwn(literalTypes, word) && cursor.isKind('string', 1) ? literalTypes[word] : undefined;
  return type === undefined ? undefined : parseTypedLiteral(cursor, type, at);
}

/** DATE '2020-01-01'. A time has as many digits of the second as are written. */
function parseTypedLiteral(cursor: Cursor, type: 'date' | 'time' | 'timestamp', at: number): Node {
  cursor.take();
  const value = parseStringValue(cursor);
  const digits = Math.min(6, /\.(\d*)\s*$/.exec(value)?.[1]?.length ?? 0);
  return typeCast(stringNode(value, at), type === 'date' ? namedType(type) : namedType(type, digits), at);
}
