/**
 * From the parser's tree to typed closures: names are looked up, types are settled and overloads chosen here, once; what is left for each row
 * is to compute. One function for each kind of node.
 */
import type { A_Indirection, ColumnRef, Node, ParamRef, RowExpr, TypeCast } from '@pgsql/types';
import {
  type Domain,
  expressionRules,
  notSupported,
  SqlError,
  types,
  type SqlType,
  type SqlArray,
} from '../model/index.ts';
import type { Expression, Scope } from '../expression.ts';
import { rowPart } from './compile-row.ts';
import { compileArray, compileIndirection } from './compile-array.ts';
import { compileCast, typeOfNode } from './compile-cast.ts';
import { constrainedBy } from './domain.ts';
import { compileConstant } from './compile-constant.ts';
import { compileFunction, compileValueFunction } from './compile-function.ts';
import {
  compileBoolean,
  compileBooleanTest,
  compileCase,
  compileCoalesce,
  compileMinMax,
  compileNullTest,
} from './compile-logic.ts';
import { compileOperator } from './compile-operator.ts';
import { compileSubLink } from './compile-subquery.ts';
import { namesOf, positionOf } from './compiler.ts';
import type { Compiler } from './compiler.ts';
import { coerce, parameterOf } from './coerce.ts';

/**
 * The expression of a tree in its scope. Literals and parameters without a type take `expected`, where it is given; without it their type
 * is `unknown`. @throws SqlError what PostgreSQL would say when it analyses the statement; 0A000 for what is not supported.
 */
export function compileExpression(node: Node, scope: Scope, expected?: SqlType): Expression {
  const expression = compileNode(node, scope);
  return expected !== undefined && expression.type.name === 'unknown'
    ? coerce(expression, expected, -1, 'implicit', scope)
    : expression;
}

/** What calls a volatile function anywhere inside is volatile. */
function compileNode(node: Node, scope: Scope): Expression {
  let callsVolatile = false;
  const compile = (inner: Node): Expression => {
    const part = compileNode(inner, scope);
    callsVolatile ||= part.isVolatile === true;
    return part;
  };
  const expression = compileKind(node, { scope, compile });
  return callsVolatile && expression.isVolatile !== true ? { ...expression, isVolatile: true } : expression;
}

function compileKind(node: Node, compiler: Compiler): Expression {
  if ('ColumnRef' in node) return compileColumn(node.ColumnRef, compiler);
  if ('A_Const' in node) return compileConstant(node.A_Const, compiler);
  if ('ParamRef' in node) return compileParameter(node.ParamRef, compiler);
  if ('A_Expr' in node) return compileOperator(node.A_Expr, compiler);
  if ('BoolExpr' in node) return compileBoolean(node.BoolExpr, compiler);
  if ('NullTest' in node) return compileNullTest(node.NullTest, compiler);
  if ('BooleanTest' in node) return compileBooleanTest(node.BooleanTest, compiler);
  if ('TypeCast' in node) return compileTypeCast(node.TypeCast, compiler);
  if ('FuncCall' in node) return compileFunction(node, node.FuncCall, compiler);
  if ('SQLValueFunction' in node) return compileValueFunction(node.SQLValueFunction, compiler);
  if ('SubLink' in node) return compileSubLink(node.SubLink, compiler);
  if ('CaseExpr' in node) return compileCase(node.CaseExpr, compiler);
  if ('CoalesceExpr' in node) return compileCoalesce(node.CoalesceExpr, compiler);
  if ('MinMaxExpr' in node) return compileMinMax(node.MinMaxExpr, compiler);
  if ('A_ArrayExpr' in node) return compileArray(node.A_ArrayExpr, compiler);
  if ('A_Indirection' in node) return compileIndirect(node.A_Indirection, compiler);
  if ('RowExpr' in node) return compileRow(node.RowExpr, compiler);
  if ('CollateClause' in node) return compileCollation(node.CollateClause, compiler);
  if ('GroupingFunc' in node) return compileGrouping(node, compiler);
  if ('SetToDefault' in node) throw new SqlError('42601', 'DEFAULT is not allowed in this context');
  throw notSupported(`the expression ${Object.keys(node)[0] ?? ''}`);
}

function compileTypeCast(cast: TypeCast, compiler: Compiler): Expression {
  const expression = compileCast(cast, compiler);
  const domain = cast.typeName === undefined ? undefined : typeOfNode(cast.typeName, compiler.scope).type.domain;
  return domain === undefined ? expression : constrained(expression, domain, compiler.scope);
}

/** A value as a domain takes it. */
export function constrained(value: Expression, domain: Domain, scope: Scope): Expression {
  return constrainedBy(domain, value, scope, compileExpression);
}

function compileColumn({ fields, location }: ColumnRef, { scope }: Compiler): Expression {
  return scope.column(namesOf(fields), positionOf(location));
}

function compileParameter({ number = 0 }: ParamRef, { scope }: Compiler): Expression {
  return parameterOf(scope.parameter(number));
}

/** `ROW(a, b)`: its fields are f1, f2, ... */
function compileRow({ args = [] }: RowExpr, compiler: Compiler): Expression {
  const parts = args
    .flatMap((each) => rowPart(each, compiler))
    .map((part) => {
      return part.type.name === 'unknown' ? coerce(part, types.text, -1, 'implicit', compiler.scope) : part;
    });
  const fields = parts.map(({ type }, i) => ({ name: `f${i + 1}`, type }));
  return {
    type: { ...types.record, fields },
    modifier: -1,
    isRowFree: parts.every(({ isRowFree }) => isRowFree),
    evaluate: (frame): SqlArray => ({ kind: 'array', elements: parts.map(({ evaluate }) => evaluate(frame)) }),
  };
}

function compileIndirect(node: A_Indirection, compiler: Compiler): Expression {
  return compileIndirection(node, compiler);
}

/** Text is ordered by code point: that is what these collations say. */
const collations: ReadonlySet<string> = new Set(['C', 'POSIX', 'default', 'ucs_basic', 'C.UTF-8', 'C.utf8']);

function compileCollation(
  { arg, collname, location }: { arg?: Node; collname?: Node[]; location?: number },
  { scope, compile }: Compiler,
): Expression {
  const name = namesOf(collname).at(-1) ?? '';
  if (arg === undefined) throw notSupported('COLLATE');
  if (expressionRules[scope.dialect].checksCollations && !collations.has(name))
    throw notSupported(`collation "${name}"`, positionOf(location));
  return compile(arg);
}

function compileGrouping(node: Node, { scope }: Compiler): Expression {
  const slot = scope.aggregate(node);
  if (slot === undefined) throw notSupported('GROUPING');
  return slot;
}
