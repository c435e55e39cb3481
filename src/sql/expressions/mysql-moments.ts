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
  const written = writtenMoment(text);
  if (written === undefined || (to.name === 'time' && !written.hasTime)) return null;
  if (!/^.{8}(?:[01]\d|2[0-3])[0-5]\d[0-5]\d$/.test(written.digits)) return null;
  const iso = isoOf(written.digits, to.name === 'date' ? '' : written.fraction);
  return parsed(to.name === 'time' ? iso.slice('0000-00-00 '.length) : iso, to);
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

/** A date, and a time that may be missing, as far as a text begins with them. */
interface WrittenMoment {
  /** 14, from the year to the second. */
  readonly digits: string;
  readonly fraction: string;
  readonly hasTime: boolean;
  /** Is there something behind it: a time zone, a letter? */
  readonly hasRest: boolean;
}

// Any punctuation separates the parts: 2020-01-31, 2020.1.31, 20/1/31 23*59*59.
const delimited =
  /^\s*(\d{1,4})[^\w\s](\d{1,2})[^\w\s](\d{1,2})(?:(?:T|\s+|[^\w\s])(\d{1,2})(?:[^\w\s](\d{1,2})(?:[^\w\s](\d{1,2})(?:\.(\d*))?)?)?|T)?(.*)$/s;
const packed = /^\s*(?:(\d{14}|\d{12}|\d{8}T\d{6}|\d{6}T\d{6})(?:\.(\d*))?|(\d{8}|\d{6}))(?!\s*[\d.])(.*)$/s;

function writtenMoment(text: string): WrittenMoment | undefined {
  const parts = delimited.exec(text);
  if (parts !== null) {
    const [, year = '', month, day, hour, minute, second, fraction = '', rest = ''] = parts;
    const others = [month, day, hour, minute, second].map((part = '0') => part.padStart(2, '0'));
    const digits = `${fullYear(year)}${others.join('')}`;
    return { digits, fraction, hasTime: hour !== undefined, hasRest: rest.trim() !== '' };
  }
  const [, datetime = '', fraction = '', date = '', rest = ''] = packed.exec(text) ?? [];
  const whole = datetime.replace('T', '') + date;
  if (whole === '') return undefined;
  const yearLength = whole.length % 6 === 0 ? 2 : 4;
  const digits = `${fullYear(whole.slice(0, yearLength))}${whole.slice(yearLength)}`.padEnd(14, '0');
  return { digits, fraction, hasTime: datetime !== '', hasRest: rest.trim() !== '' };
}

/** Two digits are a year from 1970 to 2069. */
function fullYear(year: string): string {
  return year.length === 2 ? `${year < '70' ? '20' : '19'}${year}` : year.padStart(4, '0');
}

/** Does the text begin with a date or datetime, and have more behind it? Expressions take what it begins with, columns refuse it. */
export function isCutMoment(text: string, to: SqlType): boolean {
  return to.name !== 'time' && writtenMoment(text)?.hasRest === true;
}

/** @param digits 14, from the year to the second */
function isoOf(digits: string, fraction: string): string {
  const [year, month, day, hour, minute, second] = [0, 4, 6, 8, 10, 12].map((from) =>
    digits.slice(from, from === 0 ? 4 : from + 2),
  );
  const seconds = fraction === '' ? second : `${second}.${fraction}`;
  return `${year}-${month}-${day} ${hour}:${minute}:${seconds}`;
}
