/**
 * MySQL's string functions on binary strings: they count and compare bytes, and their result is bytes. Reference manual, 14.8 and 12.10.8. A
 * binary string is handled as text of one character a byte (latin1).
 */
import { createHash } from 'node:crypto';
import { type SqlType, types, type SqlValue } from '../model/index.ts';
import { mysqlConversion } from './mysql-values.ts';
import { type Plain, type Signature, strict, typedNullable } from './signature.ts';
import { insertAt, padTo, substringFrom, trimPart } from './mysql-text-parts.ts';
import { trimFunctions } from './text-functions.ts';

function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function bytesOf(latin1: string | null): Uint8Array | null {
  return latin1 === null ? null : new Uint8Array(Buffer.from(latin1, 'latin1'));
}

/** The same arguments, with bytes in the place of texts. */
type BytesFor<Texts extends unknown[]> = {
  [Position in keyof Texts]: Texts[Position] extends string ? Uint8Array : Texts[Position];
};

/** Bytes among the arguments become text of one character a byte; so does the result, back. */
function onBytes<Texts extends unknown[]>(
  compute: (...texts: Texts) => string | null,
): (...values: BytesFor<Texts>) => Uint8Array | null {
  const onText = fromBytes(compute);
  return (...values) => bytesOf(onText(...values));
}

/** The same for a function that gives a number or text. */
function fromBytes<Texts extends unknown[], Result>(
  compute: (...texts: Texts) => Result,
): (...values: BytesFor<Texts>) => Result {
  return (...values) => compute(...(values.map(asText) as Texts));
}

function asText(value: unknown): unknown {
  return value instanceof Uint8Array ? latin1Of(value) : value;
}

const length = (bytes: Uint8Array): bigint => BigInt(bytes.length);
const same = onBytes((text: string) => text);
const substring = onBytes(substringFrom);
const hash = (algorithm: string) => (bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('hex');
const locate = fromBytes((part: string, text: string, from: number = 1) =>
  BigInt(from < 1 ? 0 : text.indexOf(part, from - 1) + 1),
);

const functions = strict({
  'length(bytea) int8': length,
  'octet_length(bytea) int8': length,
  'char_length(bytea) int8': length,
  'character_length(bytea) int8': length,
  'hex(bytea) text': (bytes: Uint8Array) => Buffer.from(bytes).toString('hex').toUpperCase(),
  'ascii(bytea) int4': (bytes: Uint8Array) => bytes[0] ?? 0,
  'md5(bytea) text': hash('md5'),
  'sha1(bytea) text': hash('sha1'),
  'concat(variadic bytea) bytea': onBytes((...texts: string[]) => texts.join('')),
  'lower(bytea) bytea': same,
  'lcase(bytea) bytea': same,
  'upper(bytea) bytea': same,
  'ucase(bytea) bytea': same,
  'left(bytea, int4) bytea': onBytes((text: string, count: number) => text.slice(0, Math.max(0, count))),
  'right(bytea, int4) bytea': onBytes((text: string, count: number) => (count > 0 ? text.slice(-count) : '')),
  'substring(bytea, int4) bytea': substring,
  'substring(bytea, int4, int4) bytea': substring,
  'lpad(bytea, int4, bytea) bytea': onBytes((text: string, count: number, fill: string) =>
    padTo(text, count, fill, true),
  ),
  'rpad(bytea, int4, bytea) bytea': onBytes((text: string, count: number, fill: string) =>
    padTo(text, count, fill, false),
  ),
  'repeat(bytea, int4) bytea': onBytes((text: string, count: number) => text.repeat(Math.max(0, count))),
  'reverse(bytea) bytea': onBytes((text: string) => text.split('').toReversed().join('')),
  'replace(bytea, bytea, bytea) bytea': onBytes((text: string, from: string, to: string) =>
    from === '' ? text : text.replaceAll(from, () => to),
  ),
  'insert(bytea, int4, int4, bytea) bytea': onBytes(insertAt),
  'locate(bytea, bytea) int8': locate,
  'locate(bytea, bytea, int4) int8': locate,
  'instr(bytea, bytea) int8': fromBytes((text: string, part: string) => BigInt(text.indexOf(part) + 1)),
  'strcmp(bytea, bytea) int4': (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b),
  'unhex(bytea) bytea': onBytes((text: string) =>
    /^(?:[0-9a-f]{2})*$/i.test(text) ? Buffer.from(text, 'hex').toString('latin1') : null,
  ),
});
const built: Record<string, Plain> = {};
for (const [name, atStart, atEnd] of trimFunctions) {
  built[`${name}(bytea) bytea`] = onBytes((text: string) => trimPart(text, ' ', atStart, atEnd));
}

const withNulls = typedNullable({
  // Each number is its bytes, the highest first; NULLs are left out.
  'char(variadic any) bytea': ({ types: given }) => {
    const codeOf = given.map(codeReader);
    return (...values: SqlValue[]) =>
      new Uint8Array(
        Buffer.concat(values.flatMap((value, i) => (value === null ? [] : [bytesOfCode(codeOf[i]?.(value) ?? 0n)]))),
      );
  },
});

/** A hexadecimal literal is a number here. */
function codeReader(type: SqlType): (value: Exclude<SqlValue, null>) => bigint {
  if (type.name === 'bytea') return (bytes) => BigInt(`0x0${Buffer.from(bytes as Uint8Array).toString('hex')}`);
  const convert = mysqlConversion(type, types.int8, -1);
  return (value) => convert(value, undefined as never) as bigint;
}

function bytesOfCode(code: bigint): Buffer {
  const digits = BigInt.asUintN(32, code).toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

export const mysqlByteFunctions: readonly Signature[] = [...functions, ...strict(built), ...withNulls];
