/** Operators as the parser gives them: infix and prefix, BETWEEN, IN, LIKE, ANY and ALL over arrays, DISTINCT FROM, NULLIF. */
import type { A_Expr, Node } from '@pgsql/types';
import {
  type Dialect,
  notSupported,
  SqlError,
  typeTitle,
  type SqlType,
  arrayOf,
  types,
  type SqlArray,
} from '../model/index.ts';
import type { Expression, Scope } from '../expression.ts';
import { applyOperator } from './apply-operator.ts';
import { operandTypes } from './call.ts';
import { operatorTable } from './operators.ts';
import { truth } from './compile-logic.ts';
import { compareRows, isRowNode, otherLength, rowParts } from './compile-row.ts';
import { compileInList } from './compile-in.ts';
import { cellOf, namesOf, nodesOf, positionOf } from './compiler.ts';
import type { Compiler } from './compiler.ts';
import { coerce, commonType, isConstant, isUnknownLiteral, isUntypedParameter } from './coerce.ts';
import { quantified } from './quantified.ts';
import { repeatedOperator } from './repeated-operator.ts';

export function compileOperator(node: A_Expr, compiler: Compiler): Expression {
  const name = namesOf(node.name).at(-1) ?? '';
  const position = positionOf(node.location);
  const { lexpr: left, rexpr: right } = node;
  if (right === undefined) throw notSupported('a postfix operator', position);
  if (left === undefined) return applyOperator(name, [compiler.compile(right)], compiler.scope, position);
  switch (node.kind) {
    case 'AEXPR_OP':
      return compileInfix(name, left, right, compiler, position);
    case 'AEXPR_OP_ANY':
      return compileQuantified(name, left, right, true, compiler, position);
    case 'AEXPR_OP_ALL':
      return compileQuantified(name, left, right, false, compiler, position);
    case 'AEXPR_DISTINCT':
      return compileDistinct(left, right, true, compiler, position);
    case 'AEXPR_NOT_DISTINCT':
      return compileDistinct(left, right, false, compiler, position);
    case 'AEXPR_NULLIF':
      return compileNullIf(left, right, compiler, position);
    case 'AEXPR_IN':
      return compileInList(left, nodesOf(right), name === '<>', compiler, position);
    case 'AEXPR_LIKE':
    case 'AEXPR_ILIKE':
      return applyOperator(name, [compiler.compile(left), compiler.compile(right)], compiler.scope, position);
    case 'AEXPR_SIMILAR':
      throw notSupported('SIMILAR TO', position);
    default:
      return compileBetween(node.kind ?? '', left, right, compiler, position);
  }
}

function compileInfix(name: string, left: Node, right: Node, compiler: Compiler, position: number): Expression {
  if (isRowNode(left) && isRowNode(right)) {
    return compareRows(name, rowParts(left, compiler), rowParts(right, compiler), compiler, position);
  }
  if (isRowNode(left) && 'SubLink' in right && right.SubLink.subLinkType === 'EXPR_SUBLINK') {
    return compiler.compile({
      SubLink: {
        ...right.SubLink,
        subLinkType: 'ROWCOMPARE_SUBLINK',
        testexpr: left,
        operName: [{ String: { sval: name } }],
      },
    });
  }
  return applyOperator(name, [compiler.compile(left), compiler.compile(right)], compiler.scope, position);
}

function compileBetween(kind: string, left: Node, right: Node, compiler: Compiler, position: number): Expression {
  const [low, high] = nodesOf(right);
  if (low === undefined || high === undefined) throw notSupported(`the operator ${kind}`, position);
  const compare = (name: string, bound: Node): Node => ({
    A_Expr: { kind: 'AEXPR_OP', name: [{ String: { sval: name } }], lexpr: left, rexpr: bound, location: position - 1 },
  });
  const between = (from: Node, to: Node): Node => ({
    BoolExpr: { boolop: 'AND_EXPR', args: [compare('>=', from), compare('<=', to)] },
  });
  const isSymmetric = kind.endsWith('_SYM');
  const inside: Node = isSymmetric
    ? { BoolExpr: { boolop: 'OR_EXPR', args: [between(low, high), between(high, low)] } }
    : between(low, high);
  const isNegated = kind.startsWith('AEXPR_NOT');
  return compiler.compile(isNegated ? { BoolExpr: { boolop: 'NOT_EXPR', args: [inside] } } : inside);
}

/** IS [NOT] DISTINCT FROM: two NULLs are the same. */
function compileDistinct(
  left: Node,
  right: Node,
  isDistinct: boolean,
  compiler: Compiler,
  position: number,
): Expression {
  if (isRowNode(left) && isRowNode(right)) {
    const pairs = pairUp(rowParts(left, compiler), rowParts(right, compiler), position);
    const parts = pairs.map(([a, b]) => distinct(a, b, compiler.scope, position));
    return truth(
      compiler,
      parts.every(({ isRowFree }) => isRowFree),
      (frame) => parts.some(({ evaluate }) => evaluate(frame) === true) === isDistinct,
    );
  }
  const result = distinct(compiler.compile(left), compiler.compile(right), compiler.scope, position);
  return truth(compiler, result.isRowFree, (frame) => (result.evaluate(frame) === true) === isDistinct);
}

function pairUp(
  left: readonly Expression[],
  right: readonly Expression[],
  position: number,
): [Expression, Expression][] {
  if (left.length !== right.length)
    throw otherLength('unequal number of entries in row expressions', left.length, position);
  return left.map((each, i) => [each, right[i] ?? each]);
}

/** Are they different, NULLs being equal? Always true or false, whatever the dialect. */
function distinct(left: Expression, right: Expression, scope: Scope, position: number): Expression {
  const equal = applyOperator('=', [left, right], scope, position);
  return {
    type: types.bool,
    modifier: -1,
    isRowFree: equal.isRowFree,
    evaluate: (frame) => {
      const [a, b] = [left.evaluate(frame), right.evaluate(frame)];
      if (a === null || b === null) return a !== b;
      const same = equal.evaluate(frame);
      return same !== true && same !== 1;
    },
  };
}

/** The left operand, as the comparison sees it, or NULL. */
function compileNullIf(left: Node, right: Node, compiler: Compiler, position: number): Expression {
  const [first, second] = [compiler.compile(left), compiler.compile(right)];
  const { scope } = compiler;
  // Evaluated once, though compared and shown; what has no type yet goes in as it is.
  const isFixed = isConstant(first) || isUnknownLiteral(first) || isUntypedParameter(first);
  const cell = cellOf(first);
  const seen = isFixed ? first : cell.expression;
  const equal = applyOperator('=', [seen, second], scope, position);
  const type = comparedType[scope.dialect](first.type, second.type);
  const shown = coerce(seen, type, -1, 'implicit', scope);
  return {
    type,
    modifier: first.modifier,
    isUnsigned: first.isUnsigned === true,
    isRowFree: first.isRowFree && second.isRowFree,
    evaluate: (frame) => {
      cell.value = first.evaluate(frame);
      const same = equal.evaluate(frame);
      return same === true || same === 1 ? null : shown.evaluate(frame);
    },
  };
}

/** The left operand's type as `=` takes it. */
const comparedType: Readonly<Record<Dialect, (first: SqlType, second: SqlType) => SqlType>> = {
  // A varchar is compared as text, and then it is one.
  postgres: (first, second) => operandTypes(operatorTable, '=', [first, second])?.[0] ?? first,
  mysql: (first, second) => commonType(first.name === 'unknown' ? [first, second] : [first], 'NULLIF', 'mysql'),
};

/** `x = ANY (array)`, `x > ALL (array)`. */
function compileQuantified(
  name: string,
  left: Node,
  right: Node,
  isAny: boolean,
  compiler: Compiler,
  position: number,
): Expression {
  const { scope } = compiler;
  const subject = compiler.compile(left);
  const raw = compiler.compile(right);
  const wanted = subject.type.name === 'unknown' ? types.text : subject.type;
  const array = raw.type.name === 'unknown' ? coerce(raw, arrayOf(wanted), -1, 'implicit', scope) : raw;
  const { element } = array.type;
  if (element === undefined) {
    throw new SqlError('42809', `op ANY/ALL (array) requires array on right side`, {
      position,
      detail: `It has type ${typeTitle(array.type)}.`,
    });
  }
  const test = repeatedOperator(name, subject, element, scope, position);
  return truth(compiler, subject.isRowFree && array.isRowFree, (frame) => {
    const elements = array.evaluate(frame);
    if (elements === null) return null;
    test.begin(frame);
    return quantified((elements as SqlArray).elements, isAny, (value) => test.compare(value, frame));
  });
}
