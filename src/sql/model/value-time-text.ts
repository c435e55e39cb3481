/** Reading dates, times and timestamps: ISO first, and the other orders that DateStyle "ISO, MDY" accepts. PostgreSQL manual, appendix B. */
import { SqlError } from './sql-error.ts';
import {
  dateBegin,
  dateEnd,
  daysInMonth,
  daysOfCivil,
  firstTime,
  isTimestampInRange,
  joinTimestamp,
  lastTime,
  microsecondsPerDay,
} from './value-time.ts';

/** What a text says; the parts that it leaves out are undefined. */
interface Stamp {
  readonly days: number | undefined;
  readonly time: bigint | undefined;
  /** Microseconds east of Greenwich. */
  readonly offset: bigint | undefined;
}

/** @throws SqlError 22007 no date, 22008 out of range */
export function parseDate(text: string): number {
  const word = text.trim().toLowerCase();
  if (word === 'infinity' || word === '+infinity') return Infinity;
  if (word === '-infinity') return -Infinity;
  if (word === 'epoch') return 0;
  const { days } = readStamp(text, 'date');
  if (days === undefined) throw syntaxError(text, 'date');
  if (days < dateBegin || days >= dateEnd) throw new SqlError('22008', `date out of range: "${text}"`);
  return days;
}

/** @throws SqlError 22007, 22008 */
export function parseTimestamp(text: string, typeText = 'timestamp'): bigint {
  return parseInstant(text, typeText, false);
}

/** Without a zone: UTC. @throws SqlError 22007, 22008, 22009 */
export function parseTimestamptz(text: string): bigint {
  return parseInstant(text, 'timestamp with time zone', true);
}

function parseInstant(text: string, typeText: string, hasZone: boolean): bigint {
  const word = text.trim().toLowerCase();
  if (word === 'infinity' || word === '+infinity') return lastTime;
  if (word === '-infinity') return firstTime;
  if (word === 'epoch') return 0n;
  const { days, time, offset } = readStamp(text, typeText);
  if (days === undefined) throw syntaxError(text, typeText);
  const instant = joinTimestamp(days, time ?? 0n) - (hasZone ? (offset ?? 0n) : 0n);
  if (!isTimestampInRange(instant)) throw new SqlError('22008', `timestamp out of range: "${text}"`);
  return instant;
}

/** @throws SqlError 22007, 22008 */
export function parseTime(text: string): bigint {
  const { time } = readStamp(text, 'time');
  if (time === undefined) throw syntaxError(text, 'time');
  return time;
}

function syntaxError(text: string, typeText: string): SqlError {
  return new SqlError('22007', `invalid input syntax for type ${typeText}: "${text}"`);
}

function fieldError(text: string): SqlError {
  return new SqlError('22008', `date/time field value out of range: "${text}"`);
}

const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const dayNames = /^(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?,?\s+/i;
const monthWord = '(jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\\.?';
const datePatterns: readonly (readonly [RegExp, readonly ('y' | 'm' | 'd' | 'M')[]])[] = [
  [/^(\d{3,7})-(\d{1,2})-(\d{1,2})(?![\d:])/, ['y', 'm', 'd']],
  [/^(\d{3,7})\/(\d{1,2})\/(\d{1,2})(?![\d:])/, ['y', 'm', 'd']],
  [/^(\d{1,2})[/-](\d{1,2})[/-](\d{1,4})(?![\d:])/, ['m', 'd', 'y']],
  [/^(\d{4})(\d{2})(\d{2})(?![\d:])/, ['y', 'm', 'd']],
  [new RegExp(`^(\\d{4,7})[- ]${monthWord}[- ](\\d{1,2})(?!\\d)`, 'i'), ['y', 'M', 'd']],
  [new RegExp(`^${monthWord}[- ](\\d{1,2})(?:,\\s*|[- ])(\\d{3,7})(?!\\d)`, 'i'), ['M', 'd', 'y']],
  [new RegExp(`^(\\d{1,2})[- ]${monthWord}[- ,]\\s*(\\d{3,7})(?!\\d)`, 'i'), ['d', 'M', 'y']],
];
const timePattern = /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?\s*(am|pm)?/i;
const packedTimePattern = /^(\d{2})(\d{2})(\d{2})(?:\.(\d*))?(?!\d)\s*(am|pm)?/i;

function readStamp(text: string, typeText: string): Stamp {
  let rest = text.trim().replace(dayNames, '');
  const date = readDate(rest, text);
  if (date !== undefined) rest = rest.slice(date.length).replace(/^(?:\s*t(?=\d)|\s+)/i, '');
  const time = readTime(rest, text);
  if (time !== undefined) rest = rest.slice(time.length);
  if (date === undefined && time === undefined) throw syntaxError(text, typeText);
  const isBeforeChrist = /(?:^|\s)bc$/i.test(rest);
  const zone = rest.replace(/(?:^|\s)(?:bc|ad)$/i, '').trim();
  const days = date === undefined ? undefined : daysOf(date, isBeforeChrist, text);
  const offset = zone === '' ? undefined : zoneOffset(zone);
  if (zone !== '' && offset === undefined) throw zoneError(zone, text, typeText);
  return { days, time: time?.microseconds, offset };
}

function zoneError(zone: string, text: string, typeText: string): SqlError {
  if (/^[a-z_]+\/[a-z_]+$/i.test(zone)) return new SqlError('22023', `time zone "${zone}" not recognized`);
  if (/^[+-]\d{1,2}(?::?\d{2}){0,2}$/.test(zone)) {
    return new SqlError('22009', `time zone displacement out of range: "${text}"`);
  }
  return syntaxError(text, typeText);
}

interface DateRead {
  readonly length: number;
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

function readDate(rest: string, text: string): DateRead | undefined {
  for (const [pattern, order] of datePatterns) {
    const match = pattern.exec(rest);
    if (match === null) continue;
    const fields = { y: 0, m: 0, d: 0 };
    order.forEach((field, i) => {
      const part = match[i + 1] ?? '';
      if (field === 'M') fields.m = monthNames.indexOf(part.slice(0, 3).toLowerCase()) + 1;
      else fields[field] = field === 'y' && part.length <= 2 ? twoDigitYear(Number(part)) : Number(part);
    });
    if (fields.m < 1 || fields.m > 12 || fields.d < 1 || fields.d > 31) throw fieldError(text);
    return { length: match[0].length, year: fields.y, month: fields.m, day: fields.d };
  }
  return undefined;
}

function twoDigitYear(year: number): number {
  return year < 70 ? 2000 + year : 1900 + year;
}

function daysOf({ year, month, day }: DateRead, isBeforeChrist: boolean, text: string): number {
  // There is no year zero.
  if (year === 0) throw fieldError(text);
  const civilYear = isBeforeChrist ? 1 - year : year;
  if (day > daysInMonth(civilYear, month)) throw fieldError(text);
  return daysOfCivil({ year: civilYear, month, day });
}

function readTime(rest: string, text: string): { readonly length: number; readonly microseconds: bigint } | undefined {
  const match = timePattern.exec(rest) ?? packedTimePattern.exec(rest);
  if (match === null) return undefined;
  const [all, hourText = '', minuteText = '', secondText = '0', fraction = '', half] = match;
  let hours = Number(hourText);
  const minutes = Number(minuteText);
  const seconds = Number(secondText);
  if (half !== undefined) {
    if (hours < 1 || hours > 12) throw fieldError(text);
    hours = (hours % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  }
  const micro = BigInt(Math.round(Number(`0.${fraction}0`) * 1e6));
  const total = BigInt(hours * 3600 + minutes * 60 + seconds) * 1_000_000n + micro;
  if (hours > 24 || minutes > 59 || seconds > 60 || total > microsecondsPerDay) throw fieldError(text);
  return { length: all.length, microseconds: total };
}

/** Zone names whose offset never changes, in hours. */
const fixedZones: ReadonlyMap<string, number> = new Map(
  Object.entries({ utc: 0, gmt: 0, z: 0, zulu: 0, ut: 0, est: -5, edt: -4, cst: -6, cdt: -5, mst: -7, mdt: -6 }),
);
for (const [name, hours] of Object.entries({ pst: -8, pdt: -7, cet: 1, cest: 2, eet: 2, eest: 3, bst: 1, jst: 9 })) {
  (fixedZones as Map<string, number>).set(name, hours);
}

/** `UTC`, `+02`, `-05:30`: microseconds east of Greenwich. `undefined`: not a fixed offset. */
export function zoneOffset(zone: string): bigint | undefined {
  const hours = fixedZones.get(zone.toLowerCase());
  if (hours !== undefined) return BigInt(hours) * 3_600_000_000n;
  const match = /^([+-])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?$/.exec(zone);
  if (match === null) return undefined;
  const [, sign, hourText = '0', minuteText = '0', secondText = '0'] = match;
  if (Number(hourText) > 15 || Number(minuteText) > 59 || Number(secondText) > 59) return undefined;
  const seconds = Number(hourText) * 3600 + Number(minuteText) * 60 + Number(secondText);
  return BigInt(sign === '-' ? -seconds : seconds) * 1_000_000n;
}
