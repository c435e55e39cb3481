import type { Expression, Frame } from '../expression.ts';
import type { SqlValue } from '../model/index.ts';

/** The values of several expressions of one row. */
export function valuesReader(operands: readonly Expression[]): (frame: Frame) => readonly SqlValue[] {
  const [first, second] = operands;
  if (first === undefined) return () => noValues;
  if (second === undefined) return (frame) => [first.evaluate(frame)];
  return (frame) => operands.map(({ evaluate }) => evaluate(frame));
}

const noValues: readonly SqlValue[] = [];
