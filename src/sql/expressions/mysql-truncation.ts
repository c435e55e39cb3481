/** Strict mode of a statement that writes: a text that becomes a number when a row is looked at has to be one as a whole. */
import type { Expression } from '../expression.ts';
import { SqlError } from '../model/index.ts';
import { isTextual } from './mysql-values.ts';

const number = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/** @param convert to a number @throws SqlError 22007 (1292), when it runs */
export function withoutTruncation(expression: Expression, convert: (expression: Expression) => Expression): Expression {
  if (!isTextual(expression.type) || expression.type.name === 'enum') return convert(expression);
  if ('constant' in expression) {
    // It is converted when the statement is planned.
    const { constant } = expression;
    const converted = convert(expression);
    return {
      ...converted,
      evaluate: (frame) => {
        refuse(constant);
        return converted.evaluate(frame);
      },
    };
  }
  return convert({
    ...expression,
    evaluate: (frame) => {
      const value = expression.evaluate(frame);
      refuse(value);
      return value;
    },
  });
}

function refuse(value: unknown): void {
  if (typeof value !== 'string' || number.test(value)) return;
  throw new SqlError('22007', `Truncated incorrect DOUBLE value: '${value}'`, { mysqlNumber: 1292 });
}
