/** EXTRACT(unit FROM value). MySQL reference manual, 14.7: several units are the digits of each, one behind the other. */
import { civilOfDays, dayOfWeek, daysOfCivil, splitTimestamp } from '../model/index.ts';

/** Microseconds of the day, with a sign for a TIME; days since 1970 where the value has a date. */
export interface Moment {
  readonly days: number | null;
  readonly time: bigint;
}

export function momentOfTimestamp(timestamp: bigint): Moment {
  return splitTimestamp(timestamp);
}

type Field = 'year' | 'quarter' | 'month' | 'week' | 'day' | 'hour' | 'minute' | 'second' | 'microsecond';

/** How many digits a field has behind another. */
const widths: Readonly<Partial<Record<Field, number>>> = { month: 2, hour: 2, minute: 2, second: 2, microsecond: 6 };

/** `day_second` is day, hour, minute and second. */
const inOrder: readonly Field[] = ['day', 'hour', 'minute', 'second', 'microsecond'];

/** The fields of a unit, the largest first; `undefined`: no unit. */
export function fieldsOfUnit(unit: string): readonly Field[] | undefined {
  if (Object.hasOwn(readers, unit)) return [unit as Field];
  if (unit === 'year_month') return ['year', 'month'];
  const [from, to] = unit.split('_').map((name) => inOrder.indexOf(name as Field));
  return from === undefined || to === undefined || from < 0 || to <= from ? undefined : inOrder.slice(from, to + 1);
}

/** Does the unit need a date? Then a text is read as one, and a TIME has none. */
export function isOfDate(fields: readonly Field[]): boolean {
  return fields.some((field) => ['year', 'quarter', 'month', 'week'].includes(field)) || fields.join() === 'day';
}

export function extractFields({ days, time }: Moment, fields: readonly Field[]): bigint {
  const size = time < 0n ? -time : time;
  let result = 0n;
  for (const [i, field] of fields.entries()) {
    const width = i === 0 ? 0 : (widths[field] ?? 0);
    result = result * 10n ** BigInt(width) + readers[field](days ?? 0, size);
  }
  return time < 0n ? -result : result;
}

const readers: Readonly<Record<Field, (days: number, time: bigint) => bigint>> = {
  year: (days) => BigInt(civilOfDays(days).year),
  quarter: (days) => BigInt(Math.ceil(civilOfDays(days).month / 3)),
  month: (days) => BigInt(civilOfDays(days).month),
  week: (days) => BigInt(weekFromSunday(days)),
  day: (days) => BigInt(civilOfDays(days).day),
  hour: (_days, time) => time / 3_600_000_000n,
  minute: (_days, time) => (time / 60_000_000n) % 60n,
  second: (_days, time) => (time / 1_000_000n) % 60n,
  microsecond: (_days, time) => time % 1_000_000n,
};

/** `default_week_format` 0: weeks begin on Sunday, the first one is that of the year's first Sunday. */
function weekFromSunday(days: number): number {
  const first = daysOfCivil({ year: civilOfDays(days).year, month: 1, day: 1 });
  const firstSunday = first + ((7 - dayOfWeek(first)) % 7);
  return days < firstSunday ? 0 : Math.floor((days - firstSunday) / 7) + 1;
}
