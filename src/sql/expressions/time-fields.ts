/** The fields of dates, times and intervals: EXTRACT and date_trunc. PostgreSQL manual, 9.9.1 and 9.9.2. */
import {
  numericOf,
  type Numeric,
  notSupported,
  SqlError,
  typeTitle,
  type SqlType,
  intervalOf,
  civilOfDays,
  dayOfWeek,
  daysOfCivil,
  isFiniteTime,
  joinTimestamp,
  microsecondsPerDay,
  splitTimestamp,
  type Interval,
} from '../model/index.ts';

/** The words for a field, and its name. */
const fieldNames: ReadonlyMap<string, string> = new Map(
  [
    'microseconds microsecond us usec usecs usecond useconds',
    'milliseconds millisecond ms msec msecs msecond mseconds',
    'second seconds s sec secs',
    'minute minutes m min mins',
    'hour hours h hr hrs',
    'day days d',
    'week weeks w',
    'month months mon mons',
    'quarter qtr',
    'year years y yr yrs',
    'decade decades dec decs',
    'century centuries c cent',
    'millennium millennia mil mils',
    'dow',
    'isodow',
    'doy',
    'isoyear',
    'epoch',
    'julian',
    'timezone',
    'timezone_hour',
    'timezone_minute',
  ].flatMap((words) => words.split(' ').map((word, _i, [name = word]) => [word, name] as const)),
);

type Moment = number | bigint | Interval;

/** `null`: a field of infinity that has no value. @throws SqlError 22023, 0A000 */
export function extractField(field: string, value: Moment, type: SqlType): Numeric | null {
  const name = fieldNames.get(field.toLowerCase());
  if (name === undefined) throw unknownField(field, type);
  switch (type.name) {
    case 'interval':
      return orUnsupported(intervalField(name, value as Interval), field, type);
    case 'time':
      return orUnsupported(name === 'epoch' ? seconds(value as bigint) : timeField(name, value as bigint), field, type);
    case 'date':
      return extractFromDate(name, value as number, field, type);
    default:
      return extractFromInstant(name, value as bigint, field, type);
  }
}

function unknownField(field: string, type: SqlType): SqlError {
  return new SqlError('22023', `unit "${field.toLowerCase()}" not recognized for type ${typeTitle(type)}`);
}

function orUnsupported(part: Numeric | undefined, field: string, type: SqlType): Numeric {
  if (part !== undefined) return part;
  throw new SqlError('0A000', `unit "${field.toLowerCase()}" not supported for type ${typeTitle(type)}`);
}

function extractFromDate(name: string, days: number, field: string, type: SqlType): Numeric | null {
  if (!Number.isFinite(days)) return infiniteField(name, days > 0, field, type);
  if (name === 'epoch') return numericOf(days * 86_400);
  if (name === 'julian') return numericOf(days + 2_440_588);
  return orUnsupported(dateField(name, days), field, type);
}

function extractFromInstant(name: string, instant: bigint, field: string, type: SqlType): Numeric | null {
  if (!isFiniteTime(instant)) return infiniteField(name, instant > 0n, field, type);
  if (name === 'epoch') return seconds(instant);
  if (name.startsWith('timezone')) {
    return orUnsupported(type.name === 'timestamptz' ? numericOf(0) : undefined, field, type);
  }
  const { days, time } = splitTimestamp(instant);
  if (name === 'julian') return julian(days, time);
  return orUnsupported(dateField(name, days) ?? timeField(name, time), field, type);
}

/** A day and its fraction, to the microsecond; a whole day shows none. */
function julian(days: number, time: bigint): Numeric {
  const micro = BigInt(days + 2_440_588) * microsecondsPerDay + time;
  if (time === 0n) return numericOf(days + 2_440_588);
  const scaled = (micro * 10n ** 20n) / microsecondsPerDay;
  return numericOf(`${scaled}e-20`, 20);
}

const growing: ReadonlySet<string> = new Set('year decade century millennium julian isoyear epoch'.split(' '));

/** What grows without end is infinite; what goes round has no value. */
function infiniteField(name: string, isPositive: boolean, field: string, type: SqlType): Numeric | null {
  if (growing.has(name)) return numericOf(isPositive ? Infinity : -Infinity);
  if (type.name === 'date' && dateField(name, 0) === undefined) return orUnsupported(undefined, field, type);
  return null;
}

function seconds(microseconds: bigint): Numeric {
  return numericOf(`${microseconds}e-6`, 6);
}

function timeField(name: string, time: bigint): Numeric | undefined {
  const inMinute = time % 60_000_000n;
  switch (name) {
    case 'microseconds':
      return numericOf(inMinute);
    case 'milliseconds':
      return numericOf(`${inMinute}e-3`, 3);
    case 'second':
      return seconds(inMinute);
    case 'minute':
      return numericOf((time / 60_000_000n) % 60n);
    case 'hour':
      return numericOf(time / 3_600_000_000n);
    default:
      return undefined;
  }
}

/** Years before Christ are negative and there is no year zero; centuries begin with their year 1. */
function dateField(name: string, days: number): Numeric | undefined {
  const { year, month, day } = civilOfDays(days);
  switch (name) {
    case 'day':
      return numericOf(day);
    case 'month':
      return numericOf(month);
    case 'quarter':
      return numericOf(Math.ceil(month / 3));
    case 'year':
      return numericOf(year > 0 ? year : year - 1);
    case 'decade':
      return numericOf(Math.floor(year / 10));
    case 'century':
      return numericOf(periodOf(year, 100));
    case 'millennium':
      return numericOf(periodOf(year, 1000));
    case 'dow':
      return numericOf(dayOfWeek(days));
    case 'isodow':
      return numericOf(dayOfWeek(days) || 7);
    case 'doy':
      return numericOf(days - daysOfCivil({ year, month: 1, day: 1 }) + 1);
    case 'week':
      return numericOf(isoWeek(days).week);
    case 'isoyear':
      return numericOf(isoYearShown(isoWeek(days).year));
    default:
      return undefined;
  }
}

function isoYearShown(year: number): number {
  return year > 0 ? year : year - 1;
}

function periodOf(year: number, length: number): number {
  return year > 0 ? Math.floor((year + length - 1) / length) : -Math.floor((length - year) / length);
}

/** ISO 8601: week 1 has the year's first Thursday. */
export function isoWeek(days: number): { readonly year: number; readonly week: number } {
  const thursday = days - ((dayOfWeek(days) + 6) % 7) + 3;
  const { year } = civilOfDays(thursday);
  return { year, week: Math.floor((thursday - daysOfCivil({ year, month: 1, day: 1 })) / 7) + 1 };
}

function intervalField(name: string, { months, days, microseconds }: Interval): Numeric | undefined {
  const years = Math.trunc(months / 12);
  const part = (value: number): Numeric => numericOf(Math.trunc(value) || 0);
  switch (name) {
    case 'epoch': {
      // A year has 365.25 days, a month 30.
      const wholeYears = BigInt(years) * 31_557_600_000_000n;
      const rest = BigInt(months % 12) * 30n * microsecondsPerDay + BigInt(days) * microsecondsPerDay;
      return seconds(wholeYears + rest + microseconds);
    }
    case 'day':
      return part(days);
    case 'month':
      return part(months % 12);
    case 'quarter':
      return part((months % 12) / 3 + 1);
    case 'year':
      return part(years);
    case 'decade':
      return part(years / 10);
    case 'century':
      return part(years / 100);
    case 'millennium':
      return part(years / 1000);
    default:
      return timeField(name, microseconds);
  }
}

const unitMicroseconds: Readonly<Record<string, bigint>> = {
  microseconds: 1n,
  milliseconds: 1000n,
  second: 1_000_000n,
  minute: 60_000_000n,
  hour: 3_600_000_000n,
};

/** @throws SqlError 22023 */
export function truncateTimestamp(field: string, instant: bigint): bigint {
  const name = fieldNames.get(field.toLowerCase());
  if (name === undefined)
    throw new SqlError('22023', `unit "${field.toLowerCase()}" not recognized for type timestamp without time zone`);
  const { days, time } = splitTimestamp(instant);
  if (!isFiniteTime(instant)) return instant;
  const unit = unitMicroseconds[name];
  if (unit !== undefined) return joinTimestamp(days, time - (time % unit));
  const start = startOf(name, days);
  if (start === undefined) throw notSupported(`unit "${field.toLowerCase()}"`);
  return joinTimestamp(start, 0n);
}

function startOf(name: string, days: number): number | undefined {
  const { year, month } = civilOfDays(days);
  const january = (first: number): number => daysOfCivil({ year: first, month: 1, day: 1 });
  switch (name) {
    case 'day':
      return days;
    case 'week':
      return days - ((dayOfWeek(days) + 6) % 7);
    case 'month':
      return daysOfCivil({ year, month, day: 1 });
    case 'quarter':
      return daysOfCivil({ year, month: Math.floor((month - 1) / 3) * 3 + 1, day: 1 });
    case 'year':
      return january(year);
    case 'decade':
      return january(Math.floor(year / 10) * 10);
    case 'century':
      return january(Math.floor((year - 1) / 100) * 100 + 1);
    case 'millennium':
      return january(Math.floor((year - 1) / 1000) * 1000 + 1);
    default:
      return undefined;
  }
}

/** @throws SqlError 22023 */
export function truncateInterval(field: string, { months, days, microseconds }: Interval): Interval {
  const name = fieldNames.get(field.toLowerCase());
  if (name === undefined) throw new SqlError('22023', `unit "${field.toLowerCase()}" not recognized for type interval`);
  const unit = unitMicroseconds[name];
  if (unit !== undefined) return intervalOf(months, days, microseconds - (microseconds % unit));
  const monthUnits: Readonly<Record<string, number>> = {
    month: 1,
    quarter: 3,
    year: 12,
    decade: 120,
    century: 1200,
    millennium: 12_000,
  };
  const length = monthUnits[name];
  if (name === 'day') return intervalOf(months, days, 0n);
  if (length === undefined) {
    throw new SqlError('0A000', `unit "${field.toLowerCase()}" not supported for type interval`);
  }
  return intervalOf(months - (months % length), 0, 0n);
}
