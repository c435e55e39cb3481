/** DATE_FORMAT. MySQL reference manual, 14.7. */
import { civilOfDays, dayOfWeek, daysOfCivil, digits, splitTimestamp } from '../value-time.ts';
import { isoWeek } from './time-fields.ts';

const monthNames = 'January February March April May June July August September October November December'.split(' ');
const dayNames = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

export function formatMysqlDate(instant: bigint, pattern: string): string {
  return pattern.replace(/%(.)/gs, (_all, letter: string) => field(letter, instant));
}

function field(letter: string, instant: bigint): string {
  const { days, time } = splitTimestamp(instant);
  const { year, month, day } = civilOfDays(days);
  const second = Number(time / 1_000_000n);
  const hour = Math.floor(second / 3600);
  const clock = [Math.floor(second / 60) % 60, second % 60].map((part) => digits(part, 2)).join(':');
  const half = hour < 12 ? 'AM' : 'PM';
  const hour12 = hour % 12 || 12;
  const fields: Readonly<Record<string, string>> = {
    Y: digits(year, 4),
    y: digits(year % 100, 2),
    m: digits(month, 2),
    c: String(month),
    M: monthNames[month - 1] ?? '',
    b: (monthNames[month - 1] ?? '').slice(0, 3),
    d: digits(day, 2),
    e: String(day),
    D: `${day}${ordinal(day)}`,
    j: digits(days - daysOfCivil({ year, month: 1, day: 1 }) + 1, 3),
    W: dayNames[dayOfWeek(days)] ?? '',
    a: (dayNames[dayOfWeek(days)] ?? '').slice(0, 3),
    w: String(dayOfWeek(days)),
    H: digits(hour, 2),
    k: String(hour),
    h: digits(hour12, 2),
    I: digits(hour12, 2),
    l: String(hour12),
    i: digits(Math.floor(second / 60) % 60, 2),
    S: digits(second % 60, 2),
    s: digits(second % 60, 2),
    f: digits(Number(time % 1_000_000n), 6),
    p: half,
    r: `${digits(hour12, 2)}:${clock} ${half}`,
    T: `${digits(hour, 2)}:${clock}`,
    v: digits(isoWeek(days).week, 2),
    x: digits(isoWeek(days).year, 4),
  };
  return fields[letter] ?? letter;
}

function ordinal(day: number): string {
  if (day > 10 && day < 14) return 'th';
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th';
}
