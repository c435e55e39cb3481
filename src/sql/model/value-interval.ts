/** Intervals: months, days and microseconds, kept apart because months and days have no fixed length. PostgreSQL manual, 8.5.4. */
import { SqlError } from './sql-error.ts';
import { digits, fractionText } from './value-time.ts';
import type { Interval } from './value.ts';

const hour = 3_600_000_000n;
const day = 24n * hour;

export function intervalOf(months: number, days: number, microseconds: bigint): Interval {
  const isInRange =
    Math.abs(months) < 2 ** 31 && Math.abs(days) < 2 ** 31 && BigInt.asIntN(64, microseconds) === microseconds;
  if (!isInRange) throw new SqlError('22008', 'interval out of range');
  // `-0` is not `0` to a comparison of structures.
  return { kind: 'interval', months: months + 0 || 0, days: days + 0 || 0, microseconds };
}

/** For order and equality a month has 30 days and a day 24 hours. */
export function intervalLength({ months, days, microseconds }: Interval): bigint {
  return (BigInt(months) * 30n + BigInt(days)) * day + microseconds;
}

export function addIntervals(a: Interval, b: Interval): Interval {
  return intervalOf(a.months + b.months, a.days + b.days, a.microseconds + b.microseconds);
}

export function negateInterval({ months, days, microseconds }: Interval): Interval {
  return intervalOf(-months, -days, -microseconds);
}

/** Fractions of months spill into days (of 30 to a month), those of days into microseconds. timestamp.c, `interval_mul`. */
export function scaleInterval(interval: Interval, factor: number): Interval {
  const months = interval.months * factor;
  const wholeMonths = Math.trunc(months);
  const days = interval.days * factor;
  let wholeDays = Math.trunc(days);
  const monthDays = roundMicro((months - wholeMonths) * 30);
  let seconds = roundMicro((days - wholeDays + (monthDays - Math.trunc(monthDays))) * 86_400);
  if (Math.abs(seconds) >= 86_400) {
    wholeDays += Math.trunc(seconds / 86_400);
    seconds -= Math.trunc(seconds / 86_400) * 86_400;
  }
  const rest = roundHalfEven(Number(interval.microseconds) * factor + seconds * 1e6);
  if (!Number.isFinite(rest)) throw new SqlError('22008', 'interval out of range');
  return intervalOf(wholeMonths, wholeDays + Math.trunc(monthDays), BigInt(rest));
}

/** timestamp.c, `interval_div`: as a product, but with the divisions of the parts. @throws SqlError 22012 */
export function divideInterval(interval: Interval, divisor: number): Interval {
  if (divisor === 0) throw new SqlError('22012', 'division by zero');
  const months = Math.trunc(interval.months / divisor);
  let days = Math.trunc(interval.days / divisor);
  const monthDays = roundMicro((interval.months / divisor - months) * 30);
  let seconds = roundMicro((interval.days / divisor - days + monthDays - Math.trunc(monthDays)) * 86_400);
  if (Math.abs(seconds) >= 86_400) {
    days += Math.trunc(seconds / 86_400);
    seconds -= Math.trunc(seconds / 86_400) * 86_400;
  }
  const rest = roundHalfEven(Number(interval.microseconds) / divisor + seconds * 1e6);
  return intervalOf(months, days + Math.trunc(monthDays), BigInt(rest));
}

/** TSROUND: to the microsecond. */
function roundMicro(value: number): number {
  return roundHalfEven(value * 1e6) / 1e6;
}

export function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Whole days out of hours. */
export function justifyHours(interval: Interval): Interval {
  const days = interval.microseconds / day;
  return fixSigns(interval.months, interval.days + Number(days), interval.microseconds % day);
}

function fixSigns(months: number, days: number, microseconds: bigint): Interval {
  if (days > 0 && microseconds < 0n) return intervalOf(months, days - 1, microseconds + day);
  if (days < 0 && microseconds > 0n) return intervalOf(months, days + 1, microseconds - day);
  return intervalOf(months, days, microseconds);
}

/** Whole months out of days of 30. */
export function justifyDays(interval: Interval): Interval {
  const whole = Math.trunc(interval.days / 30);
  let months = interval.months + whole;
  let days = interval.days - whole * 30;
  if (months > 0 && days < 0) {
    days += 30;
    months -= 1;
  } else if (months < 0 && days > 0) {
    days -= 30;
    months += 1;
  }
  return intervalOf(months, days, interval.microseconds);
}

/** Both, with one sign for all parts: timestamp.c, `interval_justify_interval`. */
export function justifyInterval(interval: Interval): Interval {
  const wholeDays = interval.microseconds / day;
  const microseconds = interval.microseconds % day;
  let days = interval.days + Number(wholeDays);
  const wholeMonths = Math.trunc(days / 30);
  let months = interval.months + wholeMonths;
  days -= wholeMonths * 30;
  if (months > 0 && (days < 0 || (days === 0 && microseconds < 0n))) {
    days += 30;
    months -= 1;
  } else if (months < 0 && (days > 0 || (days === 0 && microseconds > 0n))) {
    days -= 30;
    months += 1;
  }
  return fixSigns(months, days, microseconds);
}

/** `1 year 2 mons -3 days +04:05:06.7`: IntervalStyle postgres. A sign is shown where the part before was negative. */
export function formatInterval({ months, days, microseconds }: Interval): string {
  const parts: string[] = [];
  let wasNegative = false;
  const add = (value: number, unit: string): void => {
    if (value === 0) return;
    const sign = wasNegative && value > 0 ? '+' : '';
    parts.push(`${sign}${value} ${unit}${value === 1 ? '' : 's'}`);
    wasNegative = value < 0;
  };
  add(Math.trunc(months / 12), 'year');
  add(months % 12, 'mon');
  add(days, 'day');
  if (microseconds !== 0n || parts.length === 0) {
    const magnitude = microseconds < 0n ? -microseconds : microseconds;
    const sign = microseconds < 0n ? '-' : wasNegative ? '+' : '';
    const seconds = magnitude / 1_000_000n;
    const clock = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map((part) => digits(Number(part), 2));
    parts.push(sign + clock.join(':') + fractionText(magnitude % 1_000_000n));
  }
  return parts.join(' ');
}

/** Words for units, and what one of them is: months, days and microseconds. */
const units: ReadonlyMap<string, readonly [months: number, days: number, microseconds: number]> = new Map(
  (
    [
      ['microsecond microseconds us usec usecs usecond useconds', [0, 0, 1]],
      ['millisecond milliseconds ms msec msecs msecond mseconds', [0, 0, 1e3]],
      ['second seconds s sec secs', [0, 0, 1e6]],
      ['minute minutes m min mins', [0, 0, 6e7]],
      ['hour hours h hr hrs', [0, 0, 3.6e9]],
      ['day days d', [0, 1, 0]],
      ['week weeks w', [0, 7, 0]],
      ['month months mon mons', [1, 0, 0]],
      ['year years y yr yrs', [12, 0, 0]],
      ['decade decades dec decs', [120, 0, 0]],
      ['century centuries c cent', [1200, 0, 0]],
      ['millennium millennia mil mils', [12_000, 0, 0]],
    ] as const
  ).flatMap(([words, size]) => words.split(' ').map((word) => [word, size] as const)),
);

export type IntervalField = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second';

/** datetime.h, INTERVAL_MASK: bits of the fields that a type names, the smallest field first. */
const fieldBits: readonly (readonly [bit: number, field: IntervalField])[] = [
  [12, 'second'],
  [11, 'minute'],
  [10, 'hour'],
  [3, 'day'],
  [1, 'month'],
  [2, 'year'],
];

export const everyIntervalField = 0x7fff;

/** `undefined`: no field is named. */
export function lastIntervalField(fields: number): IntervalField | undefined {
  return fields === everyIntervalField ? undefined : fieldBits.find(([bit]) => (fields & (1 << bit)) !== 0)?.[1];
}

/** `day to hour`, or nothing. */
export function intervalFieldsTitle(fields: number): string {
  if (fields === everyIntervalField) return '';
  const named = fieldBits.filter(([bit]) => (fields & (1 << bit)) !== 0).map(([, field]) => field);
  const [last, first] = [named[0], named.at(-1)];
  return first === last ? (last ?? '') : `${first} to ${last}`;
}

const minuteToSecond = (1 << 11) | (1 << 12);

interface Parts {
  months: number;
  days: number;
  microseconds: number;
}

/**
 * `1 day 02:03:04`, `1 year ago`, `P1Y2M3DT4H5M6S`, `3-4 5 6:07`. `undefined`: no interval.
 * @param fields that the type names: the last one is what a bare number counts
 */
export function parseInterval(text: string, fields = everyIntervalField): Interval | undefined {
  const trimmed = text.trim().toLowerCase();
  const parts: Parts = { months: 0, days: 0, microseconds: 0 };
  const isRead = trimmed.startsWith('p') ? readIso(trimmed.slice(1), parts) : readWords(trimmed, parts, fields);
  if (!isRead) return undefined;
  return intervalOf(parts.months, parts.days, BigInt(roundHalfEven(parts.microseconds)));
}

const wordPattern =
  /\s*(?:@\s*)?([+-]?)\s*(?:(\d+):(\d+)(?::(\d+)?)?(\.\d*)?|(\d+)-(\d+)(?![\d-])|(\d*\.?\d*(?:e[+-]?\d+)?)(?:\s*([a-z]+)|(?=\s|$)))/y;

function readWords(text: string, parts: Parts, fields: number): boolean {
  let rest = text;
  let isAgo = false;
  if (/\bago$/.test(rest)) {
    isAgo = true;
    rest = rest.slice(0, -3).trim();
  }
  if (rest === '') return false;
  wordPattern.lastIndex = 0;
  while (wordPattern.lastIndex < rest.length) {
    const start = wordPattern.lastIndex;
    const match = wordPattern.exec(rest);
    if (match === null || wordPattern.lastIndex === start) return false;
    if (!readWord(match, parts, fields, wordPattern.lastIndex >= rest.length)) return false;
  }
  if (isAgo) {
    parts.months = -parts.months;
    parts.days = -parts.days;
    parts.microseconds = -parts.microseconds;
  }
  return true;
}

function readWord(match: RegExpExecArray, parts: Parts, fields: number, isLast: boolean): boolean {
  const [, sign = '', hours, minutes, seconds, fraction, years, months, amount, unit] = match;
  if (hours !== undefined) {
    if (Number(minutes) > 59 || Number(seconds ?? 0) > 59) return false;
    // Of two parts the second has fractions or the type says so: then they are minutes and seconds.
    const isShort = seconds === undefined && (fraction !== undefined || fields === minuteToSecond);
    const clock = (Number(hours) * 3600 + Number(minutes) * 60) / (isShort ? 60 : 1) + Number(seconds ?? 0);
    const micro = clock * 1e6 + Math.round(Number(fraction === undefined || fraction === '.' ? 0 : fraction) * 1e6);
    parts.microseconds += sign === '-' ? -micro : micro;
    return true;
  }
  if (years !== undefined) {
    if (Number(months) > 11) return false;
    parts.months += (sign === '-' ? -1 : 1) * (Number(years) * 12 + Number(months));
    return true;
  }
  if (amount === undefined || !/\d/.test(amount)) return false;
  // A bare number before the time of day counts days; at the end it counts the field.
  return addAmount(parts, sign + amount, unit ?? (isLast ? (lastIntervalField(fields) ?? 'second') : 'day'));
}

function addAmount(parts: Parts, amount: string, unit: string): boolean {
  const size = units.get(unit);
  const value = Number(amount);
  if (size === undefined || !Number.isFinite(value)) return false;
  const [months, days, microseconds] = size;
  const whole = Math.trunc(value);
  if (microseconds > 0) parts.microseconds += whole * microseconds + roundHalfEven((value - whole) * microseconds);
  else if (days > 0) addDays(parts, value * days);
  else addMonthsTo(parts, value * months, months);
  return true;
}

function addDays(parts: Parts, days: number): void {
  const whole = Math.trunc(days);
  parts.days += whole;
  parts.microseconds += roundHalfEven((days - whole) * 86_400e6);
}

/** Fractions of a year give whole months only; those of a month give days. datetime.c, `AdjustFractYears` and `AdjustFractDays`. */
function addMonthsTo(parts: Parts, months: number, unitMonths: number): void {
  if (unitMonths > 1) {
    parts.months += roundHalfEven(months);
    return;
  }
  const whole = Math.trunc(months);
  parts.months += whole;
  addDays(parts, (months - whole) * 30);
}

const isoPattern = /^([+-]?[\d.]+)([a-z])/;
const isoDateUnits: Readonly<Record<string, string>> = { y: 'year', m: 'month', w: 'week', d: 'day' };
const isoTimeUnits: Readonly<Record<string, string>> = { h: 'hour', m: 'minute', s: 'second' };

function readIso(text: string, parts: Parts): boolean {
  let rest = text;
  let names = isoDateUnits;
  if (rest === '') return false;
  while (rest !== '') {
    if (rest.startsWith('t') && names === isoDateUnits && rest.length > 1) {
      names = isoTimeUnits;
      rest = rest.slice(1);
    }
    const [all, amount = '', letter = ''] = isoPattern.exec(rest) ?? [];
    const unit = names[letter];
    if (all === undefined || unit === undefined || !addAmount(parts, amount, unit)) return false;
    rest = rest.slice(all.length);
  }
  return true;
}
