/** INTERVAL n unit, in front of a date or behind it. */
import type { Cursor, Expression } from './cursor.ts';
import { operand, parseBits, parseOr, simple } from './nested.ts';

/** `INTERVAL 1 DAY + d`. INTERVAL(a, b, c) is a function. */
export function parseLeadingInterval(cursor: Cursor): Expression {
  const interval = parseIntervalOf(cursor);
  if (interval === undefined) throw cursor.unsupported('INTERVAL(...)');
  cursor.expect('+');
  const date = operand(parseBits(cursor, 5), 'multiplicative');
  return { output: [date, '+', interval.output], binding: 'additive' };
}

/** Units and what a number in front of them means for PostgreSQL's interval. Compound ones are strings such as '1:30'. */
const intervalUnits: Readonly<Record<string, string>> = {
  MICROSECOND: 'microsecond',
  SECOND: 'second',
  MINUTE: 'minute',
  HOUR: 'hour',
  DAY: 'day',
  WEEK: 'week',
  MONTH: 'month',
  QUARTER: 'quarter',
  YEAR: 'year',
};

/** `INTERVAL n unit` as an operand of `+` and `-`; `undefined`, and nothing taken, where INTERVAL is the function. */
export function parseIntervalOf(cursor: Cursor): Expression | undefined {
  const mark = cursor.mark();
  cursor.expect('INTERVAL');
  const literal = cursor.peek();
  const amount = parseOr(cursor);
  const unit = cursor.peek()?.text.toUpperCase() ?? '';
  const name = intervalUnits[unit];
  if (name === undefined) {
    if (/^(YEAR|DAY|HOUR|MINUTE|SECOND)_\w+$/.test(unit)) throw cursor.unsupported(`INTERVAL ... ${unit}`);
    cursor.back(mark);
    return undefined;
  }
  const isPlain = cursor.mark() === mark + 2 && (literal?.kind === 'number' || literal?.kind === 'string');
  cursor.take();
  // PostgreSQL's interval knows no quarters.
  const [times, of] = name === 'quarter' ? [3, 'month'] : [1, name];
  if (isPlain && times === 1 && /^\d+$/.test(literal?.value ?? '')) return simple(`INTERVAL '${literal?.value} ${of}'`);
  return { output: [operand(amount, 'multiplicative'), '*', `INTERVAL '${times} ${of}'`], binding: 'multiplicative' };
}
