/** Protocol::ColumnDefinition41: of a result's columns, and of a prepared statement's parameters. */
import { ByteReader, ByteWriter } from './bytes.ts';

export interface ColumnDefinition {
  /** The database. */
  readonly schema: string;
  /** As the statement calls it, and as it is. */
  readonly table: string;
  readonly originalTable: string;
  readonly name: string;
  readonly originalName: string;
  readonly characterSet: number;
  /** The most bytes that its text can have. */
  readonly length: number;
  /** MYSQL_TYPE_*. */
  readonly type: number;
  readonly flags: number;
  /** Digits after the point; 31: it depends on the value. */
  readonly decimals: number;
}

/** `field-list`: in the answer to COM_FIELD_LIST each has a default value, which here is always null. */
export type ColumnRole = 'result' | 'field-list';

export function encodeColumnDefinition(column: ColumnDefinition, role: ColumnRole = 'result'): Uint8Array {
  const writer = new ByteWriter()
    .lengthEncodedText('def')
    .lengthEncodedText(column.schema)
    .lengthEncodedText(column.table)
    .lengthEncodedText(column.originalTable)
    .lengthEncodedText(column.name)
    .lengthEncodedText(column.originalName)
    .lengthEncoded(fixedBytes)
    .uint16(column.characterSet)
    .uint32(column.length)
    .uint8(column.type)
    .uint16(column.flags)
    .uint8(column.decimals)
    .zeros(2);
  return (role === 'field-list' ? writer.uint8(nullText) : writer).finish();
}

export function decodeColumnDefinition(payload: Uint8Array, role: ColumnRole = 'result'): ColumnDefinition {
  const reader = new ByteReader(payload);
  reader.lengthEncodedBytes(); // the catalog, which is always `def`
  const schema = reader.lengthEncodedText();
  const table = reader.lengthEncodedText();
  const originalTable = reader.lengthEncodedText();
  const name = reader.lengthEncodedText();
  const originalName = reader.lengthEncodedText();
  const fixed = new ByteReader(reader.lengthEncodedBytes());
  const characterSet = fixed.uint16();
  const length = fixed.uint32();
  const type = fixed.uint8();
  const flags = fixed.uint16();
  const decimals = fixed.uint8();
  if (role === 'field-list') reader.skip(reader.left);
  reader.end();
  return { schema, table, originalTable, name, originalName, characterSet, length, type, flags, decimals };
}

const fixedBytes = 12;
const nullText = 0xfb;
