/** DATE_FORMAT. MySQL reference manual, 14.7. */
import { civilOfDays, dayOfWeek, daysOfCivil, digits, microsecondsPerDay, splitTimestamp } from '../model/index.ts';
import { isoWeek } from './time-fields.ts';

const monthNames = 'January February March April May June July August September October November December'.split(' ');
const dayNames = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

export function formatMysqlDate(instant: bigint, pattern: string): string {
  return pattern.replace(/%(.)/gs, (_all, letter: string) => field(letter, instant));
}

const fieldsOfDays = new Set(['a', 'b', 'D', 'j', 'M', 'v', 'W', 'w', 'x']);

/** Of a TIME: its hours are not those of a day, and its date is that of zeros. NULL where the pattern asks for the name of a day or month. */
export function formatMysqlTime(time: bigint, pattern: string): string | null {
  const size = time < 0n ? -time : time;
  const hours = String(size / 3_600_000_000n);
  const zeros: Readonly<Record<string, string>> = { Y: '0000', y: '00', m: '00', c: '0', d: '00', e: '0' };
  let hasNoField = false;
  const text = pattern.replace(/%(.)/gs, (_all, letter: string) => {
    if (fieldsOfDays.has(letter)) hasNoField = true;
    if (letter === 'H' || letter === 'k') return letter === 'H' ? hours.padStart(2, '0') : hours;
    if (letter === 'T') return field(letter, size % microsecondsPerDay).replace(/^\d+/, hours.padStart(2, '0'));
    return zeros[letter] ?? field(letter, size % microsecondsPerDay);
  });
  return hasNoField ? null : `${time < 0n ? '-' : ''}${text}`;
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
