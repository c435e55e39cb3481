/** One value of the binary protocol, in a row or as a parameter. MySQL Internals, "Binary Protocol Value". */
import { WireError } from '../index.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';
import { columnType } from './constants.ts';
import { readDateTime, readTime, writeDateTime, writeTime, type WireDateTime, type WireTime } from './temporal.ts';

/**
 * By type: `number` for the integers up to 32 bits, year, float and double; `bigint` for 64 bits; `Uint8Array` for everything that is sent
 * with a length: texts, blobs, decimals, JSON, bits.
 */
export type BinaryValue = null | number | bigint | Uint8Array | WireDateTime | WireTime;

export interface BinaryType {
  /** MYSQL_TYPE_*. */
  readonly type: number;
  readonly isUnsigned: boolean;
}

export function readBinaryValue(reader: ByteReader, { type, isUnsigned }: BinaryType): BinaryValue {
  switch (type) {
    case columnType.null:
      return null;
    case columnType.tiny:
      return isUnsigned ? reader.uint8() : reader.int8();
    case columnType.short:
    case columnType.year:
      return isUnsigned ? reader.uint16() : reader.int16();
    case columnType.long:
    case columnType.int24:
      return isUnsigned ? reader.uint32() : reader.int32();
    case columnType.longlong:
      return isUnsigned ? reader.uint64() : reader.int64();
    case columnType.float:
      return reader.float();
    case columnType.double:
      return reader.double();
    case columnType.date:
    case columnType.datetime:
    case columnType.timestamp:
      return readDateTime(reader);
    case columnType.time:
      return readTime(reader);
    default:
      if (!isLengthEncoded(type)) throw new WireError('malformed', `a value of the unknown type ${type}`);
      return reader.lengthEncodedBytes();
  }
}

/** @throws WireError when the value is not one of this type */
export function writeBinaryValue(writer: ByteWriter, type: number, value: BinaryValue): void {
  if (typeof value === 'number' && writeNumber(writer, type, value)) return;
  if (typeof value === 'bigint' && type === columnType.longlong) writer.uint64(value);
  else if (value instanceof Uint8Array && isLengthEncoded(type)) writer.lengthEncodedBytes(value);
  else if (isKind(value, 'datetime') && isDateTime(type)) writeDateTime(writer, value);
  else if (isKind(value, 'time') && type === columnType.time) writeTime(writer, value);
  else if (value !== null || type !== columnType.null)
    throw new WireError('malformed', `a ${typeof value} is no value of type ${type}`);
}

function writeNumber(writer: ByteWriter, type: number, value: number): boolean {
  switch (type) {
    case columnType.tiny:
      writer.int8(value);
      return true;
    case columnType.short:
    case columnType.year:
      writer.int16(value);
      return true;
    case columnType.long:
    case columnType.int24:
      writer.int32(value);
      return true;
    case columnType.float:
      writer.float(value);
      return true;
    case columnType.double:
      writer.double(value);
      return true;
    default:
      return false;
  }
}

function isKind<K extends 'datetime' | 'time'>(
  value: BinaryValue,
  kind: K,
): value is Extract<BinaryValue, { readonly kind: K }> {
  return value !== null && typeof value === 'object' && 'kind' in value && value.kind === kind;
}

function isDateTime(type: number): boolean {
  return type === columnType.date || type === columnType.datetime || type === columnType.timestamp;
}

function isLengthEncoded(type: number): boolean {
  return (
    type === columnType.decimal ||
    type === columnType.varchar ||
    type === columnType.bit ||
    (type >= columnType.json && type <= columnType.geometry)
  );
}
