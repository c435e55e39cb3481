/**
 * The binary formats of values: PostgreSQL's send and receive functions (src/backend/utils/adt, `*send` and `*recv`). Integers are big-endian;
 * instants count microseconds from 2000-01-01.
 */
import { formatText, parseText } from './text-format.ts';
import { exactDecimal, formatNumeric, numericOf } from './numeric.ts';
import type { Numeric } from './numeric.ts';
import { notSupported, SqlError } from './sql-error.ts';
import { typeOfOid } from './type.ts';
import type { SqlType } from './type.ts';
import { firstTime, isFiniteTime, lastTime } from './value-time.ts';
import type { Interval, SqlArray, SqlValue } from './value.ts';

/** Days and microseconds between 1970-01-01 and 2000-01-01. */
const epochDays = 10_957;
const epochMicroseconds = 946_684_800_000_000n;
const lastDay = 2_147_483_647;
const firstDay = -2_147_483_648;

const jsonbVersion = 1;

/** The bytes of a value that is not null. */
export function formatBinary(value: Exclude<SqlValue, null>, type: SqlType): Uint8Array {
  switch (type.name) {
    case 'bool':
      return Uint8Array.of(value === true ? 1 : 0);
    case 'int2':
      return bytesOf(2, (view) => view.setInt16(0, value as number));
    case 'int4':
      return bytesOf(4, (view) => view.setInt32(0, value as number));
    case 'oid':
    case 'xid':
      return bytesOf(4, (view) => view.setUint32(0, value as number));
    case 'int8':
    case 'time':
      return bytesOf(8, (view) => view.setBigInt64(0, value as bigint));
    case 'uint8':
      return bytesOf(8, (view) => view.setBigUint64(0, value as bigint));
    case 'float4':
      return bytesOf(4, (view) => view.setFloat32(0, value as number));
    case 'float8':
      return bytesOf(8, (view) => view.setFloat64(0, value as number));
    case 'numeric':
      return formatNumericBinary(value as Numeric);
    case 'bytea':
      return value as Uint8Array;
    case 'date':
      return bytesOf(4, (view) => view.setInt32(0, dayToWire(value as number)));
    case 'timestamp':
    case 'timestamptz':
      return bytesOf(8, (view) => view.setBigInt64(0, instantToWire(value as bigint)));
    case 'interval':
      return formatIntervalBinary(value as Interval);
    case 'uuid':
      return Buffer.from((value as string).replaceAll('-', ''), 'hex');
    case 'jsonb':
      return Buffer.concat([Uint8Array.of(jsonbVersion), Buffer.from(formatText(value, type, 'postgres'))]);
    case 'array':
      return formatArrayBinary(value as SqlArray, type.element ?? type);
    default:
      return Buffer.from(formatText(value, type, 'postgres'), 'utf8');
  }
}

/** @throws SqlError 22P03 wrong length or number, 22P02 and others for texts */
export function parseBinary(bytes: Uint8Array, type: SqlType): SqlValue {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (type.name) {
    case 'bool':
      return sized(view, 1).getUint8(0) !== 0;
    case 'int2':
      return sized(view, 2).getInt16(0);
    case 'int4':
      return sized(view, 4).getInt32(0);
    case 'oid':
    case 'xid':
      return sized(view, 4).getUint32(0);
    case 'int8':
    case 'time':
      return sized(view, 8).getBigInt64(0);
    case 'uint8':
      return sized(view, 8).getBigUint64(0);
    case 'float4':
      return sized(view, 4).getFloat32(0);
    case 'float8':
      return sized(view, 8).getFloat64(0);
    case 'numeric':
      return parseNumericBinary(view);
    case 'bytea':
      return Uint8Array.from(bytes);
    case 'date':
      return dayFromWire(sized(view, 4).getInt32(0));
    case 'timestamp':
    case 'timestamptz':
      return instantFromWire(sized(view, 8).getBigInt64(0));
    case 'interval':
      sized(view, 16);
      return { kind: 'interval', microseconds: view.getBigInt64(0), days: view.getInt32(8), months: view.getInt32(12) };
    case 'uuid':
      sized(view, 16);
      return parseText(Buffer.from(bytes).toString('hex'), type);
    case 'jsonb':
      if (bytes[0] !== jsonbVersion) throw new SqlError('22P03', `unsupported jsonb version number ${bytes[0] ?? 0}`);
      return parseText(Buffer.from(bytes.subarray(1)).toString('utf8'), type);
    case 'array':
      return parseArrayBinary(bytes, view, type.element ?? type);
    default:
      return parseText(Buffer.from(bytes).toString('utf8'), type);
  }
}

function bytesOf(length: number, fill: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(length);
  fill(new DataView(bytes.buffer));
  return bytes;
}

function sized(view: DataView, length: number): DataView {
  if (view.byteLength !== length) throw wrongFormat();
  return view;
}

function wrongFormat(): SqlError {
  return new SqlError('22P03', 'incorrect binary data format');
}

function dayToWire(days: number): number {
  if (!Number.isFinite(days)) return days > 0 ? lastDay : firstDay;
  return days - epochDays;
}

function dayFromWire(days: number): number {
  if (days === lastDay) return Infinity;
  return days === firstDay ? -Infinity : days + epochDays;
}

function instantToWire(microseconds: bigint): bigint {
  return isFiniteTime(microseconds) ? microseconds - epochMicroseconds : microseconds;
}

function instantFromWire(microseconds: bigint): bigint {
  return microseconds === lastTime || microseconds === firstTime ? microseconds : microseconds + epochMicroseconds;
}

function formatIntervalBinary({ months, days, microseconds }: Interval): Uint8Array {
  return bytesOf(16, (view) => {
    view.setBigInt64(0, microseconds);
    view.setInt32(8, days);
    view.setInt32(12, months);
  });
}

const negativeSign = 0x4000;
const signNaN = 0xc000;
const signInfinity = 0xd000;
const signMinusInfinity = 0xf000;

/** Groups of four decimal digits: count, weight of the first, sign, display scale, groups. numeric.c, `numeric_send`. */
function formatNumericBinary(number: Numeric): Uint8Array {
  const { value, scale } = number;
  if (!value.isFinite()) {
    const sign = value.isNaN() ? signNaN : value.isNegative() ? signMinusInfinity : signInfinity;
    // PostgreSQL reads a display scale out of the bits that say "infinity".
    return numericBytes([], 0, sign, value.isNaN() ? 0 : 32);
  }
  const [whole = '', fraction = ''] = formatNumeric({ kind: 'numeric', value: value.abs(), scale }).split('.');
  const left = whole.padStart(Math.ceil(whole.length / 4) * 4, '0');
  const right = fraction.padEnd(Math.ceil(fraction.length / 4) * 4, '0');
  const groups = (left + right).match(/\d{4}/g)?.map(Number) ?? [];
  let weight = left.length / 4 - 1;
  while (groups[0] === 0) {
    groups.shift();
    weight -= 1;
  }
  while (groups.at(-1) === 0) groups.pop();
  const sign = value.isNegative() && groups.length > 0 ? negativeSign : 0;
  return numericBytes(groups, groups.length === 0 ? 0 : weight, sign, scale);
}

function numericBytes(groups: readonly number[], weight: number, sign: number, scale: number): Uint8Array {
  return bytesOf(8 + groups.length * 2, (view) => {
    view.setInt16(0, groups.length);
    view.setInt16(2, weight);
    view.setUint16(4, sign);
    view.setInt16(6, scale);
    groups.forEach((group, i) => view.setInt16(8 + i * 2, group));
  });
}

function parseNumericBinary(view: DataView): Numeric {
  if (view.byteLength < 8) throw wrongFormat();
  const count = view.getUint16(0);
  const weight = view.getInt16(2);
  const sign = view.getUint16(4);
  const scale = view.getUint16(6);
  if (view.byteLength !== 8 + count * 2) throw wrongFormat();
  if (sign === signNaN) return numericOf(Number.NaN);
  if (sign === signInfinity || sign === signMinusInfinity)
    return numericOf(sign === signInfinity ? Infinity : -Infinity);
  if (sign !== 0 && sign !== negativeSign) throw new SqlError('22P03', 'invalid sign in external "numeric" value');
  let text = '0';
  for (let i = 0; i < count; i += 1) {
    const group = view.getUint16(8 + i * 2);
    if (group > 9999) throw new SqlError('22P03', 'invalid digit in external "numeric" value');
    text += String(group).padStart(4, '0');
  }
  const exact = exactDecimal(`${text}e${(weight - count + 1) * 4}`);
  return numericOf(sign === negativeSign ? exact.negated() : exact, scale);
}

/** Dimensions, a flag for NULLs, the element's type; per dimension its length and lower bound; the elements with their lengths. */
function formatArrayBinary({ elements }: SqlArray, element: SqlType): Uint8Array {
  const hasNulls = elements.includes(null);
  const header = bytesOf(elements.length === 0 ? 12 : 20, (view) => {
    view.setInt32(0, elements.length === 0 ? 0 : 1);
    view.setInt32(4, hasNulls ? 1 : 0);
    view.setUint32(8, element.oid);
    if (elements.length === 0) return;
    view.setInt32(12, elements.length);
    view.setInt32(16, 1);
  });
  const parts = elements.flatMap((each) => {
    const body = each === null ? new Uint8Array(0) : formatBinary(each, element);
    return [bytesOf(4, (view) => view.setInt32(0, each === null ? -1 : body.length)), body];
  });
  return Buffer.concat([header, ...parts]);
}

function parseArrayBinary(bytes: Uint8Array, view: DataView, element: SqlType): SqlArray {
  if (view.byteLength < 12) throw wrongFormat();
  const dimensions = view.getInt32(0);
  if (dimensions === 0) return { kind: 'array', elements: [] };
  if (dimensions !== 1) throw notSupported('an array of more than one dimension');
  const sent = view.getUint32(8);
  if (sent !== element.oid && typeOfOid(sent)?.name !== element.name) {
    throw new SqlError('42804', `binary data has array element type ${sent} instead of expected ${element.oid}`);
  }
  if (view.byteLength < 20) throw wrongFormat();
  const count = view.getInt32(12);
  const elements: SqlValue[] = [];
  let at = 20;
  for (let i = 0; i < count; i += 1) {
    if (at + 4 > bytes.length) throw wrongFormat();
    const length = view.getInt32(at);
    at += 4;
    if (length > bytes.length - at) throw wrongFormat();
    elements.push(length < 0 ? null : parseBinary(bytes.subarray(at, at + length), element));
    at += Math.max(0, length);
  }
  return { kind: 'array', elements };
}
