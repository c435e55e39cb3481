/** Functions of dates and times. PostgreSQL manual, tables 9.33 to 9.36. The session's zone is UTC. */
import {
  numericOf,
  type Numeric,
  notSupported,
  SqlError,
  type SqlType,
  intervalOf,
  justifyDays,
  justifyHours,
  justifyInterval,
  zoneOffset,
  civilOfDays,
  dateBegin,
  dateEnd,
  daysInMonth,
  daysOfCivil,
  isFiniteTime,
  isTimestampInRange,
  joinTimestamp,
  splitTimestamp,
  type Interval,
} from '../model/index.ts';

import { numericOfFloat, timestampOfDate } from './cast-values.ts';
import { ambient, type Plain, type Signature, strict, typed } from './signature.ts';
import { extractField, truncateInterval, truncateTimestamp } from './time-fields.ts';
import { formatTimestampPattern, formatNumberPattern, parseTimestampPattern } from './to-char.ts';

type Moment = number | bigint | Interval;

/** extract() is exact, date_part() a double. */
function partOf(type: SqlType | undefined, isExact: boolean): Plain {
  if (type === undefined) throw new TypeError('extract has a field and a value');
  return (field: string, value: Moment) => {
    const part = extractField(field, value, type);
    if (part === null) return null;
    return isExact ? part : Number(part.value);
  };
}

const parts: Record<string, (call: { readonly types: readonly SqlType[] }) => Plain> = {};
for (const name of ['date', 'time', 'timestamp', 'timestamptz', 'interval']) {
  parts[`extract(text, ${name}) numeric`] = ({ types: [, type] }) => partOf(type, true);
  parts[`date_part(text, ${name}) float8`] = ({ types: [, type] }) => partOf(type, false);
}

/** @throws SqlError 22023 */
function offsetOf(zone: string): bigint {
  const offset = zoneOffset(zone.trim());
  if (offset !== undefined) {
    // POSIX: a bare offset counts west of Greenwich.
    return /^\s*[+-]/.test(zone) ? -offset : offset;
  }
  if (/^[A-Za-z_]+(?:\/[A-Za-z_+-]+)*$/.test(zone) && zone.includes('/')) throw notSupported(`time zone "${zone}"`);
  throw new SqlError('22023', `time zone "${zone}" not recognized`);
}

function shifted(time: bigint, offset: bigint): bigint {
  if (!isFiniteTime(time)) return time;
  const result = time + offset;
  if (!isTimestampInRange(result)) throw new SqlError('22008', 'timestamp out of range');
  return result;
}

function zoneInterval({ months, days, microseconds }: Interval): bigint {
  if (months !== 0 || days !== 0) throw new SqlError('22023', 'interval time zone must not include months or days');
  return microseconds;
}

/** Years, months and days between two instants, as a calendar counts: timestamp.c, `timestamp_age`. */
function age(a: bigint, b: bigint): Interval {
  if (!isFiniteTime(a) || !isFiniteTime(b)) throw new SqlError('22008', 'interval out of range');
  if (a < b) {
    const { months, days, microseconds } = age(b, a);
    return intervalOf(-months, -days, -microseconds);
  }
  const [later, earlier] = [splitTimestamp(a), splitTimestamp(b)];
  const [x, y] = [civilOfDays(later.days), civilOfDays(earlier.days)];
  let microseconds = later.time - earlier.time;
  let days = x.day - y.day;
  let months = (x.year - y.year) * 12 + x.month - y.month;
  if (microseconds < 0n) {
    microseconds += 86_400_000_000n;
    days -= 1;
  }
  // A month is borrowed with the length that it has where the count starts.
  while (days < 0) {
    days += daysInMonth(y.year, y.month);
    months -= 1;
  }
  return intervalOf(months, days, microseconds);
}

function makeDate(year: number, month: number, day: number): number {
  const civilYear = year < 0 ? year + 1 : year;
  const isRight = year !== 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(civilYear, month);
  if (!isRight) {
    const text = [year, month, day].map((part, i) => String(part).padStart(i === 0 ? 4 : 2, '0')).join('-');
    throw new SqlError('22008', `date field value out of range: ${text}`);
  }
  const days = daysOfCivil({ year: civilYear, month, day });
  if (days < dateBegin || days >= dateEnd) {
    throw new SqlError('22008', `date out of range: ${[year, month, day].join('-')}`);
  }
  return days;
}

function makeTime(hour: number, minute: number, second: number): bigint {
  const isRight = hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 60;
  if (!isRight) {
    const shown = [hour, minute].map((part) => String(part).padStart(2, '0')).join(':');
    throw new SqlError('22008', `time field value out of range: ${shown}:${String(second).padStart(2, '0')}`);
  }
  return BigInt(hour * 3600 + minute * 60) * 1_000_000n + BigInt(Math.round(second * 1e6));
}

const plain = strict({
  'date_trunc(text, timestamp) timestamp': truncateTimestamp,
  'date_trunc(text, timestamptz) timestamptz': truncateTimestamp,
  'date_trunc(text, interval) interval': truncateInterval,
  'timezone(text, timestamptz) timestamp': (zone: string, time: bigint) => shifted(time, offsetOf(zone)),
  'timezone(text, timestamp) timestamptz': (zone: string, time: bigint) => shifted(time, -offsetOf(zone)),
  'timezone(interval, timestamptz) timestamp': (zone: Interval, time: bigint) => shifted(time, zoneInterval(zone)),
  'timezone(interval, timestamp) timestamptz': (zone: Interval, time: bigint) => shifted(time, -zoneInterval(zone)),
  'age(timestamp, timestamp) interval': age,
  'age(timestamptz, timestamptz) interval': age,
  'make_date(int4, int4, int4) date': makeDate,
  'make_time(int4, int4, float8) time': makeTime,
  'make_timestamp(int4, int4, int4, int4, int4, float8) timestamp': (
    year: number,
    month: number,
    day: number,
    hour: number,
    minute: number,
    second: number,
  ) => joinTimestamp(makeDate(year, month, day), makeTime(hour, minute, second)),
  'make_interval(int4, int4, int4, int4, int4, int4, float8) interval': (
    years: number,
    months: number,
    weeks: number,
    days: number,
    hours: number,
    minutes: number,
    seconds: number,
  ) =>
    intervalOf(
      years * 12 + months,
      weeks * 7 + days,
      BigInt(hours * 3600 + minutes * 60) * 1_000_000n + BigInt(Math.round(seconds * 1e6)),
    ),
  'isfinite(date) bool': (days: number) => Number.isFinite(days),
  'isfinite(timestamp) bool': isFiniteTime,
  'isfinite(timestamptz) bool': isFiniteTime,
  'isfinite(interval) bool': () => true,
  'justify_hours(interval) interval': justifyHours,
  'justify_days(interval) interval': justifyDays,
  'justify_interval(interval) interval': (interval: Interval) => justifyInterval(interval),
  'to_timestamp(float8) timestamptz': instantOfSeconds,
  'to_timestamp(text, text) timestamptz': parseTimestampPattern,
  'to_date(text, text) date': (text: string, pattern: string) =>
    splitTimestamp(parseTimestampPattern(text, pattern)).days,
  'to_char(timestamp, text) text': (time: bigint, pattern: string) => formatTimestampPattern(time, pattern, ''),
  'to_char(timestamptz, text) text': (time: bigint, pattern: string) => formatTimestampPattern(time, pattern, 'UTC'),
  'to_char(numeric, text) text': (number: Numeric, pattern: string) => formatNumberPattern(number, pattern),
  'to_char(float8, text) text': (number: number, pattern: string) =>
    formatNumberPattern(numericOfFloat(number), pattern, 15),
  'to_char(float4, text) text': (number: number, pattern: string) =>
    formatNumberPattern(numericOfFloat(number), pattern, 6),
  'to_char(int4, text) text': (number: number, pattern: string) => formatNumberPattern(numericOf(number), pattern),
  'to_char(int8, text) text': (number: bigint, pattern: string) => formatNumberPattern(numericOf(number), pattern),
  'overlaps(date, date, date, date) bool': overlaps,
  'overlaps(timestamp, timestamp, timestamp, timestamp) bool': overlaps,
  'overlaps(timestamptz, timestamptz, timestamptz, timestamptz) bool': overlaps,
});

/** Half-open periods, whichever end comes first; a period of no length is a point. */
function overlaps(a: number | bigint, b: number | bigint, c: number | bigint, d: number | bigint): boolean {
  const [start, end] = a <= b ? [a, b] : [b, a];
  const [from, to] = c <= d ? [c, d] : [d, c];
  if (start === from) return true;
  return start < from ? from < end : start < to;
}

function instantOfSeconds(seconds: number): bigint {
  if (Number.isNaN(seconds)) throw new SqlError('22008', 'timestamp cannot be NaN');
  if (!Number.isFinite(seconds)) return timestampOfDate(seconds);
  const time = BigInt(Math.round(seconds * 1e6));
  if (!isTimestampInRange(time)) throw new SqlError('22008', `timestamp out of range: "${seconds}"`);
  return time;
}

export const timeFunctions: readonly Signature[] = [
  ...plain,
  ...typed(parts),
  ...ambient({
    'age(timestamp) interval': ({ transactionTime }, time: bigint) => age(midnight(transactionTime), time),
    'age(timestamptz) interval': ({ transactionTime }, time: bigint) => age(midnight(transactionTime), time),
  }),
];

function midnight(time: bigint): bigint {
  return joinTimestamp(splitTimestamp(time).days, 0n);
}
