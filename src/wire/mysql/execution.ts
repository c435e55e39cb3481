/** The parameters of COM_STMT_EXECUTE. They are not self-describing: types may have been sent before, values may have come as long data. */
import { WireError } from '../index.ts';
import { readBinaryValue, writeBinaryValue, type BinaryType, type BinaryValue } from './binary-value.ts';
import { ByteReader, ByteWriter } from './bytes.ts';
import { columnType } from './constants.ts';
import { nullBitmap, readNullBitmap } from './row.ts';

export interface Execution {
  /** CURSOR_TYPE_*; 0: all rows at once. */
  readonly cursor: number;
  /** Of every parameter. */
  readonly types: readonly BinaryType[];
  /** Of every parameter; `null` also for one that came as long data. */
  readonly values: readonly BinaryValue[];
}

/** What the server remembers of the statement. */
export interface ExecutionContext {
  readonly parameters: number;
  /** Of the last execution that sent types; they hold until others are sent. */
  readonly types: readonly BinaryType[] | null;
  /** Parameters that came as long data: their values are not here again. */
  readonly hasLongData: (parameter: number) => boolean;
}

const unsignedBit = 0x80;

export function decodeExecution(body: Uint8Array, context: ExecutionContext): Execution {
  const reader = new ByteReader(body);
  const cursor = reader.uint8();
  reader.skip(4); // the iteration count, which is always 1
  const { parameters } = context;
  if (parameters === 0) return { cursor, types: [], values: [] };
  const isNull = readNullBitmap(reader, parameters, 0);
  const types = reader.uint8() === 1 ? readTypes(reader, parameters) : context.types;
  if (types === null) throw new WireError('malformed', 'a statement is executed without the types of its parameters');
  const values = types.map((type, i) => (isNull(i) || context.hasLongData(i) ? null : readBinaryValue(reader, type)));
  reader.end();
  return { cursor, types, values };
}

function readTypes(reader: ByteReader, parameters: number): BinaryType[] {
  return Array.from({ length: parameters }, () => {
    const type = reader.uint8();
    return { type, isUnsigned: (reader.uint8() & unsignedBit) !== 0 };
  });
}

/** @param sendsTypes are the types said, or are they those of the execution before? Sends no long data. */
export function encodeExecution({ cursor, types, values }: Execution, sendsTypes: boolean): Uint8Array {
  const writer = new ByteWriter().uint8(cursor).uint32(1);
  if (values.length === 0) return writer.finish();
  writer.bytes(nullBitmap(values, 0)).uint8(sendsTypes ? 1 : 0);
  if (sendsTypes) for (const { type, isUnsigned } of types) writer.uint8(type).uint8(isUnsigned ? unsignedBit : 0);
  for (const [i, value] of values.entries())
    if (value !== null) writeBinaryValue(writer, types[i]?.type ?? columnType.null, value);
  return writer.finish();
}
