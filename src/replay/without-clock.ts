/** What runs came to, without the moments at which they ran: a column that is filled with the time differs in every run. */
import { wallClockMicroseconds } from '../base/index.ts';

const moment = /(\d{4}-\d\d-\d\d)[ T]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d(?::?\d\d)?)?/g;

/** The server may have another time zone. */
const aroundMs = 2 * 24 * 60 * 60 * 1_000;

/** With the same word for every moment of these days. */
export function withoutClock(text: string): string {
  const nowMs = Number(wallClockMicroseconds()) / 1_000;
  return text.replaceAll(moment, (found, day: string) =>
    Math.abs(Date.parse(day) - nowMs) < aroundMs ? 'now' : found,
  );
}
