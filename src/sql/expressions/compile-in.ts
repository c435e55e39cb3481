/** `x IN (a, b, c)`. A long list of constants is looked up, not walked through. */
import type { Node } from '@pgsql/types';
import { keyText, expressionRules, SqlError, type SqlValue } from '../model/index.ts';
import type { Expression, Scope } from '../expression.ts';
import { applyOperator } from './apply-operator.ts';
import { truth } from './compile-logic.ts';
import { quantified } from './quantified.ts';
import { compareRows, isRowNode, rowParts } from './compile-row.ts';
import type { Compiler } from './compiler.ts';
import { coerce, commonType, isConstant } from './coerce.ts';
import type { Constant } from './coerce.ts';

export function compileInList(
  left: Node,
  items: readonly Node[],
  isNegated: boolean,
  compiler: Compiler,
  position: number,
): Expression {
  const found = isRowNode(left)
    ? rowInList(left, items, compiler, position)
    : valueInList(left, items, compiler, position);
  if (!isNegated) return found;
  const isTrue = (value: SqlValue): boolean => value === true || value === 1;
  return truth(compiler, found.isRowFree, (frame) => {
    const value = found.evaluate(frame);
    return value === null ? null : !isTrue(value);
  });
}

function rowInList(left: Node, items: readonly Node[], compiler: Compiler, position: number): Expression {
  const subject = rowParts(left, compiler);
  const tests = items.map((item) => compareRows('=', subject, rowParts(item, compiler), compiler, position));
  return anyOf(tests, compiler);
}

function anyOf(tests: readonly Expression[], compiler: Compiler): Expression {
  const isRowFree = tests.every((each) => each.isRowFree);
  return truth(compiler, isRowFree, (frame) => quantified(tests, true, ({ evaluate }) => evaluate(frame)));
}

function valueInList(left: Node, items: readonly Node[], compiler: Compiler, position: number): Expression {
  const { scope } = compiler;
  const subject = compiler.compile(left);
  const parts = items.map((item) => compiler.compile(item));
  const shared = expressionRules[scope.dialect].listsHaveOneType ? inCommonType([subject, ...parts], scope) : undefined;
  const [wanted = subject, ...members] = shared ?? [subject, ...parts];
  const tests = members.map((member) => applyOperator('=', [wanted, member], scope, position));
  const constants = shared === undefined ? [] : members.filter(isConstant);
  return constants.length === members.length && constants.length > 0
    ? lookUp(wanted, constants, compiler)
    : anyOf(tests, compiler);
}

/** All of one type, as the array that PostgreSQL makes of such a list; else each is compared for itself. */
function inCommonType(parts: readonly Expression[], scope: Scope): Expression[] | undefined {
  try {
    const common = commonType(
      parts.map(({ type }) => type),
      'IN',
      scope.dialect,
    );
    return parts.map((part) => coerce(part, common, -1, 'implicit', scope));
  } catch (error) {
    if (error instanceof SqlError && error.code === '42804') return undefined;
    throw error;
  }
}

function lookUp(subject: Expression, members: readonly Constant[], compiler: Compiler): Expression {
  const { type, evaluate } = subject;
  const { dialect } = compiler.scope;
  const keys = new Set(members.map(({ constant }) => keyText(constant, type, dialect)));
  const hasNull = members.some(({ constant }) => constant === null);
  return truth(compiler, subject.isRowFree, (frame) => {
    const value = evaluate(frame);
    if (value === null) return null;
    return keys.has(keyText(value, type, dialect)) ? true : hasNull ? null : false;
  });
}
