/** Calls of MySQL's functions: found by name and number of arguments, which are converted to what is wanted. */
import type { Expression, Scope } from '../expression.ts';
import { SqlError, types, type SqlType } from '../model/index.ts';
import { mysqlHas } from '../known/server-names.ts';
import { evaluator } from './call.ts';
import { coerce, commonType, isConstant } from './coerce.ts';
import { metered } from './metered.ts';
import { mysqlFunctionTable } from './mysql-functions.ts';
import { mysqlSpecial } from './mysql-special.ts';
import { functionTable } from './functions.ts';
import { isNumber, isTemporal } from './mysql-values.ts';
import { commonSecondDigits } from './second-digits.ts';
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
  if (candidates === undefined) {
    const shared = mysqlHas.function(name) ? functionTable.get(name) : undefined;
    if (shared?.every((each) => !takes(each, operands.length)) === true) throw wrongCount(name, position);
    return undefined;
  }
  const signature = preferred(
    candidates.filter((each) => takes(each, operands.length)),
    operands,
  );
  if (signature === undefined) throw wrongCount(name, position);
  return called(signature, operands, scope);
}

function wrongCount(name: string, position: number): SqlError {
  const message = `Incorrect parameter count in the call to native function '${name.toUpperCase()}'`;
  return new SqlError('42000', message, { position, mysqlNumber: 1582 });
}

/** A text that is no JSON has a number of its own in an argument: 3141. */
function documentArgument(operand: Expression, argument: number, name: string): Expression {
  return {
    ...operand,
    evaluate: (frame) => {
      try {
        return operand.evaluate(frame);
      } catch (error) {
        if (!(error instanceof SqlError) || error.detail.mysqlNumber !== 3140) throw error;
        const message = `Invalid JSON text in argument ${argument + 1} to function ${name}: "Invalid value."`;
        throw new SqlError('22032', message, { mysqlNumber: 3141 });
      }
    },
  };
}

/** Among functions of one name: for bytes where an argument has bytes for text, for numbers where the first is one. */
function preferred(candidates: readonly Signature[], operands: readonly Expression[]): Signature | undefined {
  const has = (signature: Signature, name: SqlType['name']): boolean =>
    signature.parameters.some((parameter) => typeof parameter === 'object' && parameter.name === name);
  const isOf = (name: SqlType['name']) => (signature: Signature) => has(signature, name);
  const plain = candidates.find((each) => !has(each, 'bytea') && !isOfNumber(each));
  const takesBytes = operands.some(({ type }, i) => type.name === 'bytea' && wantsText(plain, i));
  if (takesBytes) return candidates.find(isOf('bytea')) ?? plain;
  const [first] = operands;
  if (first !== undefined && isNumber(first.type)) return candidates.find(isOfNumber) ?? plain;
  return plain ?? candidates[0];
}

function isOfNumber({ name, parameters: [first] }: Signature): boolean {
  return name === 'hex' && typeof first === 'object' && first.name === 'int8';
}

function wantsText(signature: Signature | undefined, argument: number): boolean {
  if (signature === undefined) return false;
  const parameter = signature.parameters[Math.min(argument, signature.parameters.length - 1)];
  return typeof parameter === 'object' && parameter.name === 'text';
}

function takes({ parameters, isVariadic }: Signature, count: number): boolean {
  return isVariadic ? count >= parameters.length : count === parameters.length;
}

/** Those of the arguments; of the clock, which has no arguments but the digits themselves, these, and else none. */
function digitsOfCall(operands: readonly Expression[]): number {
  const [first] = operands;
  if (first === undefined) return 0;
  if (!isNumber(first.type)) return commonSecondDigits(operands, 'mysql');
  return isConstant(first) && typeof first.constant === 'number' ? first.constant : -1;
}

function called(signature: Signature, operands: readonly Expression[], scope: Scope): Expression {
  const isDocument = typeof signature.result === 'object' && signature.result.name === 'jsonb';
  const settled = operands.map((operand, i) => {
    const wanted = signature.parameters[Math.min(i, signature.parameters.length - 1)];
    // In a document a date is its text.
    const isText = operand.type.name === 'unknown' || (isDocument && isTemporal(operand.type));
    const type = typeof wanted === 'object' ? wanted : isText ? types.text : operand.type;
    const converted = coerce(operand, type, -1, 'explicit', scope);
    return type.name === 'jsonb' ? documentArgument(converted, i, signature.name) : converted;
  });
  const given = settled.map(({ type }) => type);
  const result: SqlType =
    typeof signature.result === 'object' ? signature.result : commonType(given, signature.name, 'mysql');
  const call = { types: given, result, dialect: 'mysql' } as const;
  const implementation = metered(signature.name, call, signature.implement(call));
  return {
    type: result,
    modifier: isTemporal(result) && result.name !== 'date' ? digitsOfCall(settled) : -1,
    isRowFree: !signature.isVolatile && settled.every(({ isRowFree }) => isRowFree),
    isVolatile: signature.isVolatile || settled.some(({ isVolatile = false }) => isVolatile),
    evaluate: evaluator(
      implementation,
      settled.map(({ evaluate }) => evaluate),
      signature.isStrict,
    ),
  };
}
