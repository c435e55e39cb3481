/** Functions of strings and bytes. PostgreSQL manual, tables 9.9 to 9.12. Characters are code points. */
import { createHash } from 'node:crypto';
import { notSupported, SqlError, types, arrayValue, type SqlArray, type SqlValue } from '../model/index.ts';
import { integerOf } from './cast-values.ts';
import { md5 } from './session-functions.ts';
import { eachMatch, matchesRegex, withRegex } from './regex.ts';
import type { Execution } from '../execution.ts';
import { chargeFor } from './value-bytes.ts';
import { type Call, nullable, type Plain, type Signature, stoppable, strict, typedNullable } from './signature.ts';
import { castText, shownText } from './text-operators.ts';

type Present = Exclude<SqlValue, null>;

export function charactersOf(text: string): string[] {
  return Array.from(text);
}

export function characterCount(text: string): number {
  // Two units make one character where the first is a high surrogate.
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/** From a place that may lie before the start: what is before it counts. @throws SqlError 22011 */
function substring(text: string, from: number, count?: number): string {
  if (count !== undefined && count < 0) throw new SqlError('22011', 'negative substring length not allowed');
  const start = Math.max(1, from);
  const end = count === undefined ? Infinity : from + count;
  return end <= start
    ? ''
    : charactersOf(text)
        .slice(start - 1, end - 1)
        .join('');
}

function substringOfBytes(bytes: Uint8Array, from: number, count?: number): Uint8Array {
  if (count !== undefined && count < 0) throw new SqlError('22011', 'negative substring length not allowed');
  const start = Math.max(1, from);
  const end = count === undefined ? Infinity : from + count;
  return end <= start ? new Uint8Array(0) : bytes.slice(start - 1, end - 1);
}

/** From 1; 0: not there. */
export function positionIn(text: string, part: string): number {
  const at = text.indexOf(part);
  return at === -1 ? 0 : characterCount(text.slice(0, at)) + 1;
}

function trimmed(text: string, characters: string, atStart: boolean, atEnd: boolean): string {
  const set = new Set(charactersOf(characters));
  const all = charactersOf(text);
  const isKept = (each: string): boolean => !set.has(each);
  const start = atStart ? all.findIndex(isKept) : 0;
  if (start < 0) return '';
  const end = atEnd ? all.findLastIndex(isKept) + 1 : all.length;
  return all.slice(start, end).join('');
}

function padded(text: string, length: number, fill: string, atStart: boolean): string {
  const wanted = Math.max(0, length);
  const missing = wanted - characterCount(text);
  if (missing <= 0) return charactersOf(text).slice(0, wanted).join('');
  if (fill === '') return text;
  const padding = filledTo(missing, fill);
  return atStart ? padding + text : text + padding;
}

/** So many characters of a text that is repeated. */
export function filledTo(count: number, fill: string): string {
  const characters = charactersOf(fill);
  const rest = characters.slice(0, count % characters.length).join('');
  return fill.repeat(Math.floor(count / characters.length)) + rest;
}

export function repeated(text: string, count: number): string {
  return text.repeat(Math.max(0, count));
}

/** A negative count means all but so many. */
export function leftOf(text: string, count: number): string {
  return charactersOf(text).slice(0, count).join('');
}

export function rightOf(text: string, count: number): string {
  if (count === 0) return '';
  return charactersOf(text).slice(-count).join('');
}

function splitPart(text: string, separator: string, field: number): string {
  if (field === 0) throw new SqlError('22023', 'field position must not be zero');
  if (text === '') return '';
  const parts = separator === '' ? [text] : text.split(separator);
  return parts.at(field > 0 ? field - 1 : field) ?? '';
}

/** Without locale, as lower() and upper() of collation C: only ASCII letters change. */
function changeCase(text: string, pattern: RegExp, change: (letter: string) => string): string {
  return text.replace(pattern, change);
}

function lower(text: string): string {
  return changeCase(text, /[A-Z]+/g, (letters) => letters.toLowerCase());
}

function upper(text: string): string {
  return changeCase(text, /[a-z]+/g, (letters) => letters.toUpperCase());
}

function capitalized(text: string): string {
  return lower(text).replace(/[A-Za-z0-9]+/g, (word) => upper(word.slice(0, 1)) + word.slice(1));
}

function translate(text: string, from: string, to: string): string {
  const targets = charactersOf(to);
  const map = new Map<string, string>();
  for (const [i, each] of charactersOf(from).entries()) {
    if (!map.has(each)) map.set(each, targets[i] ?? '');
  }
  return charactersOf(text)
    .map((each) => map.get(each) ?? each)
    .join('');
}

function overlay(text: string, replacement: string, from: number, count = characterCount(replacement)): string {
  if (from <= 0) throw new SqlError('22011', 'negative substring length not allowed');
  return substring(text, 1, from - 1) + replacement + substring(text, Number(integerOf(from + count, types.int4)));
}

function character(code: number): string {
  if (code === 0) throw new SqlError('54000', 'null character not permitted');
  if (code < 0) throw new SqlError('22023', 'character number must be positive');
  if (code > 0x10_ffff || (code >= 0xd800 && code < 0xe000)) {
    throw new SqlError('54000', `requested character not valid for encoding: ${code}`);
  }
  return String.fromCodePoint(code);
}

const reservedWords =
  /^(?:all|analyse|analyze|and|any|array|as|asc|asymmetric|authorization|between|bigint|binary|bit|boolean|both|case|cast|char|character|check|coalesce|collate|collation|column|concurrently|constraint|create|cross|current_catalog|current_date|current_role|current_schema|current_time|current_timestamp|current_user|dec|decimal|default|deferrable|desc|distinct|do|else|end|except|exists|extract|false|fetch|float|for|foreign|freeze|from|full|grant|greatest|group|grouping|having|ilike|in|initially|inner|inout|int|integer|intersect|interval|into|is|isnull|join|lateral|leading|least|left|like|limit|localtime|localtimestamp|national|natural|nchar|none|normalize|not|notnull|null|nullif|numeric|offset|on|only|or|order|out|outer|overlaps|overlay|placing|position|precision|primary|real|references|returning|right|row|select|session_user|setof|similar|smallint|some|substring|symmetric|table|tablesample|then|time|timestamp|to|trailing|treat|trim|true|union|unique|user|using|values|varchar|variadic|verbose|when|where|window|with|xmlattributes|xmlconcat|xmlelement|xmlexists|xmlforest|xmlnamespaces|xmlparse|xmlpi|xmlroot|xmlserialize|xmltable)$/;

function quoteIdentifier(name: string): string {
  const isPlain = /^[a-z_][a-z0-9_$]*$/.test(name) && !reservedWords.test(name);
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`;
}

function quoteLiteral(text: string): string {
  const quoted = `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`;
  return text.includes('\\') ? ` E${quoted}`.trimStart() : quoted;
}

/** Matches of the first group, or of all where the pattern has none. */
function regexMatch(execution: Execution, text: string, pattern: string, flags = ''): SqlArray | null {
  if (flags.includes('g')) {
    throw new SqlError('22023', 'regexp_match() does not support the "global" option', {
      hint: 'Use the regexp_matches function instead.',
    });
  }
  const match = withRegex(execution, text, [pattern, flags], (regex) => regex.exec(text));
  if (match === null) return null;
  const groups = match.length > 1 ? match.slice(1) : [match[0]];
  return arrayValue(groups.map((group) => (group as string | undefined) ?? null));
}

/** `\1` and `\&` in the replacement; a backslash before anything else stands for itself. */
function regexReplace(execution: Execution, text: string, pattern: string, replacement: string, flags = ''): string {
  let bytes = 0;
  const replaced = (...found: unknown[]): string => {
    const part = replacement.replace(/\\([1-9&\\])/g, (_all, what: string) => {
      if (what === '\\') return '\\';
      const group = found[what === '&' ? 0 : Number(what)];
      return typeof group === 'string' ? group : '';
    });
    bytes += part.length;
    chargeFor(execution.budget, bytes);
    return part;
  };
  return withRegex(execution, text, [pattern, flags], (regex) => text.replace(regex, replaced));
}

/** SUBSTRING(text FROM pattern): the first group, or the whole match. */
function regexSubstring(execution: Execution, text: string, pattern: string): string | null {
  const match = withRegex(execution, text, [pattern], (regex) => regex.exec(text));
  return match === null ? null : ((match.length > 1 ? match[1] : match[0]) ?? null);
}

function hash(algorithm: string): (bytes: Uint8Array) => Uint8Array {
  return (bytes) => new Uint8Array(createHash(algorithm).update(bytes).digest());
}

function encode(bytes: Uint8Array, format: string): string {
  const buffer = Buffer.from(bytes);
  switch (format.toLowerCase()) {
    case 'hex':
      return buffer.toString('hex');
    case 'base64':
      return buffer.toString('base64').replace(/(.{76})(?=.)/g, '$1\n');
    default:
      throw unknownEncoding(format);
  }
}

function decode(text: string, format: string): Uint8Array {
  switch (format.toLowerCase()) {
    case 'hex': {
      const hex = text.replaceAll(/\s/g, '');
      const wrong = /[^0-9a-f]/i.exec(hex)?.[0];
      if (wrong !== undefined) throw new SqlError('22023', `invalid hexadecimal digit: "${wrong}"`);
      if (hex.length % 2 === 1) throw new SqlError('22023', 'invalid hexadecimal data: odd number of digits');
      return new Uint8Array(Buffer.from(hex, 'hex'));
    }
    case 'base64':
      return new Uint8Array(Buffer.from(text, 'base64'));
    default:
      throw unknownEncoding(format);
  }
}

function unknownEncoding(format: string): SqlError {
  return ['escape'].includes(format)
    ? notSupported(`encoding "${format}"`)
    : new SqlError('22023', `unrecognized encoding: "${format}"`);
}

const plain = strict({
  'length(text) int4': characterCount,
  'length(bpchar) int4': (text: string) => characterCount(text.replace(/ +$/, '')),
  'char_length(text) int4': characterCount,
  'char_length(bpchar) int4': (text: string) => characterCount(text.replace(/ +$/, '')),
  'character_length(text) int4': characterCount,
  'character_length(bpchar) int4': (text: string) => characterCount(text.replace(/ +$/, '')),
  'length(bytea) int4': (bytes: Uint8Array) => bytes.length,
  'octet_length(text) int4': (text: string) => Buffer.byteLength(text),
  'octet_length(bpchar) int4': (text: string) => Buffer.byteLength(text),
  'octet_length(bytea) int4': (bytes: Uint8Array) => bytes.length,
  'bit_length(text) int4': (text: string) => Buffer.byteLength(text) * 8,
  'bit_length(bytea) int4': (bytes: Uint8Array) => bytes.length * 8,
  'lower(text) text': lower,
  'upper(text) text': upper,
  'initcap(text) text': capitalized,
  'substring(text, int4) text': substring,
  'substring(text, int4, int4) text': substring,
  'substring(text, text, text) text': () => {
    throw notSupported('SUBSTRING with SIMILAR');
  },
  'position(bytea, bytea) int4': (bytes: Uint8Array, part: Uint8Array) => Buffer.from(bytes).indexOf(part) + 1,
  'substring(bytea, int4) bytea': substringOfBytes,
  'substring(bytea, int4, int4) bytea': substringOfBytes,
  'substr(text, int4) text': substring,
  'substr(text, int4, int4) text': substring,
  'position(text, text) int4': positionIn,
  'strpos(text, text) int4': positionIn,
  'replace(text, text, text) text': (text: string, from: string, to: string) =>
    from === '' ? text : text.replaceAll(from, () => to),
  'translate(text, text, text) text': translate,
  'left(text, int4) text': leftOf,
  'right(text, int4) text': rightOf,
  'lpad(text, int4) text': (text: string, length: number) => padded(text, length, ' ', true),
  'lpad(text, int4, text) text': (text: string, length: number, fill: string) => padded(text, length, fill, true),
  'rpad(text, int4) text': (text: string, length: number) => padded(text, length, ' ', false),
  'rpad(text, int4, text) text': (text: string, length: number, fill: string) => padded(text, length, fill, false),
  'repeat(text, int4) text': repeated,
  'reverse(text) text': (text: string) => charactersOf(text).toReversed().join(''),
  'split_part(text, text, int4) text': splitPart,
  'starts_with(text, text) bool': (text: string, start: string) => text.startsWith(start),
  'overlay(text, text, int4) text': overlay,
  'overlay(text, text, int4, int4) text': overlay,
  'md5(text) text': md5,
  'sha224(bytea) bytea': hash('sha224'),
  'sha256(bytea) bytea': hash('sha256'),
  'sha384(bytea) bytea': hash('sha384'),
  'sha512(bytea) bytea': hash('sha512'),
  'encode(bytea, text) text': encode,
  'decode(text, text) bytea': decode,
  'ascii(text) int4': (text: string) => text.codePointAt(0) ?? 0,
  'chr(int4) text': character,
  'to_hex(int4) text': (value: number) => (value >>> 0).toString(16),
  'to_hex(int8) text': (value: bigint) => BigInt.asUintN(64, value).toString(16),
  'quote_ident(text) text': quoteIdentifier,
  'quote_literal(text) text': quoteLiteral,
  'convert_from(bytea, name) text': (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8'),
  'convert_to(text, name) bytea': (text: string) => new Uint8Array(Buffer.from(text)),
});

const regexes = stoppable({
  'substring(text, text) text': regexSubstring,
  'regexp_match(text, text) text[]': regexMatch,
  'regexp_match(text, text, text) text[]': regexMatch,
  'regexp_replace(text, text, text) text': regexReplace,
  'regexp_replace(text, text, text, text) text': regexReplace,
  'regexp_like(text, text) bool': (execution, text: string, pattern: string) =>
    matchesRegex(execution, text, pattern, ''),
  'regexp_like(text, text, text) bool': matchesRegex,
  'regexp_count(text, text) int4': regexCount,
  'regexp_split_to_array(text, text) text[]': (execution, text: string, pattern: string) =>
    arrayValue(withRegex(execution, text, [pattern], (regex) => text.split(regex))),
});

function regexCount(execution: Execution, text: string, pattern: string): number {
  let count = 0;
  for (const _ of eachMatch(execution, text, pattern, '')) count += 1;
  return count;
}

/** Names, and whether they trim the start and the end. */
export const trimFunctions = [
  ['btrim', true, true],
  ['ltrim', true, false],
  ['rtrim', false, true],
] as const;

const built: Record<string, Plain> = {};
for (const [name, atStart, atEnd] of trimFunctions) {
  built[`${name}(text) text`] = (text: string) => trimmed(text, ' ', atStart, atEnd);
  built[`${name}(text, text) text`] = (text: string, set: string) => trimmed(text, set, atStart, atEnd);
}

function joined({ types: given }: Call, separatorFirst: boolean) {
  const shows = given.map((type) => shownText(type));
  return (...values: (Present | null)[]) => {
    const texts = values.map((value, i) => (value === null ? null : (shows[i]?.(value) ?? '')));
    if (!separatorFirst) return texts.join('');
    const [separator, ...parts] = texts;
    return separator === null || separator === undefined ? null : parts.filter((part) => part !== null).join(separator);
  };
}

const formatPattern = /%(?:(\d+)\$)?(-)?(\d+)?(.)?/g;

/** `format('%s %I %L', ...)`. PostgreSQL manual, 9.4.1. */
function formatted({ types: given }: Call) {
  const shows = given.map((type) => shownText(type));
  return (template: string | null, ...values: (Present | null)[]) => {
    if (template === null) return null;
    let next = 0;
    return template.replace(formatPattern, (_all, place?: string, minus?: string, width?: string, kind?: string) => {
      if (kind === '%') return '%';
      if (kind === undefined) throw new SqlError('22023', 'unterminated format() type specifier');
      if (!'sIL'.includes(kind)) throw new SqlError('22023', `unrecognized format() type specifier "${kind}"`);
      const index = place === undefined ? next : Number(place) - 1;
      next = index + 1;
      if (index < 0) throw new SqlError('22023', 'format specifies argument 0, but arguments are numbered from 1');
      if (index >= values.length) throw new SqlError('22023', 'too few arguments for format()');
      const text = formatPart(values[index] ?? null, kind, shows[index + 1]);
      const length = Number(width ?? 0);
      return minus === undefined ? text.padStart(length) : text.padEnd(length);
    });
  };
}

function formatPart(value: Present | null, kind: string, show: ((value: Present) => string) | undefined): string {
  const text = value === null ? null : (show?.(value) ?? '');
  if (kind === 's') return text ?? '';
  if (kind === 'L') return text === null ? 'NULL' : quoteLiteral(text);
  if (text === null) throw new SqlError('22004', 'null values cannot be formatted as an SQL identifier');
  return quoteIdentifier(text);
}

export const textFunctions: readonly Signature[] = [
  ...plain,
  ...regexes,
  ...strict(built),
  ...nullable({ 'quote_nullable(text) text': (text: string | null) => (text === null ? 'NULL' : quoteLiteral(text)) }),
  ...typedNullable({
    'concat(variadic any) text': (call) => joined(call, false),
    'concat_ws(text, variadic any) text': (call) => joined(call, true),
    'quote_literal(anyelement) text': ({ types: [type = types.text] }) => {
      const show = castText(type);
      return (value: Present | null) => (value === null ? null : quoteLiteral(show(value)));
    },
    'quote_nullable(anyelement) text': ({ types: [type = types.text] }) => {
      const show = castText(type);
      return (value: Present | null) => (value === null ? 'NULL' : quoteLiteral(show(value)));
    },
    'format(text) text': formatted,
    'format(text, variadic any) text': formatted,
  }),
];
