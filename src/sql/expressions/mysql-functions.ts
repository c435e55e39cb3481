/** MySQL's functions, by area of its reference manual, chapter 14. The arguments have been converted to the types that stand here. */
import { createHash } from 'node:crypto';
import {
  foldText,
  SqlError,
  formatJsonDocument,
  isJsonObject,
  jsonDocument,
  objectOf,
  parseJsonDocument,
  civilOfDays,
  dayOfWeek,
  daysInMonth,
  daysOfCivil,
  splitTimestamp,
  type JsonDocument,
  type SqlValue,
} from '../model/index.ts';
import { mysqlByteFunctions } from './mysql-byte-functions.ts';
import { mysqlJsonPath } from './mysql-json-path.ts';
import { insertAt, padTo, substringFrom, trimPart } from './mysql-text-parts.ts';
import { mysqlDocument, mysqlText } from './mysql-document.ts';
import { jsonChanges } from './mysql-json-changes.ts';
import { mysqlLocks } from './lock-functions.ts';
import { randomUuid } from './session-functions.ts';
import { ambient, nullable, type Plain, strict, tableOf, typedNullable, volatile } from './signature.ts';
import { charactersOf, characterCount, leftOf, positionIn, repeated, rightOf } from './text-functions.ts';
import { isoWeek } from './time-fields.ts';

function wholeSeconds(time: bigint): bigint {
  return cutTo(time, 0);
}

/** @throws SqlError 42000 (1426) with more than 6 digits after the point */
function cutTo(time: bigint, digits: number): bigint {
  if (digits > 6)
    throw new SqlError('42000', `Too big precision ${digits} specified. Maximum is 6`, { mysqlNumber: 1426 });
  const unit = 10n ** BigInt(6 - Math.max(0, digits));
  return time - (((time % unit) + unit) % unit);
}

const session = ambient({
  'now() timestamp': (from) => wholeSeconds(from.statementTime),
  'now(int4) timestamp': (from, digits: number) => cutTo(from.statementTime, digits),
  'curdate() date': (from) => splitTimestamp(from.statementTime).days,
  'curtime() time': (from) => wholeSeconds(splitTimestamp(from.statementTime).time),
  'curtime(int4) time': (from, digits: number) => cutTo(splitTimestamp(from.statementTime).time, digits),
  'utc_timestamp() timestamp': (from) => wholeSeconds(from.statementTime),
  'utc_timestamp(int4) timestamp': (from, digits: number) => cutTo(from.statementTime, digits),
  'utc_date() date': (from) => splitTimestamp(from.statementTime).days,
  'utc_time() time': (from) => wholeSeconds(splitTimestamp(from.statementTime).time),
  'utc_time(int4) time': (from, digits: number) => cutTo(splitTimestamp(from.statementTime).time, digits),
  'unix_timestamp() int8': (from) => from.statementTime / 1_000_000n,
  'last_insert_id() uint8': (from) => from.lastInsertId,
  'found_rows() int8': (from) => from.foundRows,
  'row_count() int8': (from) => from.rowCount,
  'version() text': (from) => from.version,
  'database() text': (from) => from.database,
  'schema() text': (from) => from.database,
  'user() text': (from) => `${from.user}@%`,
  'current_user() text': (from) => `${from.user}@%`,
  'session_user() text': (from) => `${from.user}@%`,
  'connection_id() int8': (from) => BigInt(from.sessionId),
});

const changing = volatile({
  'last_insert_id(int8) int8': (from, value: bigint) => from.setLastInsertId(value),
  'rand() float8': (from) => from.random(),
  'rand(int8) float8': (from) => from.random(),
  'uuid() text': randomUuid,
  'sysdate() timestamp': (from) => wholeSeconds(from.clock()),
  'sysdate(int4) timestamp': (from, digits: number) => cutTo(from.clock(), digits),
});

/** From 1, without regard to case. */
function locate(part: string, text: string, from = 1): bigint {
  if (from < 1) return 0n;
  const characters = charactersOf(text);
  const at = positionIn(
    characters
      .slice(from - 1)
      .join('')
      .toUpperCase(),
    part.toUpperCase(),
  );
  return at === 0 && part !== '' ? 0n : BigInt(from > characters.length + 1 ? 0 : at + from - 1);
}

function substringIndex(text: string, separator: string, count: number): string {
  if (separator === '' || count === 0) return '';
  const parts = text.split(separator);
  return (count > 0 ? parts.slice(0, count) : parts.slice(count)).join(separator);
}

const strings = strict({
  'concat(variadic text) text': (...texts: string[]) => texts.join(''),
  'length(text) int8': (text: string) => BigInt(Buffer.byteLength(text)),
  'octet_length(text) int8': (text: string) => BigInt(Buffer.byteLength(text)),
  'char_length(text) int8': (text: string) => BigInt(characterCount(text)),
  'character_length(text) int8': (text: string) => BigInt(characterCount(text)),
  'lower(text) text': (text: string) => text.toLowerCase(),
  'lcase(text) text': (text: string) => text.toLowerCase(),
  'upper(text) text': (text: string) => text.toUpperCase(),
  'ucase(text) text': (text: string) => text.toUpperCase(),
  'left(text, int4) text': (text: string, count: number) => leftOf(text, Math.max(0, count)),
  'right(text, int4) text': (text: string, count: number) => rightOf(text, Math.max(0, count)),
  'lpad(text, int4, text) text': (text: string, length: number, fill: string) => padTo(text, length, fill, true),
  'rpad(text, int4, text) text': (text: string, length: number, fill: string) => padTo(text, length, fill, false),
  'repeat(text, int4) text': repeated,
  'space(int4) text': (count: number) => repeated(' ', count),
  'reverse(text) text': (text: string) => charactersOf(text).toReversed().join(''),
  'replace(text, text, text) text': (text: string, from: string, to: string) =>
    from === '' ? text : text.replaceAll(from, () => to),
  'locate(text, text) int8': locate,
  'locate(text, text, int4) int8': locate,
  'position(text, text) int8': (text: string, part: string) => locate(part, text),
  'instr(text, text) int8': (text: string, part: string) => locate(part, text),
  'substring(text, int4) text': substringFrom,
  'substring(text, int4, int4) text': substringFrom,
  'substr(text, int4) text': substringFrom,
  'substr(text, int4, int4) text': substringFrom,
  'mid(text, int4, int4) text': substringFrom,
  'substring_index(text, text, int4) text': substringIndex,
  'insert(text, int4, int4, text) text': insertAt,
  'strcmp(text, text) int4': (a: string, b: string) =>
    foldText(a) < foldText(b) ? -1 : foldText(a) > foldText(b) ? 1 : 0,
  'ascii(text) int4': (text: string) => Buffer.from(text)[0] ?? 0,
  'hex(int8) text': (value: bigint) => BigInt.asUintN(64, value).toString(16).toUpperCase(),
  'hex(text) text': (text: string) => Buffer.from(text).toString('hex').toUpperCase(),
  'unhex(text) bytea': (text: string) =>
    /^(?:[0-9a-f]{2})*$/i.test(text) ? new Uint8Array(Buffer.from(text, 'hex')) : null,
  'md5(text) text': (text: string) => createHash('md5').update(text).digest('hex'),
  'sha1(text) text': (text: string) => createHash('sha1').update(text).digest('hex'),
  'quote(text) text': (text: string) => `'${text.replace(/['\\]/g, '\\$&')}'`,
  'find_in_set(text, text) int8': (part: string, list: string) =>
    BigInt(list === '' ? 0 : list.split(',').map(foldText).indexOf(foldText(part)) + 1),
});
const built: Record<string, Plain> = {};
for (const [name, atStart, atEnd] of [
  ['btrim', true, true],
  ['trim', true, true],
  ['ltrim', true, false],
  ['rtrim', false, true],
] as const) {
  built[`${name}(text) text`] = (text: string) => trimPart(text, ' ', atStart, atEnd);
  built[`${name}(text, text) text`] = (text: string, part: string) => trimPart(text, part, atStart, atEnd);
}

/** The fields of a negative TIME have no sign. */
function sizeOf(time: bigint): bigint {
  return time < 0n ? -time : time;
}

const days = strict({
  'date(date) date': (value: number) => value,
  'time(time) time': (value: bigint) => value,
  'timestamp(timestamp) timestamp': (value: bigint) => value,
  'year(date) int8': (value: number) => BigInt(civilOfDays(value).year),
  'month(date) int8': (value: number) => BigInt(civilOfDays(value).month),
  'quarter(date) int8': (value: number) => BigInt(Math.ceil(civilOfDays(value).month / 3)),
  'day(date) int8': (value: number) => BigInt(civilOfDays(value).day),
  'dayofmonth(date) int8': (value: number) => BigInt(civilOfDays(value).day),
  'dayofweek(date) int8': (value: number) => BigInt(dayOfWeek(value) + 1),
  'weekday(date) int8': (value: number) => BigInt((dayOfWeek(value) + 6) % 7),
  'dayofyear(date) int8': (value: number) =>
    BigInt(value - daysOfCivil({ year: civilOfDays(value).year, month: 1, day: 1 }) + 1),
  'weekofyear(date) int8': (value: number) => BigInt(isoWeek(value).week),
  'last_day(date) date': (value: number) => {
    const { year, month } = civilOfDays(value);
    return daysOfCivil({ year, month, day: daysInMonth(year, month) });
  },
  'to_days(date) int8': (value: number) => BigInt(value + 719_528),
  'hour(time) int8': (value: bigint) => sizeOf(value) / 3_600_000_000n,
  'minute(time) int8': (value: bigint) => (sizeOf(value) / 60_000_000n) % 60n,
  'second(time) int8': (value: bigint) => (sizeOf(value) / 1_000_000n) % 60n,
  'microsecond(time) int8': (value: bigint) => sizeOf(value) % 1_000_000n,
  'datediff(date, date) int8': (a: number, b: number) => BigInt(a - b),
  'makedate(int8, int8) date': (year: bigint, day: bigint) =>
    day < 1n ? null : daysOfCivil({ year: Number(year), month: 1, day: 1 }) + Number(day) - 1,
  'timestampdiff(text, timestamp, timestamp) int8': difference,
});

const unitMicroseconds: Readonly<Record<string, bigint>> = {
  microsecond: 1n,
  second: 1_000_000n,
  minute: 60_000_000n,
  hour: 3_600_000_000n,
  day: 86_400_000_000n,
  week: 604_800_000_000n,
};
const unitMonths: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12 };

/** Whole units from one instant to another. */
function difference(unit: string, from: bigint, to: bigint): bigint {
  const name = unit.toLowerCase();
  const length = unitMicroseconds[name];
  if (length !== undefined) return (to - from) / length;
  const months = unitMonths[name];
  if (months === undefined) throw new SqlError('42000', `unknown unit ${unit}`);
  if (to < from) return -difference(unit, to, from);
  const [a, b] = [splitTimestamp(from), splitTimestamp(to)];
  const [x, y] = [civilOfDays(a.days), civilOfDays(b.days)];
  const isShort = y.day < x.day || (y.day === x.day && b.time < a.time);
  const count = (y.year - x.year) * 12 + y.month - x.month - (isShort ? 1 : 0);
  return BigInt(Math.trunc(count / months));
}

const numbers = strict({
  'sqrt(float8) float8': (x: number) => (x < 0 ? null : Math.sqrt(x)),
  'power(float8, float8) float8': (x: number, y: number) => x ** y,
  'pow(float8, float8) float8': (x: number, y: number) => x ** y,
  'exp(float8) float8': Math.exp,
  'ln(float8) float8': (x: number) => (x <= 0 ? null : Math.log(x)),
  'log(float8) float8': (x: number) => (x <= 0 ? null : Math.log(x)),
  'log2(float8) float8': (x: number) => (x <= 0 ? null : Math.log2(x)),
  'log10(float8) float8': (x: number) => (x <= 0 ? null : Math.log10(x)),
  'log(float8, float8) float8': (base: number, x: number) =>
    base <= 0 || base === 1 || x <= 0 ? null : Math.log(x) / Math.log(base),
  'sign(float8) int8': (x: number) => BigInt(Math.sign(x)),
  'pi() float8': () => Math.PI,
  'sin(float8) float8': Math.sin,
  'cos(float8) float8': Math.cos,
  'tan(float8) float8': Math.tan,
  'bit_count(int8) int8': (x: bigint) => BigInt(BigInt.asUintN(64, x).toString(2).replaceAll('0', '').length),
});

/** The document at the paths: one path gives the part itself, several an array of what was found. */
function extract({ value }: JsonDocument, ...paths: string[]): JsonDocument | null {
  const found = paths.flatMap((path) => mysqlJsonPath(value, path));
  if (found.length === 0) return null;
  const isOne = paths.length === 1 && !/\*/.test(paths[0] ?? '');
  return jsonDocument(isOne ? found[0] : found);
}

function unquote(text: string): string {
  if (!/^".*"$/s.test(text)) return text;
  return String(parseJsonDocument(text).value);
}

const documents = strict({
  'json_extract(jsonb, variadic text) jsonb': extract,
  'json_unquote(text) text': unquote,
  'json_length(jsonb) int8': ({ value }: JsonDocument) =>
    BigInt(Array.isArray(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : 1),
  'json_type(jsonb) text': ({ value }: JsonDocument) => jsonType(value),
  'json_keys(jsonb) jsonb': ({ value }: JsonDocument) =>
    isJsonObject(value) ? jsonDocument(Object.keys(value)) : null,
});

function jsonType(value: unknown): string {
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return 'ARRAY';
  if (typeof value === 'number') return Number.isInteger(value) ? 'INTEGER' : 'DOUBLE';
  return isJsonObject(value) ? 'OBJECT' : typeof value === 'object' ? 'DECIMAL' : (typeof value).toUpperCase();
}

const byType = typedNullable({
  'json_array(variadic any) jsonb':
    ({ types: given }) =>
    (...values: SqlValue[]) =>
      jsonDocument(values.map((value, i) => mysqlDocument(value, given, i))),
  'json_object(variadic any) jsonb':
    ({ types: given }) =>
    (...values: SqlValue[]) => {
      if (values.length % 2 === 1)
        throw new SqlError('42000', "Incorrect parameter count in the call to native function 'json_object'", {
          mysqlNumber: 1582,
        });
      const names = values.filter((_, i) => i % 2 === 0);
      if (names.includes(null))
        throw new SqlError('22032', 'JSON documents may not contain NULL member names.', { mysqlNumber: 3158 });
      return jsonDocument(
        objectOf(
          names.map((name, i) => [
            mysqlText(name, given, i * 2),
            mysqlDocument(values[i * 2 + 1] ?? null, given, i * 2 + 1),
          ]),
        ),
      );
    },
  'field(text, variadic text) int8':
    () =>
    (wanted: string | null, ...texts: (string | null)[]) =>
      BigInt(wanted === null ? 0 : texts.findIndex((each) => each !== null && foldText(each) === foldText(wanted)) + 1),
  'concat_ws(text, variadic text) text':
    () =>
    (separator: string | null, ...texts: (string | null)[]) =>
      separator === null ? null : texts.filter((text) => text !== null).join(separator),
  'elt(int4, variadic text) text':
    () =>
    (index: number | null, ...texts: (string | null)[]) =>
      index === null ? null : (texts[index - 1] ?? null),
});

const empties = nullable({
  'json_array() jsonb': () => jsonDocument([]),
  'json_object() jsonb': () => jsonDocument(objectOf([])),
  'json_valid(text) int4': (text: string | null) => (text === null ? null : isValid(text) ? 1 : 0),
  'json_quote(text) text': (text: string | null) => (text === null ? null : formatJsonDocument(text)),
});

function isValid(text: string): boolean {
  try {
    parseJsonDocument(text);
    return true;
  } catch {
    return false;
  }
}

export const mysqlFunctionTable = tableOf([
  ...session,
  ...changing,
  ...volatile(mysqlLocks),
  ...strings,
  ...strict(built),
  ...days,
  ...numbers,
  ...documents,
  ...jsonChanges,
  ...byType,
  ...empties,
  ...mysqlByteFunctions,
]);
