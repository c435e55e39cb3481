/** Function calls, and the forms that look like them: CAST, EXTRACT, TRIM, GROUP_CONCAT, CURRENT_TIMESTAMP. */
import { SqlError } from '../model/index.ts';
import { parseDataType, skipCharsetName } from './cast-type.ts';
import type { Cursor, Expression } from './cursor.ts';
import { parseIntervalOf } from './interval.ts';
import { parseString, parseStringValue } from './literal.ts';
import { operand, parseBits, parseExpression, parseOr, simple } from './nested.ts';
import { parseOrderBy, parseWindow } from './order-by.ts';
import { commaList, parenthesized, quotedName, stringConstant, type Output } from './output.ts';

/** Reserved words that are functions when a parenthesis follows. */
const functionWords = new Set(
  `CHAR DATABASE IF INSERT LEFT MOD REPEAT REPLACE RIGHT SCHEMA CURRENT_USER VALUES INTERVAL`.split(' '),
);

/** Words that PostgreSQL's grammar does not take for a function's name, or takes for a construct of its own (manual, appendix C). */
const quotedFunctions = new Set(
  `all analyse analyze and any array as asc asymmetric bit boolean both case cast char check coalesce collate column constraint create
  current_catalog current_date current_role current_time current_timestamp current_user dec decimal default deferrable desc distinct do
  else end except exists extract false fetch float for foreign from grant greatest group grouping having in initially inout int integer
  intersect interval into json json_array json_arrayagg json_exists json_object json_objectagg json_query json_scalar json_serialize
  json_table json_value lateral leading least limit localtime localtimestamp merge_action national nchar none normalize not null nullif
  numeric offset on only or order out overlay placing position precision primary real references returning row select session_user setof
  smallint some substring symmetric system_user table then time timestamp to trailing treat trim true union unique user using values
  varchar variadic when where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot
  xmlserialize xmltable`.split(/\s+/),
);

/** Their arguments are columns of the tables, also where names could be aliases. */
const aggregates = new Set('count sum avg min max bit_and bit_or bit_xor std stddev variance'.split(' '));

type SpecialCall = (cursor: Cursor, at: number) => Expression;

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
  IF: (cursor, at) => call(cursor, at, 'mysql_if', 3, 3),
  IFNULL: (cursor, at) => call(cursor, at, 'COALESCE', 2, 2),
  COALESCE: (cursor, at) => call(cursor, at, 'COALESCE', 1),
  NULLIF: (cursor, at) => call(cursor, at, 'NULLIF', 2, 2),
  GREATEST: (cursor, at) => call(cursor, at, 'GREATEST', 2),
  LEAST: (cursor, at) => call(cursor, at, 'LEAST', 2),
  ISNULL: parseIsNull,
  POSITION: parsePosition,
  SUBSTRING: parseSubstring,
  SUBSTR: parseSubstring,
  MID: parseSubstring,
  TRIM: parseTrim,
  TIMESTAMPADD: parseTimestampAdd,
  TIMESTAMPDIFF: parseTimestampDiff,
  CHAR: parseChar,
  NOW: (cursor, at) => call(cursor, at, 'now', 0, 1),
  SCHEMA: (cursor, at) => call(cursor, at, 'database', 0, 0),
  UNIX_TIMESTAMP: parseUnixTimestamp,
  VALUES: parseValuesOf,
};

/** `name(...)`, or undefined and nothing taken. */
export function parseCall(cursor: Cursor): Expression | undefined {
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

/** Of a parameter it has microseconds, whatever the value has: the server gives it the type DATETIME(6). */
function parseUnixTimestamp(cursor: Cursor, at: number): Expression {
  if (!cursor.isKind('parameter') || cursor.peek(1)?.text !== ')') return call(cursor, at, 'unix_timestamp', 0, 1);
  const value = parseExpression(cursor);
  cursor.expect(')');
  return simple([{ text: 'CAST(mysql_epoch(', at }, value, ') AS numeric(20, 6))']);
}

/** An ordinary function, aggregate or window function, behind its parenthesis. */
function parsePlainCall(cursor: Cursor, name: string, at: number): Expression {
  const open = { text: `${quotedFunctions.has(name) ? quotedName(name) : plainName(name)}(`, at };
  if (cursor.accept('*')) {
    cursor.expect(')');
    return withOver(cursor, [open, '*', ')']);
  }
  const distinct = cursor.acceptOneOf('DISTINCT', 'ALL') === 'DISTINCT' ? 'DISTINCT' : '';
  const rule = aggregates.has(name) ? () => undefined : cursor.columnRule;
  if (distinct !== '' && cursor.is(')')) throw cursor.syntaxError();
  const items = cursor.withColumns(rule, () => argumentsOf(cursor));
  return withOver(cursor, [open, distinct, items, ')']);
}

function plainName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : quotedName(name);
}

/** MySQL's null treatment and OVER clause. */
function withOver(cursor: Cursor, output: Output): Expression {
  if (cursor.is('IGNORE', 'NULLS')) throw cursor.unsupported('IGNORE NULLS');
  cursor.accept('RESPECT', 'NULLS');
  if (!cursor.accept('OVER')) return simple(output);
  return simple([output, 'OVER', cursor.is('(') ? parseWindow(cursor) : cursor.quoted(cursor.name())]);
}

/** @throws SqlError 42883 (1582) with fewer or more arguments than these */
function call(cursor: Cursor, at: number, name: string, countMin: number, countMax = Infinity): Expression {
  const items = cursor.is(')') ? [] : cursor.list(() => parseExpression(cursor));
  cursor.expect(')');
  if (items.length < countMin || items.length > countMax) throw wrongCount(cursor.sql.slice(at), at);
  return simple([{ text: `${name}(`, at }, commaList(items), ')']);
}

function wrongCount(source: string, at: number): SqlError {
  const name = /^\w+/.exec(source)?.[0] ?? '';
  return new SqlError('42883', `Incorrect parameter count in the call to native function '${name}'`, {
    position: at + 1,
    mysqlNumber: 1582,
  });
}

function argumentsOf(cursor: Cursor): Output {
  const items = cursor.is(')') ? [] : cursor.list(() => parseExpression(cursor));
  cursor.expect(')');
  return commaList(items);
}

function parseCast(cursor: Cursor, at: number): Expression {
  const value = parseExpression(cursor);
  if (cursor.is('AT')) throw cursor.unsupported('AT TIME ZONE');
  cursor.expect('AS');
  return castTo(cursor, value, at);
}

function parseConvert(cursor: Cursor, at: number): Expression {
  const value = parseExpression(cursor);
  if (cursor.accept(',')) return castTo(cursor, value, at);
  cursor.expect('USING');
  const isBinary = cursor.accept('BINARY');
  if (!isBinary) skipCharsetName(cursor);
  cursor.expect(')');
  return simple(isBinary ? [{ text: 'mysql_binary(', at }, value, ')'] : [{ text: 'CAST(', at }, value, 'AS text)']);
}

function castTo(cursor: Cursor, value: Output, at: number): Expression {
  const type = parseDataType(cursor);
  cursor.expect(')');
  if (type === 'binary') return simple([{ text: 'mysql_binary(', at }, value, ')']);
  return simple([{ text: 'CAST(', at }, value, 'AS', type, ')']);
}

/** DATE_ADD(d, INTERVAL n unit); ADDDATE(d, n) counts days. */
function parseDateAdd(cursor: Cursor, sign: '+' | '-', at: number): Expression {
  const date = operand(parseOr(cursor), 'additive');
  cursor.expect(',');
  const interval = cursor.is('INTERVAL') ? parseIntervalOf(cursor) : undefined;
  const amount = interval?.output ?? [operand(parseOr(cursor), 'multiplicative'), '*', `INTERVAL '1 day'`];
  cursor.expect(')');
  return simple(['(', date, { text: sign, at }, amount, ')']);
}

/** TIMESTAMPADD(unit, n, d). */
function parseTimestampAdd(cursor: Cursor, at: number): Expression {
  const unit = intervalUnit(cursor);
  cursor.expect(',');
  const amount = operand(parseOr(cursor), 'multiplicative');
  cursor.expect(',');
  const date = operand(parseOr(cursor), 'additive');
  cursor.expect(')');
  const [times, of] = unit === 'quarter' ? [3, 'month'] : [1, unit];
  return simple(['(', date, { text: '+', at }, amount, '*', `INTERVAL '${times} ${of}'`, ')']);
}

function parseTimestampDiff(cursor: Cursor, at: number): Expression {
  const unit = intervalUnit(cursor);
  cursor.expect(',');
  return simple([{ text: 'timestampdiff(', at }, stringConstant(unit), ',', argumentsOf(cursor), ')']);
}

function intervalUnit(cursor: Cursor): string {
  const unit = cursor
    .take()
    .text.toLowerCase()
    .replace(/^sql_tsi_/, '');
  if (!/^(microsecond|second|minute|hour|day|week|month|quarter|year)$/.test(unit)) throw cursor.syntaxError();
  return unit;
}

function parseExtract(cursor: Cursor, at: number): Expression {
  const unit = cursor.take().text.toLowerCase();
  cursor.expect('FROM');
  const value = parseExpression(cursor);
  cursor.expect(')');
  return simple([{ text: 'EXTRACT(', at }, stringConstant(unit), 'FROM', value, ')']);
}

/** GROUP_CONCAT([DISTINCT] a, b ORDER BY c SEPARATOR ';'). */
function parseGroupConcat(cursor: Cursor, at: number): Expression {
  const distinct = cursor.accept('DISTINCT') ? 'DISTINCT' : '';
  const values = cursor.list(() => parseExpression(cursor));
  const value = values.length === 1 ? values : ['concat(', commaList(values), ')'];
  const orderBy = cursor.is('ORDER', 'BY') ? parseOrderBy(cursor) : '';
  const separator = cursor.accept('SEPARATOR') ? parseString(cursor) : `','`;
  if (cursor.is('LIMIT')) throw cursor.unsupported('LIMIT in GROUP_CONCAT');
  cursor.expect(')');
  return simple([{ text: 'group_concat(', at }, distinct, value, ',', separator, orderBy, ')']);
}

function parseIsNull(cursor: Cursor): Expression {
  const value = operand(parseOr(cursor), 'other');
  cursor.expect(')');
  return simple(parenthesized([value, 'IS NULL']));
}

/** POSITION(a IN b) is LOCATE(a, b). */
function parsePosition(cursor: Cursor, at: number): Expression {
  const part = parseBits(cursor).output;
  cursor.expect('IN');
  const whole = parseExpression(cursor);
  cursor.expect(')');
  return simple([{ text: 'locate(', at }, part, ',', whole, ')']);
}

/** SUBSTRING(s FROM p FOR n) is SUBSTRING(s, p, n). */
function parseSubstring(cursor: Cursor, at: number): Expression {
  const items = [parseExpression(cursor)];
  while (!cursor.is(')')) {
    if (cursor.acceptOneOf(',', 'FROM', 'FOR') === undefined || items.length === 3) throw cursor.syntaxError();
    items.push(parseExpression(cursor));
  }
  if (items.length === 1) throw cursor.syntaxError();
  cursor.expect(')');
  return simple([{ text: '"substring"(', at }, commaList(items), ')']);
}

/** MySQL removes whole strings, PostgreSQL any of the characters: only the form without them is the same. */
function parseTrim(cursor: Cursor, at: number): Expression {
  const side = cursor.acceptOneOf('BOTH', 'LEADING', 'TRAILING');
  let what: Output = `' '`;
  let value: Output | undefined;
  if (side !== undefined && cursor.accept('FROM')) value = parseExpression(cursor);
  else what = parseExpression(cursor);
  if (value === undefined && cursor.accept('FROM')) value = parseExpression(cursor);
  cursor.expect(')');
  if (value === undefined && side === undefined) return simple([{ text: 'TRIM(', at }, what, ')']);
  if (value === undefined) throw cursor.syntaxError();
  return simple([
    { text: 'mysql_trim(', at },
    stringConstant((side ?? 'both').toLowerCase()),
    ',',
    what,
    ',',
    value,
    ')',
  ]);
}

function parseChar(cursor: Cursor, at: number): Expression {
  const items = cursor.list(() => parseExpression(cursor));
  const isText = cursor.accept('USING');
  if (isText) cursor.nameAfterPointOrString();
  cursor.expect(')');
  const bytes: Output = [{ text: '"char"(', at }, commaList(items), ')'];
  return simple(isText ? ['mysql_string(', bytes, ')'] : bytes);
}

/** VALUES(c) means something in ON DUPLICATE KEY UPDATE only, which gives `excluded` to it. */
function parseValuesOf(cursor: Cursor): Expression {
  const name = cursor.name();
  cursor.expect(')');
  return simple(cursor.quoted({ value: 'excluded', at: name.at }, name));
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

const literalTypes: Readonly<Record<string, string>> = { DATE: 'date', TIME: 'time', TIMESTAMP: 'timestamp' };

/** CONVERT(...), CURRENT_TIMESTAMP, CURRENT_USER, DATE '...': words with a grammar of their own. */
export function parseTypedForm(cursor: Cursor): Expression | undefined {
  const { at = 0, text = '' } = cursor.peek() ?? {};
  const clock = cursor.acceptOneOf(...Object.keys(clockWords));
  if (clock !== undefined) return parseClock(cursor, clockWords[clock] ?? '', at);
  if (cursor.accept('CONVERT', '(')) return parseConvert(cursor, at);
  if (cursor.accept('CURRENT_USER')) {
    if (cursor.accept('(')) cursor.expect(')');
    return simple({ text: '"current_user"()', at });
  }
  const literal = Object.hasOwn(literalTypes, text.toUpperCase()) && cursor.isKind('string', 1);
  if (!literal) return undefined;
  const type = literalTypes[cursor.take().text.toUpperCase()] ?? '';
  const value = parseStringValue(cursor);
  // It has as many digits of the second as are written.
  const digits = type === 'date' ? '' : `(${Math.min(6, /\.(\d*)\s*$/.exec(value)?.[1]?.length ?? 0)})`;
  return simple({ text: `CAST(${stringConstant(value)} AS ${type}${digits})`, at });
}

function parseClock(cursor: Cursor, name: string, at: number): Expression {
  if (!cursor.accept('(')) return simple({ text: `${name}()`, at });
  return call(cursor, at, name, 0, 1);
}

function spellsOpen(cursor: Cursor): boolean {
  const token = cursor.peek(1);
  return token?.kind === 'operator' && token.text === '(';
}
