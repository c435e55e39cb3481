/** One operator, its left side evaluated once, over many right sides: ANY, ALL, IN. */
import type { Expression, Frame, Scope } from '../expression.ts';
import type { SqlType, SqlValue } from '../model/index.ts';
import { applyOperator } from './apply-operator.ts';
import { cellOf } from './compiler.ts';
import { isConstant, isUnknownLiteral, isUntypedParameter } from './coerce.ts';

export interface RepeatedOperator {
  /** Evaluates the left side. */
  readonly begin: (frame: Frame) => SqlValue;
  /** The operator on it and this value. */
  readonly compare: (value: SqlValue, frame: Frame) => SqlValue;
}

/** @throws SqlError 42883 */
export function repeatedOperator(
  operator: string,
  left: Expression,
  right: SqlType,
  scope: Scope,
  position: number,
): RepeatedOperator {
  const rightCell = cellOf({ type: right });
  // What takes its type from the other side, or never changes, goes in as it is.
  const isFixed = isConstant(left) || isUnknownLiteral(left) || isUntypedParameter(left);
  const leftCell = cellOf(left);
  const { evaluate } = applyOperator(
    operator,
    [isFixed ? left : leftCell.expression, rightCell.expression],
    scope,
    position,
  );
  return {
    begin: (frame) => {
      leftCell.value = left.evaluate(frame);
      return leftCell.value;
    },
    compare: (value, frame) => {
      rightCell.value = value;
      return evaluate(frame);
    },
  };
}
