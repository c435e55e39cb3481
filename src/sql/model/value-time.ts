/** Days, times of day and instants: the proleptic Gregorian calendar, as PostgreSQL counts. Days and microseconds are from 1970-01-01. */

const microsecondsPerSecond = 1_000_000n;
export const microsecondsPerDay = 86_400_000_000n;

/** `infinity` and `-infinity` of timestamps; dates use the numbers Infinity and -Infinity. */
export const lastTime = 2n ** 63n - 1n;
export const firstTime = -(2n ** 63n);

export function isFiniteTime(microseconds: bigint): boolean {
  return microseconds !== lastTime && microseconds !== firstTime;
}

/** PostgreSQL's timestamps end before 294277-01-01 and begin at 4713-11-24 BC (Julian day 0). */
export const timestampEnd = 9_224_318_016_000_000_000n;
export const timestampBegin = -210_866_803_200_000_000n;
/** Dates end before 5874898-01-01. */
export const dateEnd = 2_145_042_541;
export const dateBegin = -2_440_588;

export function isTimestampInRange(microseconds: bigint): boolean {
  return microseconds >= timestampBegin && microseconds < timestampEnd;
}

/** A date of the calendar; year 0 is 1 BC. */
export interface Civil {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
}

/** H. Hinnant, "chrono-compatible low-level date algorithms": eras of 400 years that begin in March. */
export function daysOfCivil({ year, month, day }: Civil): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

export function civilOfDays(days: number): Civil {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1 };
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

/** An instant as its day and the time in it. */
export function splitTimestamp(microseconds: bigint): { readonly days: number; readonly time: bigint } {
  const days = floorDivide(microseconds, microsecondsPerDay);
  return { days: Number(days), time: microseconds - days * microsecondsPerDay };
}

export function joinTimestamp(days: number, time: bigint): bigint {
  return BigInt(days) * microsecondsPerDay + time;
}

export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

/** Months later; a day that the month does not have becomes its last. */
export function addMonths(days: number, months: number): number {
  const { year, month, day } = civilOfDays(days);
  const count = year * 12 + (month - 1) + months;
  const newYear = Math.floor(count / 12);
  const newMonth = count - newYear * 12 + 1;
  return daysOfCivil({ year: newYear, month: newMonth, day: Math.min(day, daysInMonth(newYear, newMonth)) });
}

/** Thursday, 1970-01-01, is 4; Sunday is 0. */
export function dayOfWeek(days: number): number {
  return (((days + 4) % 7) + 7) % 7;
}

export function formatDate(days: number): string {
  if (!Number.isFinite(days)) return days > 0 ? 'infinity' : '-infinity';
  const { text, suffix } = dateText(days);
  return text + suffix;
}

export function formatTimestamp(microseconds: bigint): string {
  return formatInstant(microseconds, '');
}

/** In UTC: `2020-01-01 00:00:00+00`. */
export function formatTimestamptz(microseconds: bigint): string {
  return formatInstant(microseconds, '+00');
}

function formatInstant(microseconds: bigint, zone: string): string {
  if (!isFiniteTime(microseconds)) return microseconds > 0n ? 'infinity' : '-infinity';
  const { days, time } = splitTimestamp(microseconds);
  const { text, suffix } = dateText(days);
  return `${text} ${formatTime(time)}${zone}${suffix}`;
}

function dateText(days: number): { readonly text: string; readonly suffix: string } {
  const { year, month, day } = civilOfDays(days);
  const shown = year > 0 ? year : 1 - year;
  return { text: `${digits(shown, 4)}-${digits(month, 2)}-${digits(day, 2)}`, suffix: year > 0 ? '' : ' BC' };
}

/** `13:00:00.5`. MySQL's times may be negative or above a day: hours go on. */
export function formatTime(microseconds: bigint): string {
  const sign = microseconds < 0n ? '-' : '';
  const magnitude = microseconds < 0n ? -microseconds : microseconds;
  const seconds = magnitude / microsecondsPerSecond;
  const clock = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n]
    .map((part) => digits(Number(part), 2))
    .join(':');
  return sign + clock + fractionText(magnitude % microsecondsPerSecond);
}

/** `.5` for 500000; nothing for 0. */
export function fractionText(microseconds: bigint): string {
  return microseconds === 0n ? '' : `.${digits(Number(microseconds), 6).replace(/0+$/, '')}`;
}

export function digits(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
