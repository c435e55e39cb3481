/** INTERVAL n unit, in front of a date or behind it. */
import type { Node } from '@pgsql/types';
import { operation } from '../tree/expression.ts';
import { intervalNode } from '../tree/type-name.ts';
import type { Cursor } from './cursor.ts';
import { parseBits, parseExpression } from './nested.ts';

/** `INTERVAL 1 DAY + d`. INTERVAL(a, b, c) is a function. */
export function parseLeadingInterval(cursor: Cursor): Node {
  const at = cursor.at();
  const interval = parseIntervalOf(cursor);
  if (interval === undefined) throw cursor.unsupported('INTERVAL(...)');
  cursor.expect('+');
  return operation('+', parseBits(cursor, 5), interval, at);
}

const intervalUnits: ReadonlySet<string> = new Set(
  'microsecond second minute hour day week month quarter year'.split(' '),
);

/** `INTERVAL n unit` as an operand of `+` and `-`; `undefined`, and nothing taken, where INTERVAL is the function. */
export function parseIntervalOf(cursor: Cursor): Node | undefined {
  const mark = cursor.mark();
  const { at } = cursor.expect('INTERVAL');
  const literal = cursor.peek();
  const amount = parseExpression(cursor);
  const unit = cursor.peek()?.text ?? '';
  if (!isIntervalUnit(unit)) {
    // Compound ones are strings such as '1:30'.
    if (/^(YEAR|DAY|HOUR|MINUTE|SECOND)_\w+$/i.test(unit))
      throw cursor.unsupported(`INTERVAL ... ${unit.toUpperCase()}`);
    cursor.back(mark);
    return undefined;
  }
  const isPlain = cursor.mark() === mark + 2 && (literal?.kind === 'number' || literal?.kind === 'string');
  const { at: unitAt } = cursor.take();
  const digits = isPlain && /^\d+$/.test(literal.value) ? literal.value : undefined;
  if (digits !== undefined && !/^quarter$/i.test(unit)) return intervalNode(`${digits} ${unit.toLowerCase()}`, at);
  return timesUnit(amount, unit, unitAt);
}

export function isIntervalUnit(word: string): boolean {
  return intervalUnits.has(word.toLowerCase());
}

/** So many of a unit. PostgreSQL's interval knows no quarters. */
export function timesUnit(amount: Node, unit: string, at: number): Node {
  const name = unit.toLowerCase();
  return operation('*', amount, intervalNode(name === 'quarter' ? '3 month' : `1 ${name}`, at), at);
}
