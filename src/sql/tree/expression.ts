/** Expressions, as PostgreSQL's parser makes them; see constant.ts for `at`. */
import type { A_Expr_Kind, BoolExprType, BoolTestType, FuncCall, Node, SubLink } from '@pgsql/types';
import { negatedConstant } from './constant.ts';

export function nameNodes(names: readonly string[]): Node[] {
  return names.map((sval) => ({ String: { sval } }));
}

/** `column`, `table.column`, `schema.table.column`. */
export function columnRef(names: readonly string[], at: number): Node {
  return { ColumnRef: { fields: nameNodes(names), location: at } };
}

/** `*`, `table.*`. */
export function starRef(qualifier: readonly string[], at: number): Node {
  return { ColumnRef: { fields: [...nameNodes(qualifier), { A_Star: {} }], location: at } };
}

/** `$1`. */
export function parameterRef(number: number, at: number): Node {
  return { ParamRef: { number, location: at } };
}

export type CallClauses = Pick<FuncCall, 'agg_star' | 'agg_distinct' | 'agg_order' | 'over'>;

export function funcCall(name: string, args: readonly Node[], at: number, clauses: CallClauses = {}): Node {
  return { FuncCall: call([name], args, 'COERCE_EXPLICIT_CALL', at, clauses) };
}

/** A function of the grammar: `EXTRACT(unit FROM x)`, `TRIM(x)`. */
function grammarCall(name: string, args: readonly Node[], at: number): Node {
  return { FuncCall: call(['pg_catalog', name], args, 'COERCE_SQL_SYNTAX', at, {}) };
}

function call(
  name: readonly string[],
  args: readonly Node[],
  funcformat: NonNullable<FuncCall['funcformat']>,
  at: number,
  clauses: CallClauses,
): FuncCall {
  const given = args.length === 0 ? {} : { args: [...args] };
  return { funcname: nameNodes(name), ...given, ...clauses, funcformat, location: at };
}

export function extract(unit: Node, value: Node, at: number): Node {
  return grammarCall('extract', [unit, value], at);
}

export function trim(value: Node, at: number): Node {
  return grammarCall('btrim', [value], at);
}

export function coalesce(args: readonly Node[], at: number): Node {
  return { CoalesceExpr: { args: [...args], location: at } };
}

export function greatest(args: readonly Node[], at: number): Node {
  return { MinMaxExpr: { op: 'IS_GREATEST', args: [...args], location: at } };
}

export function least(args: readonly Node[], at: number): Node {
  return { MinMaxExpr: { op: 'IS_LEAST', args: [...args], location: at } };
}

export function nullIf(left: Node, right: Node, at: number): Node {
  return expression('AEXPR_NULLIF', '=', left, right, at);
}

export function operation(name: string, left: Node, right: Node, at: number): Node {
  return expression('AEXPR_OP', name, left, right, at);
}

export function prefixOperation(name: string, operand: Node, at: number): Node {
  return { A_Expr: { kind: 'AEXPR_OP', name: nameNodes([name]), rexpr: operand, location: at } };
}

/** `-x`: of a constant it is one. */
export function negated(operand: Node, at: number): Node {
  return negatedConstant(operand, at) ?? prefixOperation('-', operand, at);
}

/** `IS NOT DISTINCT FROM`. */
export function notDistinct(left: Node, right: Node, at: number): Node {
  return expression('AEXPR_NOT_DISTINCT', '=', left, right, at);
}

function expression(kind: A_Expr_Kind, name: string, lexpr: Node, rexpr: Node, at: number): Node {
  return { A_Expr: { kind, name: nameNodes([name]), lexpr, rexpr, location: at } };
}

/** `AND` and `OR`: what stands to the left under the same operator becomes one list with it. */
export function logical(boolop: Exclude<BoolExprType, 'NOT_EXPR'>, left: Node, right: Node, at: number): Node {
  if (!('BoolExpr' in left) || left.BoolExpr.boolop !== boolop)
    return { BoolExpr: { boolop, args: [left, right], location: at } };
  return { BoolExpr: { ...left.BoolExpr, args: [...(left.BoolExpr.args ?? []), right] } };
}

export function not(operand: Node, at: number): Node {
  return { BoolExpr: { boolop: 'NOT_EXPR', args: [operand], location: at } };
}

export function nullTest(arg: Node, nulltesttype: 'IS_NULL' | 'IS_NOT_NULL', at: number): Node {
  return { NullTest: { arg, nulltesttype, location: at } };
}

export function booleanTest(arg: Node, booltesttype: BoolTestType, at: number): Node {
  return { BooleanTest: { arg, booltesttype, location: at } };
}

export function inList(subject: Node, items: readonly Node[], isNot: boolean, at: number): Node {
  return expression('AEXPR_IN', isNot ? '<>' : '=', subject, { List: { items: [...items] } }, at);
}

export function between(subject: Node, low: Node, high: Node, isNot: boolean, at: number): Node {
  const [kind, name] = isNot
    ? (['AEXPR_NOT_BETWEEN', 'NOT BETWEEN'] as const)
    : (['AEXPR_BETWEEN', 'BETWEEN'] as const);
  return expression(kind, name, subject, { List: { items: [low, high] } }, at);
}

export function like(subject: Node, pattern: Node, escape: Node | undefined, isNot: boolean, at: number): Node {
  const escaped =
    escape === undefined
      ? pattern
      : { FuncCall: call(['pg_catalog', 'like_escape'], [pattern, escape], 'COERCE_EXPLICIT_CALL', at, {}) };
  return expression('AEXPR_LIKE', isNot ? '!~~' : '~~', subject, escaped, at);
}

/** `x IN (SELECT ...)`; with an operator `x op ANY (SELECT ...)`. */
export function anySubquery(subject: Node, operator: string | undefined, query: Node, at: number): Node {
  return subLink('ANY_SUBLINK', subject, operator, query, at);
}

export function allSubquery(subject: Node, operator: string, query: Node, at: number): Node {
  return subLink('ALL_SUBLINK', subject, operator, query, at);
}

function subLink(
  subLinkType: NonNullable<SubLink['subLinkType']>,
  testexpr: Node,
  operator: string | undefined,
  subselect: Node,
  at: number,
): Node {
  const operName = operator === undefined ? {} : { operName: nameNodes([operator]) };
  return { SubLink: { subLinkType, testexpr, ...operName, subselect, location: at } };
}

export function exists(subselect: Node, at: number): Node {
  return { SubLink: { subLinkType: 'EXISTS_SUBLINK', subselect, location: at } };
}

export function scalarSubquery(subselect: Node, at: number): Node {
  return { SubLink: { subLinkType: 'EXPR_SUBLINK', subselect, location: at } };
}

/** @param isNamed `ROW(a, b)`, not `(a, b)` */
export function row(args: readonly Node[], isNamed: boolean, at: number): Node {
  const row_format = isNamed ? 'COERCE_EXPLICIT_CALL' : 'COERCE_IMPLICIT_CAST';
  return { RowExpr: { args: [...args], row_format, location: at } };
}

export interface Branch {
  readonly when: Node;
  readonly result: Node;
  readonly at: number;
}

export function caseOf(
  subject: Node | undefined,
  branches: readonly Branch[],
  otherwise: Node | undefined,
  at: number,
): Node {
  return {
    CaseExpr: {
      ...(subject === undefined ? {} : { arg: subject }),
      args: branches.map(({ when, result, at: location }) => ({ CaseWhen: { expr: when, result, location } })),
      ...(otherwise === undefined ? {} : { defresult: otherwise }),
      location: at,
    },
  };
}

export function collated(arg: Node, collation: string, at: number): Node {
  return { CollateClause: { arg, collname: nameNodes([collation]), location: at } };
}
