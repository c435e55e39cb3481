/**
 * Calls with large values are charged before they are made: a text of a gigabyte is refused before it fills the memory of the process. Most
 * functions give no more than a multiple of what they are given; those that can give more have a line in `madeBytes`.
 */
import { SqlError, type SqlValue } from '../model/index.ts';
import { resetDecimals } from './numeric-functions.ts';
import type { Call, Implementation } from './signature.ts';
import { chargeFor, flattened, isSized, largeBytes, SPLIT_FACTOR, textBytes, valueBytes } from './value-bytes.ts';

/** The same function, whose large values are charged to the statement. */
export function metered(name: string, call: Call, implementation: Implementation): Implementation {
  if (watchedNumerics.has(name) && call.types.some(({ name: type }) => type === 'numeric'))
    return watched(name, implementation);
  if (!isSized(call.result) && !call.types.some(isSized)) return implementation;
  const factor = frugal.has(name) ? FRUGAL_FACTOR : SPLIT_FACTOR;
  const bytesOf = isSized(call.result) && !givesParts.has(name) ? valueBytes : textBytes;
  const made = madeBytes[name];
  if (made === undefined && call.types.length === 1) {
    return (execution, value = null) => {
      chargeFor(execution.budget, bytesOf(value) * factor);
      return flat(implementation(execution, value));
    };
  }
  if (made === undefined && call.types.length === 2) {
    return (execution, a = null, b = null) => {
      chargeFor(execution.budget, (bytesOf(a) + bytesOf(b)) * factor);
      return flat(implementation(execution, a, b));
    };
  }
  return (execution, ...values) => {
    let bytes = made === undefined || values.includes(null) ? 0 : made(values);
    for (const value of values) bytes += bytesOf(value) * factor;
    chargeFor(execution.budget, bytes);
    return flat(implementation(execution, ...values));
  };
}

/** Functions of numerics whose time grows faster than the number of their digits. */
const watchedNumerics: ReadonlySet<string> = new Set(
  '* / % ^ div mod power pow exp ln log log10 sqrt gcd lcm'.split(' '),
);
/** Of them those that make many digits of few. */
const makesDigits: ReadonlySet<string> = new Set(['^', 'power', 'pow', 'exp']);

function watched(name: string, implementation: Implementation): Implementation {
  const isAlways = makesDigits.has(name);
  return (execution, a = null, b = null) => {
    const { budget } = execution;
    if (budget === undefined || !(isAlways || hasManyDigits(a) || hasManyDigits(b)))
      return implementation(execution, a, b);
    try {
      return budget.stoppable(() => implementation(execution, a, b));
    } catch (error) {
      resetDecimals();
      throw error;
    }
  };
}

const WORDS_UNWATCHED = 64;

function hasManyDigits(value: SqlValue): boolean {
  if (typeof value !== 'object' || value === null || !('kind' in value) || value.kind !== 'numeric') return false;
  return value.value.isFinite() && value.value.d.length > WORDS_UNWATCHED;
}

function flat(value: SqlValue): SqlValue {
  return typeof value === 'string' && value.length > largeBytes ? flattened(value) : value;
}

const FRUGAL_FACTOR = 3;

/** Functions that read a text as a whole. */
const frugal: ReadonlySet<string> = new Set(
  '|| length char_length character_length octet_length bit_length concat concat_ws repeat space lpad rpad replace md5 sha1 sha224 sha256 sha384 sha512 starts_with strpos encode decode convert_from convert_to ascii'.split(
    ' ',
  ),
);

/** Functions that give a part of a document. */
const givesParts: ReadonlySet<string> = new Set(['->', '->>', '#>', '#>>', 'json_extract']);

/** 1 GB, as PostgreSQL's values: MaxAllocSize. */
const textBytesMax = 2 ** 30 - 1;
/** arrayutils.c, MaxArraySize. */
const arrayElementsMax = 134_217_727;

type Made = (values: readonly SqlValue[]) => number;

/** How many bytes a call makes, of functions that make far more than they are given. @throws SqlError 54000 more than PostgreSQL's limits */
const madeBytes: Readonly<Record<string, Made>> = {
  repeat: ([text, count]) =>
    ofText(textOf(text).length * numberOf(count), Buffer.byteLength(textOf(text)) * numberOf(count)),
  space: ([count]) => ofText(numberOf(count), numberOf(count)),
  lpad: ([, length]) => ofText(numberOf(length), numberOf(length)),
  rpad: ([, length]) => ofText(numberOf(length), numberOf(length)),
  replace: ([text, from, to]) => occurrences(textOf(text), textOf(from)) * textOf(to).length,
  format: ([template]) => widths(textOf(template)),
  array_fill: ([, lengths]) => elementsMade(lengths) * 8,
};

function textOf(value: SqlValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: SqlValue | undefined): number {
  return Math.max(0, Number(typeof value === 'bigint' || typeof value === 'number' ? value : 0));
}

function ofText(length: number, bytes: number): number {
  if (bytes > textBytesMax) throw new SqlError('54000', 'requested length too large');
  return length;
}

function occurrences(text: string, part: string): number {
  if (part === '') return 0;
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}

function widths(template: string): number {
  let bytes = 0;
  for (const [, width] of template.matchAll(/%(?:\d+\$)?-?(\d+)/g)) bytes += Number(width);
  if (bytes > textBytesMax) throw new SqlError('54000', 'requested length too large');
  return bytes;
}

function elementsMade(lengths: SqlValue | undefined): number {
  if (typeof lengths !== 'object' || lengths === null || !('elements' in lengths)) return 0;
  const count = lengths.elements.reduce<number>((product, each) => product * numberOf(each), 1);
  if (count > arrayElementsMax) {
    throw new SqlError('54000', `array size exceeds the maximum allowed (${arrayElementsMax})`);
  }
  return count;
}
