/**
 * What a condition asks of columns, so that it holds: `state = 'ready'`, `deleted_at IS NULL`, `quantity >= $2`. Rows for a witness are made from it. It need not
 * be exact, because a witness runs: of what is not read here, nothing is asked, and of OR's alternatives the first is taken.
 */
import type { A_Expr, BoolExpr, Node, SubLink } from '@pgsql/types';
import type { ComparisonOperator } from '../../sql/model/index.ts';
import type { RowValue } from '../column-values.ts';
import { partsOf } from '../sql-tree.ts';

export interface Asked {
  readonly column: AskedColumn;
  readonly sign: Sign;
  readonly value: AskedValue;
}

export type Sign = ComparisonOperator | 'like';

/** Of a table of the statement, by the name under which it qualifies columns. */
export interface AskedColumn {
  readonly alias: string;
  readonly name: string;
}

export type AskedValue =
  /** NULL with `=`: IS NULL. */
  | { readonly kind: 'constant'; readonly value: RowValue | null }
  /** One of these with `=`, none of them with `<>`. */
  | { readonly kind: 'list'; readonly values: readonly RowValue[] }
  /** From 1. */
  | { readonly kind: 'parameter'; readonly number: number }
  | { readonly kind: 'column'; readonly column: AskedColumn };

/** Which column of which table a reference means; `undefined`: none of those of which rows are made. */
export type ColumnOf = (node: Node) => AskedColumn | undefined;

/** @param holds is the condition to be true, or false? */
export function askedBy(node: Node | undefined, columnOf: ColumnOf, holds = true): readonly Asked[] {
  if (node === undefined) return [];
  if ('BoolExpr' in node) return askedByBoolean(node.BoolExpr, columnOf, holds);
  if ('A_Expr' in node) return askedByComparison(node.A_Expr, columnOf, holds);
  if ('NullTest' in node) {
    const isNull = (node.NullTest.nulltesttype === 'IS_NULL') === holds;
    return asked(node.NullTest.arg, isNull ? '=' : '<>', { kind: 'constant', value: null }, columnOf);
  }
  if ('BooleanTest' in node) {
    const { arg, booltesttype = 'IS_TRUE' } = node.BooleanTest;
    const isTrue = booltesttype === 'IS_TRUE' || booltesttype === 'IS_NOT_FALSE';
    return askedBy(arg, columnOf, isTrue === holds);
  }
  if ('SubLink' in node && holds) return askedByMembership(node.SubLink, columnOf);
  return asked(node, '=', { kind: 'constant', value: holds ? 'true' : 'false' }, columnOf);
}

function askedByBoolean({ boolop, args = [] }: BoolExpr, columnOf: ColumnOf, holds: boolean): readonly Asked[] {
  if (boolop === 'NOT_EXPR') return askedBy(args[0], columnOf, !holds);
  const needsAll = (boolop === 'AND_EXPR') === holds;
  return (needsAll ? args : args.slice(0, 1)).flatMap((each) => askedBy(each, columnOf, holds));
}

const opposites: Readonly<Record<string, Sign>> = { '=': '<>', '<>': '=', '<': '>=', '<=': '>', '>': '<=', '>=': '<' };
const mirrored: Readonly<Record<string, Sign>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

function askedByComparison(
  { kind, name = [], lexpr, rexpr }: A_Expr,
  columnOf: ColumnOf,
  holds: boolean,
): readonly Asked[] {
  const [word] = name;
  const text = word !== undefined && 'String' in word ? (word.String.sval ?? '') : '';
  const items = rexpr !== undefined && 'List' in rexpr ? (rexpr.List.items ?? []) : [];
  const compare = (sign: Sign | undefined, right: Node | undefined): readonly Asked[] =>
    sign === undefined ? [] : compared(lexpr, holds ? sign : opposites[sign], right, columnOf);
  switch (kind) {
    case 'AEXPR_OP':
      return compare(signs[text], rexpr);
    case 'AEXPR_DISTINCT':
      return compare('<>', rexpr);
    case 'AEXPR_NOT_DISTINCT':
      return compare('=', rexpr);
    case 'AEXPR_IN':
    case 'AEXPR_OP_ANY': {
      const list = kind === 'AEXPR_IN' ? items : elementsOf(rexpr);
      if (list === undefined) return compare(signs[text], rexpr);
      const [only] = list;
      if (list.length === 1) return compare(signs[text], only);
      const values = list.flatMap((item) => constantOf(item) ?? []);
      const sign = text === '=' || text === '<>' ? text : undefined;
      if (sign === undefined) return [];
      if (values.length < list.length) return compare(sign === '=' ? '=' : undefined, only);
      return asked(lexpr, holds ? sign : opposites[sign], { kind: 'list', values }, columnOf);
    }
    case 'AEXPR_BETWEEN':
    case 'AEXPR_BETWEEN_SYM':
      return holds ? [...compare('>=', items[0]), ...compare('<=', items[1])] : compare('>=', items[0]);
    case 'AEXPR_NOT_BETWEEN':
      return holds ? compare('<', items[0]) : [];
    case 'AEXPR_LIKE':
    case 'AEXPR_ILIKE': {
      const pattern = constantOf(rexpr);
      const isLike = text.startsWith('~~') === holds;
      if (typeof pattern !== 'string' || !isLike) return [];
      return asked(lexpr, 'like', { kind: 'constant', value: pattern }, columnOf);
    }
    default:
      return [];
  }
}

const signs: Readonly<Record<string, Sign>> = {
  '=': '=',
  '<=>': '=',
  '<>': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

/** A comparison with a column on one of its sides, or on both. */
function compared(
  left: Node | undefined,
  sign: Sign | undefined,
  right: Node | undefined,
  columnOf: ColumnOf,
): readonly Asked[] {
  if (sign === undefined) return [];
  const value = valueOf(right, columnOf);
  const other = valueOf(left, columnOf);
  return [
    ...(value === undefined ? [] : asked(left, sign, value, columnOf)),
    ...(other === undefined ? [] : asked(right, mirrored[sign] ?? sign, other, columnOf)),
  ];
}

/** `column IN (SELECT other ...)`: the two are equal. What the subquery asks besides is of its own tables. */
function askedByMembership({ subLinkType, testexpr, subselect }: SubLink, columnOf: ColumnOf): readonly Asked[] {
  if (subLinkType !== 'ANY_SUBLINK' || subselect === undefined || !('SelectStmt' in subselect)) return [];
  const [target] = subselect.SelectStmt.targetList ?? [];
  const shown = target !== undefined && 'ResTarget' in target ? target.ResTarget.val : undefined;
  return compared(testexpr, '=', shown, columnOf);
}

function asked(
  node: Node | undefined,
  sign: Sign | undefined,
  value: AskedValue,
  columnOf: ColumnOf,
): readonly Asked[] {
  const found = node === undefined || sign === undefined ? undefined : columnIn(node, columnOf);
  if (found === undefined || sign === undefined) return [];
  const isItself = value.kind === 'column' && isSameColumn(value.column, found.column);
  // `uses + 1 <= max_uses`: a little less than it says.
  const strict = found.isComputed ? ({ '<=': '<', '>=': '>' } as const)[sign as '<=' | '>='] : undefined;
  return isItself ? [] : [{ column: found.column, sign: strict ?? sign, value }];
}

function isSameColumn(a: AskedColumn, b: AskedColumn): boolean {
  return a.alias === b.alias && a.name === b.name;
}

interface FoundColumn {
  readonly column: AskedColumn;
  /** By arithmetic on it. */
  readonly isComputed: boolean;
}

/** The column itself, or that of which `lower`, `coalesce` or a sum is made. */
function columnIn(node: Node, columnOf: ColumnOf): FoundColumn | undefined {
  if ('ColumnRef' in node) {
    const column = columnOf(node);
    return column === undefined ? undefined : { column, isComputed: false };
  }
  if ('TypeCast' in node) return node.TypeCast.arg === undefined ? undefined : columnIn(node.TypeCast.arg, columnOf);
  if ('FuncCall' in node && keepsValue.test(nameOf(node.FuncCall.funcname)))
    return firstColumn(node.FuncCall.args ?? [], columnOf);
  if ('CoalesceExpr' in node) return firstColumn(node.CoalesceExpr.args ?? [], columnOf);
  if (!('A_Expr' in node) || node.A_Expr.kind !== 'AEXPR_OP') return undefined;
  const { lexpr, rexpr } = node.A_Expr;
  const found = firstColumn(
    [lexpr, rexpr].flatMap((each) => each ?? []),
    columnOf,
  );
  return found === undefined ? undefined : { ...found, isComputed: true };
}

function firstColumn(nodes: readonly Node[], columnOf: ColumnOf): FoundColumn | undefined {
  return nodes.map((each) => columnIn(each, columnOf)).find((each) => each !== undefined);
}

const keepsValue = /^(?:lower|upper|trim|btrim|date|date_trunc|abs)$/i;

/** The last word of a qualified name. */
export function nameOf(words: readonly Node[] = []): string {
  const last = words.at(-1);
  return last !== undefined && 'String' in last ? (last.String.sval ?? '') : '';
}

function valueOf(node: Node | undefined, columnOf: ColumnOf): AskedValue | undefined {
  if (node === undefined) return undefined;
  const constant = constantOf(node);
  if (constant !== undefined) return { kind: 'constant', value: constant };
  if ('ParamRef' in node) return { kind: 'parameter', number: node.ParamRef.number ?? 1 };
  if ('TypeCast' in node) return valueOf(node.TypeCast.arg, columnOf);
  if ('FuncCall' in node && keepsValue.test(nameOf(node.FuncCall.funcname)))
    return valueOf(node.FuncCall.args?.[0], columnOf);
  const found = columnIn(node, columnOf);
  return found === undefined ? undefined : { kind: 'column', column: found.column };
}

/** A date in the time of the witness: rows are of 2020, and what is compared with a clock is later or earlier than any. */
const clock = '2050-01-01';

function constantOf(node: Node | undefined): RowValue | undefined {
  if (node === undefined) return undefined;
  if ('TypeCast' in node) return constantOf(node.TypeCast.arg);
  if ('SubLink' in node) return countsRows(node.SubLink) ? 0 : undefined;
  if (readsClock(node)) return clock;
  if (!('A_Const' in node)) return undefined;
  const { ival, fval, sval, boolval, isnull } = node.A_Const;
  if (isnull === true) return undefined;
  if (sval !== undefined) return sval.sval ?? '';
  if (fval !== undefined) return Number(fval.fval);
  if (boolval !== undefined) return boolval.boolval === true ? 'true' : 'false';
  return ival?.ival ?? 0;
}

/** `(SELECT count(*) FROM ...)`: of no rows. */
function countsRows({ subLinkType, subselect }: SubLink): boolean {
  if (subLinkType !== 'EXPR_SUBLINK' || subselect === undefined || !('SelectStmt' in subselect)) return false;
  const { functions } = partsOf(subselect.SelectStmt.targetList ?? []);
  return functions.some(({ funcname }) => nameOf(funcname) === 'count');
}

/** `now()`, `now() - interval '5 minutes'` */
function readsClock(node: Node): boolean {
  const { functions, kinds, columns } = partsOf([node]);
  if (columns.length > 0) return false;
  return kinds.has('SQLValueFunction') || functions.some(({ funcname }) => clocks.test(nameOf(funcname)));
}

const clocks = /^(?:now|\w+_timestamp|curdate|sysdate|utc_\w+)$/i;

/** Of `ARRAY[...]` and `'{a,b}'`; `undefined`: a parameter, or what the server computes. */
function elementsOf(node: Node | undefined): readonly Node[] | undefined {
  if (node === undefined) return undefined;
  if ('TypeCast' in node) return elementsOf(node.TypeCast.arg);
  if ('A_ArrayExpr' in node) return node.A_ArrayExpr.elements ?? [];
  const text = constantOf(node);
  if (typeof text !== 'string' || !/^\{.*\}$/.test(text)) return undefined;
  const words = text.slice(1, -1).split(',');
  return words.map((sval): Node => ({ A_Const: { sval: { sval: sval.trim().replaceAll('"', '') } } }));
}
