/** Calls of MySQL's functions: found by name and number of arguments, which are converted to what is wanted. */
import type { Expression, Scope } from '../expression.ts';
import { SqlError } from '../sql-error.ts';
import { types } from '../type.ts';
import type { SqlType } from '../type.ts';
import { evaluator } from './call.ts';
import { coerce, commonType } from './coerce.ts';
import { mysqlFunctionTable } from './mysql-functions.ts';
import { mysqlSpecial } from './mysql-special.ts';
import type { Signature } from './signature.ts';

/** `undefined`: not a function that MySQL does its own way. @throws SqlError 42000 wrong number of arguments */
export function callMysqlFunction(
  name: string,
  operands: readonly Expression[],
  scope: Scope,
  position: number,
): Expression | undefined {
  const special = mysqlSpecial(name, operands, scope);
  if (special !== undefined) return special;
  const candidates = mysqlFunctionTable.get(name);
  if (candidates === undefined) return undefined;
  const signature = candidates.find((each) => takes(each, operands.length));
  if (signature === undefined) {
    throw new SqlError('42000', `Incorrect parameter count in the call to native function '${name.toUpperCase()}'`, {
      position,
      mysqlNumber: 1582,
    });
  }
  return called(signature, operands, scope);
}

function takes({ parameters, isVariadic }: Signature, count: number): boolean {
  return isVariadic ? count >= parameters.length : count === parameters.length;
}

function called(signature: Signature, operands: readonly Expression[], scope: Scope): Expression {
  const settled = operands.map((operand, i) => {
    const wanted = signature.parameters[Math.min(i, signature.parameters.length - 1)];
    const type = typeof wanted === 'object' ? wanted : operand.type.name === 'unknown' ? types.text : operand.type;
    return coerce(operand, type, -1, 'explicit', scope);
  });
  const given = settled.map(({ type }) => type);
  const result: SqlType =
    typeof signature.result === 'object' ? signature.result : commonType(given, signature.name, 'mysql');
  const implementation = signature.implement({ types: given, result, dialect: 'mysql' });
  return {
    type: result,
    modifier: -1,
    isRowFree: !signature.isVolatile && settled.every(({ isRowFree }) => isRowFree),
    evaluate: evaluator(
      implementation,
      settled.map(({ evaluate }) => evaluate),
      signature.isStrict,
    ),
  };
}
