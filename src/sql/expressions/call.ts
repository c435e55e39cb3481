/** From a chosen signature to an expression. */
import { type Dialect, notSupported, SqlError, typeTitle, types, type SqlType, type SqlValue } from '../model/index.ts';
import type { Expression, Frame, Scope } from '../expression.ts';
import { mysqlHas, postgresHas } from '../known/server-names.ts';
import { coerce, isUnknownLiteral } from './coerce.ts';
import { metered } from './metered.ts';
import { choose } from './signature.ts';
import type { Chosen, Implementation, Signature, SignatureTable } from './signature.ts';
import { takesAnyOf } from './server-signature.ts';

/** `+`, `||`, `->`: one or two operands. @throws SqlError 42883, 42725 */
export function callOperator(
  table: SignatureTable,
  operator: string,
  operands: readonly Expression[],
  scope: Scope,
  position: number,
): Expression {
  const candidates = (table.get(operator) ?? []).filter(({ parameters }) => parameters.length === operands.length);
  const given = operands.map(({ type }) => type);
  const choice = chooseOperator(candidates, given);
  if (choice === 'none' || choice === 'ambiguous') {
    const titles = given.map((type) => typeTitle(type));
    const shown = titles.length === 1 ? `${operator} ${titles[0]}` : titles.join(` ${operator} `);
    const isMissing = choice === 'none';
    if (isMissing && takesAnyOf(postgresHas.operator(operator), given))
      throw notSupported(`operator ${shown}`, position);
    throw new SqlError(
      isMissing ? '42883' : '42725',
      `operator ${isMissing ? 'does not exist' : 'is not unique'}: ${shown}`,
      {
        position,
        hint: isMissing
          ? 'No operator matches the given name and argument types. You might need to add explicit type casts.'
          : 'Could not choose a best candidate operator. You might need to add explicit type casts.',
      },
    );
  }
  return callChosen(choice, operands, scope);
}

/** What the operator makes of its operands; `undefined`: there is no such operator, or more than one. */
export function operandTypes(
  table: SignatureTable,
  operator: string,
  given: readonly SqlType[],
): readonly SqlType[] | undefined {
  const candidates = (table.get(operator) ?? []).filter(({ parameters }) => parameters.length === given.length);
  const choice = chooseOperator(candidates, given);
  return typeof choice === 'object' ? choice.parameters : undefined;
}

/** One unknown operand is first assumed to have the other's type: parse_oper.c, `binary_oper_exact`. */
function chooseOperator(candidates: readonly Signature[], given: readonly SqlType[]): ReturnType<typeof choose> {
  const [left, right] = given;
  if (left !== undefined && right !== undefined && (left.name === 'unknown') !== (right.name === 'unknown')) {
    const known = left.name === 'unknown' ? right : left;
    const assumed = choose(candidates.filter(isExactFor(known)), [known, known]);
    if (typeof assumed === 'object') return assumed;
  }
  return choose(candidates, given);
}

function isExactFor(type: SqlType): (signature: Signature) => boolean {
  return ({ parameters }) =>
    parameters.every((each) => typeof each !== 'string' && each.name === type.name && each.oid === type.oid);
}

const isOfServer: Readonly<Record<Dialect, (name: string, given: readonly SqlType[]) => boolean>> = {
  postgres: (name, given) => takesAnyOf(postgresHas.function(name), given),
  mysql: (name) => mysqlHas.function(name),
};

const shownIn: Readonly<Record<Dialect, (name: string, signature: string) => string>> = {
  postgres: (_name, signature) => signature,
  mysql: (name) => name.toUpperCase(),
};

export function unknownFunction(
  name: string,
  operands: readonly Expression[],
  choice: 'none' | 'ambiguous',
  scope: Pick<Scope, 'dialect'>,
  position: number,
): SqlError {
  const shown = `${name}(${operands.map(({ type }) => typeTitle(type)).join(', ')})`;
  if (choice === 'ambiguous') {
    const hint = 'Could not choose a best candidate function. You might need to add explicit type casts.';
    return new SqlError('42725', `function ${shown} is not unique`, { position, hint });
  }
  const given = operands.map(({ type }) => type);
  if (isOfServer[scope.dialect](name, given))
    return notSupported(`function ${shownIn[scope.dialect](name, shown)}`, position);
  const hint = 'No function matches the given name and argument types. You might need to add explicit type casts.';
  return new SqlError('42883', `function ${shown} does not exist`, { position, hint });
}

export function callChosen(chosen: Chosen, operands: readonly Expression[], scope: Scope): Expression {
  const settled = operands.map((operand, i) => {
    const wanted = chosen.parameters[i] ?? types.text;
    // A record has no type that it could be cast to.
    return wanted.name === 'record' && !isUnknownLiteral(operand)
      ? operand
      : coerce(operand, wanted, -1, 'implicit', scope);
  });
  const call = { types: settled.map(({ type }) => type), result: chosen.result, dialect: scope.dialect };
  const implementation = metered(chosen.signature.name, call, chosen.signature.implement(call));
  return {
    type: chosen.result,
    modifier: -1,
    isRowFree: !chosen.signature.isVolatile && settled.every(({ isRowFree }) => isRowFree),
    isVolatile: chosen.signature.isVolatile || settled.some(({ isVolatile = false }) => isVolatile),
    evaluate: evaluator(
      implementation,
      settled.map(({ evaluate }) => evaluate),
      chosen.signature.isStrict,
    ),
  };
}

type Evaluate = Expression['evaluate'];

/** One and two arguments are what rows are filtered by: they get closures of their own. */
export function evaluator(implementation: Implementation, operands: readonly Evaluate[], isStrict: boolean): Evaluate {
  const [first, second] = operands;
  if (isStrict && operands.length === 1 && first !== undefined) {
    return (frame) => {
      const value = first(frame);
      return value === null ? null : implementation(frame.execution, value);
    };
  }
  if (isStrict && operands.length === 2 && first !== undefined && second !== undefined) {
    return (frame) => {
      // Both are evaluated, NULL or not: an error in one is an error.
      const a = first(frame);
      const b = second(frame);
      return a === null || b === null ? null : implementation(frame.execution, a, b);
    };
  }
  return (frame: Frame): SqlValue => {
    const values = operands.map((operand) => operand(frame));
    return isStrict && values.includes(null) ? null : implementation(frame.execution, ...values);
  };
}
