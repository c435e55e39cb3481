/** Rows of results. MySQL Internals, "Text Resultset Row" and "Binary Protocol Resultset Row". */
import { WireError } from '../index.ts';
import { readBinaryValue, writeBinaryValue, type BinaryType, type BinaryValue } from './binary-value.ts';
import { ByteReader, ByteWriter } from './bytes.ts';
import { columnFlag, columnType, has } from './constants.ts';
import type { ColumnDefinition } from './column-definition.ts';

const textNull = 0xfb;

/** Every value is the bytes of its text; `null`: SQL's null. */
export function encodeTextRow(values: readonly (Uint8Array | string | null)[]): Uint8Array {
  const writer = new ByteWriter();
  for (const value of values) {
    if (value === null) writer.uint8(textNull);
    else if (typeof value === 'string') writer.lengthEncodedText(value);
    else writer.lengthEncodedBytes(value);
  }
  return writer.finish();
}

export function decodeTextRow(payload: Uint8Array, columns: number): (Uint8Array | null)[] {
  const reader = new ByteReader(payload);
  const values: (Uint8Array | null)[] = [];
  for (let column = 0; column < columns; column++) {
    if (reader.peek() === textNull) {
      reader.skip(1);
      values.push(null);
    } else values.push(reader.lengthEncodedBytes());
  }
  reader.end();
  return values;
}

/** The first two bits of a row's null bitmap mean nothing; parameters have none of them. */
const rowNullOffset = 2;

export function encodeBinaryRow(types: readonly number[], values: readonly BinaryValue[]): Uint8Array {
  const writer = new ByteWriter().uint8(0).bytes(nullBitmap(values, rowNullOffset));
  for (const [column, value] of values.entries())
    if (value !== null) writeBinaryValue(writer, types[column] ?? columnType.null, value);
  return writer.finish();
}

export function decodeBinaryRow(payload: Uint8Array, columns: readonly BinaryType[]): BinaryValue[] {
  const reader = new ByteReader(payload);
  if (reader.uint8() !== 0) throw new WireError('malformed', 'a binary row does not begin with a zero byte');
  const isNull = readNullBitmap(reader, columns.length, rowNullOffset);
  const values = columns.map((column, i) => (isNull(i) ? null : readBinaryValue(reader, column)));
  reader.end();
  return values;
}

export function binaryTypeOf(column: ColumnDefinition): BinaryType {
  return { type: column.type, isUnsigned: has(column.flags, columnFlag.unsigned) };
}

export function nullBitmap(values: readonly BinaryValue[], offset: number): Uint8Array {
  const bitmap = new Uint8Array(Math.ceil((values.length + offset) / 8));
  for (const [i, value] of values.entries()) {
    const at = (i + offset) >> 3;
    if (value === null) bitmap[at] = (bitmap[at] ?? 0) | (1 << ((i + offset) & 7));
  }
  return bitmap;
}

export function readNullBitmap(reader: ByteReader, count: number, offset: number): (index: number) => boolean {
  const bitmap = reader.bytes(Math.ceil((count + offset) / 8));
  return (index) => has(bitmap[(index + offset) >> 3] ?? 0, 1 << ((index + offset) & 7));
}
