/** How MySQL reads dates and times from texts and numbers. Reference manual, 11.2.1 to 11.2.3 and 9.1.3. */
import {
  formatNumeric,
  truncateNumeric,
  type Numeric,
  SqlError,
  parseText,
  types,
  type SqlType,
  splitTimestamp,
  type SqlValue,
} from '../model/index.ts';

/** NULL: the text is no such moment. */
export function momentOfText(text: string, to: SqlType): SqlValue {
  if (to.name === 'time') {
    const found = clockTime(text);
    if (found !== undefined) return found;
  }
  return parsed(normalizeTime(text, to), to);
}

/** 20240131, 240131, 20240131235959.5 and, for a TIME, 130 (a minute and a half). NULL: no such moment. */
export function momentOfNumber(number: Numeric, to: SqlType): SqlValue {
  const text = formatNumeric(truncateNumeric(number, 6));
  const [whole = '0', fraction = ''] = text.split('.');
  if (to.name === 'time' && whole.replace('-', '').length < 11) return clockTime(text) ?? null;
  const packed = datetimeNumber(BigInt(whole));
  if (packed === null) return null;
  const digits = String(packed.datetime).padStart(14, '0');
  const instant = parsed(isoOf(digits, packed.hasTime ? fraction : ''), types.timestamp);
  if (instant === null) return null;
  const { days, time } = splitTimestamp(instant as bigint);
  return to.name === 'date' ? days : to.name === 'time' ? time : instant;
}

function parsed(text: string, to: SqlType): SqlValue {
  try {
    return parseText(text, to);
  } catch (error) {
    if (error instanceof SqlError) return null;
    throw error;
  }
}

const midnight = 1_000_000n;

/** The number with all 14 digits: years of two digits are those from 1970 to 2069. */
function datetimeNumber(number: bigint): { readonly datetime: bigint; readonly hasTime: boolean } | null {
  const isDate = number <= 99_991_231n;
  const datetime = isDate ? number * midnight : number;
  // Below the first number with a year of four digits it has one of two digits, or none.
  const hasCentury = isDate ? number >= 10_000_101n : number >= 10_000_101_000_000n;
  if (hasCentury) return { datetime, hasTime: !isDate };
  if (datetime < 101n * midnight || datetime > 991_231_235_959n) return null;
  const century = datetime < 700_101_000_000n ? 20_000_000n : 19_000_000n;
  return { datetime: datetime + century * midnight, hasTime: !isDate };
}

const secondsMax = 838n * 3600n + 59n * 60n + 59n;
const clock = /^\s*([+-]?)(?:(\d+) +)?(\d+):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?\s*$/;
const hoursOfDays = /^\s*([+-]?)(\d+) +(\d+)\s*$/;
const packedClock = /^\s*([+-]?)(\d{1,7})(?:\.(\d*))?\s*$/;

/** MySQL's times are durations: -838:59:59 to 838:59:59. `undefined`: not written so, or a date with a time. */
function clockTime(text: string): bigint | null | undefined {
  const parts = clock.exec(text) ?? hoursOfDays.exec(text);
  if (parts !== null) {
    const [, sign, days = '0', hours = '0', minutes = '0', seconds = '0', fraction = ''] = parts;
    return duration(sign, BigInt(days) * 24n + BigInt(hours), BigInt(minutes), BigInt(seconds), fraction);
  }
  const packed = packedClock.exec(text);
  if (packed === null) return undefined;
  const [, sign, digits = '0', fraction = ''] = packed;
  const number = BigInt(digits);
  return duration(sign, number / 10_000n, (number / 100n) % 100n, number % 100n, fraction);
}

function duration(
  sign: string | undefined,
  hours: bigint,
  minutes: bigint,
  seconds: bigint,
  fraction: string,
): bigint | null {
  const total = hours * 3600n + minutes * 60n + seconds;
  if (minutes > 59n || seconds > 59n || total > secondsMax) return null;
  const microseconds = total * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
  return sign === '-' ? -microseconds : microseconds;
}

/** 20200131 and 20200131235959 are dates too; a date alone is midnight; of a datetime, a date is the first part. */
function normalizeTime(text: string, to: SqlType): string {
  const trimmed = text.trim();
  const [, digits = '', fraction = ''] = /^(\d{6}|\d{8}|\d{12}|\d{14})(?:\.(\d*))?$/.exec(trimmed) ?? [];
  const whole = digits === '' ? trimmed : isoOfPacked(digits, fraction);
  if (to.name === 'date') return whole.slice(0, 10).trim();
  if (to.name === 'time') return whole.replace(/^\d{4}-\d{2}-\d{2}[ T]/, '');
  return whole;
}

function isoOfPacked(digits: string, fraction: string): string {
  const hasCentury = digits.length === 8 || digits.length === 14;
  const century = hasCentury ? '' : digits < '70' ? '20' : '19';
  const hasTime = digits.length > 8;
  return isoOf(`${century}${digits}`.padEnd(14, '0'), hasTime ? fraction : '');
}

/** @param digits 14, from the year to the second */
function isoOf(digits: string, fraction: string): string {
  const [year, month, day, hour, minute, second] = [0, 4, 6, 8, 10, 12].map((from) =>
    digits.slice(from, from === 0 ? 4 : from + 2),
  );
  const seconds = fraction === '' ? second : `${second}.${fraction}`;
  return `${year}-${month}-${day} ${hour}:${minute}:${seconds}`;
}
