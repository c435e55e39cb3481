/** Arithmetic of dates, times and intervals. PostgreSQL manual, table 9.32. */
import {
  SqlError,
  addIntervals,
  divideInterval,
  intervalOf,
  negateInterval,
  scaleInterval,
  addMonths,
  dateBegin,
  dateEnd,
  floorDivide,
  isFiniteTime,
  isTimestampInRange,
  joinTimestamp,
  microsecondsPerDay,
  splitTimestamp,
  type Interval,
} from '../model/index.ts';
import { timestampOfDate } from './cast-values.ts';
import { type Plain, type Signature, strict } from './signature.ts';

/** Months first, then days, then the time: timestamp.c, `timestamp_pl_interval`. @throws SqlError 22008 */
export function addToTimestamp(microseconds: bigint, interval: Interval): bigint {
  if (!isFiniteTime(microseconds)) return microseconds;
  const { days, time } = splitTimestamp(microseconds);
  const shifted = (interval.months === 0 ? days : addMonths(days, interval.months)) + interval.days;
  const result = joinTimestamp(shifted, time) + interval.microseconds;
  if (!isTimestampInRange(result)) throw new SqlError('22008', 'timestamp out of range');
  return result;
}

function addDays(days: number, count: number): number {
  if (!Number.isFinite(days)) return days;
  const result = days + count;
  if (result < dateBegin || result >= dateEnd) throw new SqlError('22008', 'date out of range');
  return result;
}

function dateDifference(a: number, b: number): number {
  if (!Number.isFinite(a) || !Number.isFinite(b)) throw new SqlError('22008', 'cannot subtract infinite dates');
  return a - b;
}

/** Whole days come out as days: `interval_justify_hours`. */
function timestampDifference(a: bigint, b: bigint): Interval {
  if (!isFiniteTime(a) || !isFiniteTime(b)) throw new SqlError('22008', 'cannot subtract infinite timestamps');
  const difference = a - b;
  const days = difference / microsecondsPerDay;
  return intervalOf(0, Number(days), difference - days * microsecondsPerDay);
}

function addToTime(time: bigint, { microseconds }: Interval): bigint {
  const sum = time + microseconds;
  return sum - floorDivide(sum, microsecondsPerDay) * microsecondsPerDay;
}

const table = strict({
  '+(date, int4) date': addDays,
  '+(int4, date) date': (count: number, days: number) => addDays(days, count),
  '-(date, int4) date': (days: number, count: number) => addDays(days, -count),
  '-(date, date) int4': dateDifference,
  '+(date, time) timestamp': (days: number, time: bigint) => {
    const midnight = timestampOfDate(days);
    return isFiniteTime(midnight) ? midnight + time : midnight;
  },
  '+(time, date) timestamp': (time: bigint, days: number) => {
    const midnight = timestampOfDate(days);
    return isFiniteTime(midnight) ? midnight + time : midnight;
  },
  '+(date, interval) timestamp': (days: number, interval: Interval) => addToTimestamp(timestampOfDate(days), interval),
  '+(interval, date) timestamp': (interval: Interval, days: number) => addToTimestamp(timestampOfDate(days), interval),
  '-(date, interval) timestamp': (days: number, interval: Interval) =>
    addToTimestamp(timestampOfDate(days), negateInterval(interval)),
  '+(time, interval) time': addToTime,
  '+(interval, time) time': (interval: Interval, time: bigint) => addToTime(time, interval),
  '-(time, interval) time': (time: bigint, interval: Interval) => addToTime(time, negateInterval(interval)),
  '-(time, time) interval': (a: bigint, b: bigint) => intervalOf(0, 0, a - b),
  '+(interval, interval) interval': addIntervals,
  '-(interval, interval) interval': (a: Interval, b: Interval) => addIntervals(a, negateInterval(b)),
  '-(interval) interval': negateInterval,
  '*(interval, float8) interval': scaleInterval,
  '*(float8, interval) interval': (factor: number, interval: Interval) => scaleInterval(interval, factor),
  '/(interval, float8) interval': divideInterval,
});
const built: Record<string, Plain> = {};
for (const name of ['timestamp', 'timestamptz']) {
  built[`+(${name}, interval) ${name}`] = addToTimestamp;
  built[`+(interval, ${name}) ${name}`] = (interval: Interval, time: bigint) => addToTimestamp(time, interval);
  built[`-(${name}, interval) ${name}`] = (time: bigint, interval: Interval) =>
    addToTimestamp(time, negateInterval(interval));
  built[`-(${name}, ${name}) interval`] = timestampDifference;
}

export const timeOperators: readonly Signature[] = [...table, ...strict(built)];
