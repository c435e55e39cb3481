/** Truth in three values, and what chooses between expressions: AND, OR, NOT, IS, CASE, COALESCE, GREATEST. */
import type { BoolExpr, BooleanTest, CaseExpr, CoalesceExpr, MinMaxExpr, Node, NullTest } from '@pgsql/types';
import {
  comparatorOf,
  type Dialect,
  expressionRules,
  notSupported,
  types,
  type SqlType,
  type SqlArray,
  type SqlValue,
} from '../model/index.ts';
import type { Expression, SubqueryJoin } from '../expression.ts';
import { applyOperator } from './apply-operator.ts';
import { cellOf } from './compiler.ts';
import type { Compiler } from './compiler.ts';
import { coerce, coerceToBoolean, commonType, constantOf, isConstant, unify } from './coerce.ts';
import { commonSecondDigits } from './second-digits.ts';

type Evaluate = Expression['evaluate'];

/** A truth value as the dialect has it. */
export function truth(compiler: Pick<Compiler, 'scope'>, isRowFree: boolean, evaluate: Evaluate): Expression {
  if (!expressionRules[compiler.scope.dialect].truthIsInteger)
    return { type: types.bool, modifier: -1, isRowFree, evaluate };
  return {
    type: types.int4,
    modifier: -1,
    isRowFree,
    evaluate: (frame) => {
      const value = evaluate(frame);
      return value === null ? null : value === true ? 1 : 0;
    },
  };
}

export function compileBoolean({ boolop, args = [] }: BoolExpr, compiler: Compiler): Expression {
  const word = boolop === 'AND_EXPR' ? 'AND' : boolop === 'OR_EXPR' ? 'OR' : 'NOT';
  const parts = args.map((each) => coerceToBoolean(compiler.compile(each), word, compiler.scope));
  const isRowFree = parts.every((each) => each.isRowFree);
  const operands = parts.map(({ evaluate }) => evaluate);
  const [first] = operands;
  if (boolop === 'NOT_EXPR' && first !== undefined) {
    const negated = truth(compiler, isRowFree, (frame) => {
      const value = first(frame);
      return value === null ? null : value === false;
    });
    return isExists(args[0]) && parts[0]?.join !== undefined ? { ...negated, join: antiJoin } : negated;
  }
  // AND ends at the first false, OR at the first true; otherwise a NULL makes it NULL.
  const decisive = boolop === 'OR_EXPR';
  return truth(compiler, isRowFree, (frame) => {
    let result: SqlValue = !decisive;
    for (const operand of operands) {
      const value = operand(frame);
      if (value === decisive) return decisive;
      if (value === null) result = null;
    }
    return result;
  });
}

function isExists(node: Node | undefined): boolean {
  return node !== undefined && 'SubLink' in node && node.SubLink.subLinkType === 'EXISTS_SUBLINK';
}

/** A row without a partner has none when it has changed. */
const antiJoin: SubqueryJoin = { openFor: null, of: () => () => true };

export function compileNullTest({ arg, nulltesttype }: NullTest, compiler: Compiler): Expression {
  if (arg === undefined) throw notSupported('this test for NULL');
  const operand = compiler.compile(arg);
  const isNegated = nulltesttype === 'IS_NOT_NULL';
  const { evaluate } = operand;
  if (operand.type.name !== 'record') {
    return truth(compiler, operand.isRowFree, (frame) => (evaluate(frame) === null) !== isNegated);
  }
  // A record is NULL when all of it is, and not NULL when nothing of it is: the two are not opposites.
  return truth(compiler, operand.isRowFree, (frame) => {
    const value = evaluate(frame);
    if (value === null) return !isNegated;
    return (value as SqlArray).elements.every((each) => (each === null) !== isNegated);
  });
}

export function compileBooleanTest({ arg, booltesttype = 'IS_TRUE' }: BooleanTest, compiler: Compiler): Expression {
  if (arg === undefined) throw notSupported('this test of a truth value');
  const construct = booltesttype.replaceAll('_', ' ');
  const operand = coerceToBoolean(compiler.compile(arg), construct, compiler.scope);
  const wanted = construct.endsWith('TRUE') ? true : construct.endsWith('FALSE') ? false : null;
  const isNegated = construct.includes('NOT');
  return truth(compiler, operand.isRowFree, (frame) => (operand.evaluate(frame) === wanted) !== isNegated);
}

export function compileCase({ arg, args = [], defresult }: CaseExpr, compiler: Compiler): Expression {
  const { scope } = compiler;
  const subject = arg === undefined ? undefined : settled(compiler.compile(arg), compiler);
  const cell = subject === undefined ? undefined : cellOf(subject);
  const branches = args.flatMap((each) => ('CaseWhen' in each ? [each.CaseWhen] : []));
  const tests = branches.map(({ expr }) => compiler.compile(expr ?? nullNode));
  const conditions = tests.map((condition) => {
    const tested = cell === undefined ? condition : applyOperator('=', [cell.expression, condition], scope, 0);
    return coerceToBoolean(tested, 'CASE/WHEN', scope);
  });
  const outcomes = branches.map(({ result }) => compiler.compile(result ?? nullNode));
  const otherwise = defresult === undefined ? constantNull : compiler.compile(defresult);
  // The ELSE branch has the first word on the type.
  const [last = constantNull, ...results] = unify([otherwise, ...outcomes], 'CASE', scope);
  return {
    type: last.type,
    modifier: timeDigits([last, ...results], scope.dialect),
    isUnsigned: last.isUnsigned === true,
    isRowFree: (subject?.isRowFree ?? true) && [...tests, last, ...results].every(({ isRowFree }) => isRowFree),
    evaluate: (frame) => {
      if (cell !== undefined && subject !== undefined) {
        // The cell is read before anything else can run: a CASE inside a branch has its own.
        const value = subject.evaluate(frame);
        for (const [i, condition] of conditions.entries()) {
          cell.value = value;
          if (condition.evaluate(frame) === true) return results[i]?.evaluate(frame) ?? null;
        }
        return last.evaluate(frame);
      }
      const chosen = conditions.findIndex((condition) => condition.evaluate(frame) === true);
      return (results[chosen] ?? last).evaluate(frame);
    },
  };
}

const nullNode: Node = { A_Const: { isnull: true } };
const constantNull = constantOf(null, types.unknown);

function settled(expression: Expression, { scope }: Compiler): Expression {
  return expression.type.name === 'unknown' ? coerce(expression, types.text, -1, 'implicit', scope) : expression;
}

export function compileCoalesce({ args = [] }: CoalesceExpr, compiler: Compiler): Expression {
  const parts = unify(
    args.map((each) => compiler.compile(each)),
    'COALESCE',
    compiler.scope,
  );
  return {
    type: parts[0]?.type ?? types.text,
    modifier: commonModifier(parts, compiler.scope.dialect),
    isUnsigned: parts[0]?.isUnsigned === true,
    isRowFree: parts.every(({ isRowFree }) => isRowFree),
    evaluate: (frame) => {
      for (const { evaluate } of parts) {
        const value = evaluate(frame);
        if (value !== null) return value;
      }
      return null;
    },
  };
}

function commonModifier(parts: readonly Expression[], dialect: Dialect): number {
  const [first] = parts;
  const digits = timeDigits(parts, dialect);
  if (digits >= 0) return digits;
  return first !== undefined && parts.every(({ modifier }) => modifier === first.modifier) ? first.modifier : -1;
}

/** Digits of the second of a value that is one of these. A NULL has any. */
export function timeDigits(parts: readonly Expression[], dialect: Dialect): number {
  const known = parts.filter((part) => !(isConstant(part) && part.constant === null));
  return commonSecondDigits(known, dialect);
}

export function compileMinMax({ op, args = [] }: MinMaxExpr, compiler: Compiler): Expression {
  const { dialect } = compiler.scope;
  const { nullIsExtreme } = expressionRules[dialect];
  const parts = unify(
    args.map((each) => compiler.compile(each)),
    op === 'IS_LEAST' ? 'LEAST' : 'GREATEST',
    compiler.scope,
  );
  const type: SqlType = parts[0]?.type ?? types.text;
  const compare = comparatorOf(type, dialect);
  const sign = op === 'IS_LEAST' ? -1 : 1;
  return {
    type: commonType(
      parts.map((each) => each.type),
      'GREATEST',
      dialect,
    ),
    modifier: timeDigits(parts, dialect),
    isUnsigned: parts[0]?.isUnsigned === true,
    isRowFree: parts.every(({ isRowFree }) => isRowFree),
    evaluate: (frame) => {
      let best: SqlValue = null;
      for (const { evaluate } of parts) {
        const value = evaluate(frame);
        if (value === null && nullIsExtreme) return null;
        if (value !== null && (best === null || compare(value, best) * sign > 0)) best = value;
      }
      return best;
    },
  };
}
