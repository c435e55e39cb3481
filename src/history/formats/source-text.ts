/** The bytes of a source as a whole, as text, or as lines; and the numbers of other tools, which may be longer than a double holds. */
import { InputError, joinBytes, type Place } from '../../base/index.ts';
import { copyValue, type Value } from '../value.ts';
import type { HistorySource } from './format.ts';

/** All of it. For formats that cannot be read in pieces. */
export async function bytesOf(source: HistorySource): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of source.chunks()) parts.push(chunk.slice()); // a chunk is only good until the next
  return joinBytes(parts);
}

/** Pieces of text of any size, without a byte order mark. @throws InputError `history/encoding` */
export async function* textOf(source: HistorySource): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of source.chunks()) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw new InputError('history/encoding', 'the text is not UTF-8');
    throw error;
  }
}

export interface Lines {
  /** The number of the first of them, from 1. */
  readonly first: number;
  readonly lines: readonly string[];
}

/** Lines without their ends, in groups as the pieces come. */
export async function* linesOf(source: HistorySource): AsyncGenerator<Lines> {
  let first = 1;
  let rest = '';
  for await (const piece of textOf(source)) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield { first, lines: lines.map(withoutReturn) };
    first += lines.length;
  }
  if (rest !== '') yield { first, lines: [withoutReturn(rest)] };
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** What a file begins with, for `detect`: one character a byte, no space before it. */
export function headOf(firstBytes: Uint8Array): string {
  const text = Array.from(firstBytes.subarray(0, headBytes), (byte) => String.fromCharCode(byte)).join('');
  return text.replace(/^(?:\u00ef\u00bb\u00bf)?\s*/, '');
}

/** Is the whole text one array, vector or list, of which the end is missing where it was cut? */
export function beginsList(firstBytes: Uint8Array): boolean {
  return /^(?:;[^\n]*\n|[\s,])*[[(]/.test(headOf(firstBytes));
}

const headBytes = 4_096;

/** An integer as a number where that is exact, else its digits: neighbouring 64-bit integers must not become one value. */
export function exactInteger(digits: string): number | string {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number + 0 : digits;
}

/** `exactInteger` of a 64-bit integer. */
export function exactBigInt(integer: bigint): number | string {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : String(integer);
}

/** JSON.parse, but integers that a double does not hold become their digits. @throws InputError `history/syntax` */
export function parseExactJson(text: string, place: Place): unknown {
  try {
    return JSON.parse(/\d{16}/.test(text) ? text.replace(stringOrLongInteger, quoteInexact) : text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new InputError('history/syntax', 'this is no JSON', place);
    if (error instanceof RangeError) throw new InputError('history/syntax', 'nested too deep', place);
    throw error;
  }
}

const stringOrLongInteger = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[1-9]\d{15,}(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function quoteInexact(token: string): string {
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;
}

/** @throws InputError `history/value` */
export function exactValue(value: unknown, place: Place): Value {
  if (Object.is(value, -0)) return 0;
  try {
    return copyValue(value);
  } catch (error) {
    throw error instanceof InputError && error.place === undefined
      ? new InputError(error.code, error.message, place)
      : error;
  }
}

/** The name of a key that a tool numbers or names. @throws InputError `history/field` */
export function keyName(key: unknown, place: Place): string {
  if (typeof key === 'string') return key;
  if (typeof key === 'number' && Number.isFinite(key)) return String(key);
  throw new InputError('history/field', `a key is a number or a text, not ${JSON.stringify(key) ?? 'nothing'}`, place);
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The array in a field. @throws InputError `history/field` */
export function arrayIn(object: JsonObject, field: string, place: Place): readonly unknown[] {
  const value = object[field];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw new InputError('history/field', `"${field}" is an array, not ${shown(value)}`, place);
}

/** A short text of any value, for messages. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

/** `dir/T11.log` is `T11`. */
export function baseName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? name;
  return last.replace(/\.[^.]+$/, '');
}
