/** Dates and times of the binary protocol. MySQL Internals, "Binary Protocol Value": zero parts at the end are left out. */
import { WireError } from '../index.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';

/** DATE, DATETIME and TIMESTAMP. */
export interface WireDateTime {
  readonly kind: 'datetime';
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly microsecond: number;
}

/** TIME, which is a duration. */
export interface WireTime {
  readonly kind: 'time';
  readonly isNegative: boolean;
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly microseconds: number;
}

export function writeDateTime(writer: ByteWriter, value: WireDateTime): void {
  const { year, month, day, hour, minute, second, microsecond } = value;
  const hasTime = hour !== 0 || minute !== 0 || second !== 0 || microsecond !== 0;
  if (!hasTime && year === 0 && month === 0 && day === 0) {
    writer.uint8(0);
    return;
  }
  writer.uint8(microsecond !== 0 ? 11 : hasTime ? 7 : 4);
  writer.uint16(year).uint8(month).uint8(day);
  if (hasTime) writer.uint8(hour).uint8(minute).uint8(second);
  if (microsecond !== 0) writer.uint32(microsecond);
}

export function readDateTime(reader: ByteReader): WireDateTime {
  const length = reader.uint8();
  if (length !== 0 && length !== 4 && length !== 7 && length !== 11)
    throw new WireError('malformed', `a date of ${length} bytes`);
  const hasDate = length >= 4;
  const hasTime = length >= 7;
  return {
    kind: 'datetime',
    year: hasDate ? reader.uint16() : 0,
    month: hasDate ? reader.uint8() : 0,
    day: hasDate ? reader.uint8() : 0,
    hour: hasTime ? reader.uint8() : 0,
    minute: hasTime ? reader.uint8() : 0,
    second: hasTime ? reader.uint8() : 0,
    microsecond: length === 11 ? reader.uint32() : 0,
  };
}

export function writeTime(writer: ByteWriter, value: WireTime): void {
  const { isNegative, days, hours, minutes, seconds, microseconds } = value;
  const isZero = days === 0 && hours === 0 && minutes === 0 && seconds === 0 && microseconds === 0;
  if (isZero && !isNegative) {
    writer.uint8(0);
    return;
  }
  writer.uint8(microseconds === 0 ? 8 : 12).uint8(isNegative ? 1 : 0);
  writer.uint32(days).uint8(hours).uint8(minutes).uint8(seconds);
  if (microseconds !== 0) writer.uint32(microseconds);
}

export function readTime(reader: ByteReader): WireTime {
  const length = reader.uint8();
  if (length !== 0 && length !== 8 && length !== 12) throw new WireError('malformed', `a time of ${length} bytes`);
  const hasTime = length >= 8;
  return {
    kind: 'time',
    isNegative: hasTime && reader.uint8() !== 0,
    days: hasTime ? reader.uint32() : 0,
    hours: hasTime ? reader.uint8() : 0,
    minutes: hasTime ? reader.uint8() : 0,
    seconds: hasTime ? reader.uint8() : 0,
    microseconds: length === 12 ? reader.uint32() : 0,
  };
}
