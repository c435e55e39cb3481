/** What MySQL has operators, variables or words for, and PostgreSQL not: the calls of tree/mysql.ts. */
import type { Expression, Scope } from '../expression.ts';
import { type Numeric, SqlError, types, unscaled } from '../model/index.ts';
import type { MysqlCall } from '../tree/mysql.ts';
import { coerce, coerceToBoolean, unify } from './coerce.ts';
import { timeDigits } from './compile-logic.ts';
import { evaluated, present } from './mysql-special.ts';
import { zeroDivision } from './mysql-operators.ts';
import { defaultOfVariable, setUserVariable, setVariable, systemVariable, userVariable } from './mysql-variables.ts';

/** @throws SqlError 42704 (1193) unknown variable */
export function compileMysqlCall(own: MysqlCall, operands: readonly Expression[], scope: Scope): Expression {
  const value = (): Expression => present(operands[0]);
  switch (own.kind) {
    case 'if':
      return choice(operands, scope);
    case 'div':
      return wholeQuotient(operands, scope);
    case 'xor':
      return exclusiveOr(operands, scope);
    case 'binary':
      return coerce(value(), types.bytea, -1, 'explicit', scope);
    case 'text of bytes':
      return evaluated([value()], types.text, (bytes) => new TextDecoder().decode(bytes as Uint8Array));
    case 'epoch':
      return epoch(value(), scope);
    case 'trim':
      return trim(own.side, operands, scope);
    case 'variable':
      return systemVariable(own.name, own.isGlobal);
    case 'default of variable':
      return defaultOfVariable(own.name);
    case 'set variable':
      return setVariable(own.name, value(), scope);
    case 'user variable':
      return userVariable(own.name);
    case 'set user variable':
      return setUserVariable(own.name, value(), scope);
  }
}

function choice([condition, yes, no]: readonly Expression[], scope: Scope): Expression {
  const test = coerceToBoolean(present(condition), 'IF', scope);
  const [first = present(yes), second = present(no)] = unify([present(yes), present(no)], 'IF', scope);
  return {
    type: first.type,
    modifier: timeDigits([first, second], 'mysql'),
    isUnsigned: first.isUnsigned === true,
    isRowFree: [test, first, second].every(({ isRowFree }) => isRowFree),
    evaluate: (frame) => (test.evaluate(frame) === true ? first : second).evaluate(frame),
  };
}

/** DIV: exact operands divide exactly, and what is after the point goes. */
function wholeQuotient(operands: readonly Expression[], scope: Scope): Expression {
  const exact = operands.map((each) => coerce(each, types.numeric, -1, 'explicit', scope));
  const divisionByZero = zeroDivision(scope);
  return evaluated(exact, types.int8, (a, b) => {
    const [x, y] = [a as Numeric, b as Numeric];
    if (y.value.isZero()) return divisionByZero();
    const shift = Math.max(x.scale, y.scale, x.value.decimalPlaces(), y.value.decimalPlaces());
    const quotient = unscaled(x.value, shift) / unscaled(y.value, shift);
    if (BigInt.asIntN(64, quotient) !== quotient) {
      throw new SqlError('22003', 'BIGINT value is out of range', { mysqlNumber: 1690 });
    }
    return quotient;
  });
}

function exclusiveOr(operands: readonly Expression[], scope: Scope): Expression {
  const parts = operands.map((each) => coerceToBoolean(each, 'XOR', scope));
  return evaluated(parts, types.int4, (a, b) => (a === b ? 0 : 1));
}

function epoch(value: Expression, scope: Scope): Expression {
  const moment = coerce(value, types.timestamp, -1, 'explicit', scope);
  return evaluated([moment], types.float8, (at) => Number(at) / 1e6);
}

type Side = Extract<MysqlCall, { kind: 'trim' }>['side'];

function trim(side: Side, operands: readonly Expression[], scope: Scope): Expression {
  const texts = operands.map((each) => coerce(each, types.text, -1, 'explicit', scope));
  return evaluated(texts, types.text, (part, whole) => trimmed(side, part as string, whole as string));
}

/** MySQL removes whole strings, as often as they stand there. */
function trimmed(side: Side, part: string, whole: string): string {
  if (part === '') return whole;
  const rest = side === 'trailing' ? whole : withoutStart(whole, part);
  return side === 'leading' ? rest : withoutEnd(rest, part);
}

function withoutStart(text: string, part: string): string {
  let at = 0;
  while (text.startsWith(part, at)) at += part.length;
  return text.slice(at);
}

function withoutEnd(text: string, part: string): string {
  let end = text.length;
  while (text.endsWith(part, end)) end -= part.length;
  return text.slice(0, end);
}
