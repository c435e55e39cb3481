/** The select list: `*` expanded, names given, set-returning functions set apart. */
import type { Node } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import { engineRules, SqlError, type SqlType } from '../model/index.ts';
import { compileExpression, isSetReturning } from '../expressions/index.ts';
import type { Expression } from '../expression.ts';
import type { OutputColumn } from './query.ts';
import type { QueryScope, SetSlot } from './scope.ts';
import { someNode, starQualifier, stringsOf } from './tree.ts';

export interface Target {
  readonly name: string;
  /** `null`: from `*`. */
  readonly node: Node | null;
  readonly expression: Expression;
  readonly isNullable: boolean;
  /** The functions in it that give many rows. */
  readonly sets: readonly SetSlot[];
}

export interface TargetOptions {
  /** Applied to the trees before they are compiled. */
  readonly prepare: (node: Node) => Node;
  readonly expected: readonly (SqlType | undefined)[];
}

export function planTargets(list: readonly Node[] | undefined, scope: QueryScope, options: TargetOptions): Target[] {
  const targets: Target[] = [];
  for (const entry of list ?? []) {
    assert('ResTarget' in entry && entry.ResTarget.val !== undefined, 'a select list has targets');
    const { name, val: node, location } = entry.ResTarget;
    const qualifier = starQualifier(node);
    if (qualifier !== undefined) {
      targets.push(...starTargets(qualifier, scope, (location ?? 0) + 1));
      continue;
    }
    const sets: SetSlot[] = [];
    const expression = withSets(scope, sets, () =>
      compileExpression(isSet(node) ? node : options.prepare(node), scope, options.expected[targets.length]),
    );
    if (sets.length > 0) refuseInConditions(node);
    targets.push({
      name: name ?? ownTitle(expression, scope) ?? columnTitle(node),
      node,
      expression,
      isNullable: isNullable(expression, scope),
      sets,
    });
  }
  return targets;
}

/** Of a system table whose columns have names of their own, however a query writes them. */
function ownTitle({ column }: Expression, scope: QueryScope): string | undefined {
  if (!engineRules[scope.dialect].hasCapitalCatalog || column === undefined) return undefined;
  const item = scope.namespace.items.find(({ row }) => row === column.row);
  return item?.systemName !== undefined ? item.columns.find(({ cell }) => cell === column.cell)?.name : undefined;
}

function withSets<T>(scope: QueryScope, sets: SetSlot[], compile: () => T): T {
  scope.sets = sets;
  try {
    return compile();
  } finally {
    scope.sets = null;
  }
}

function isSet(node: Node): boolean {
  return 'FuncCall' in node && isSetReturning(stringsOf(node.FuncCall.funcname).at(-1) ?? '');
}

/** @throws SqlError 0A000 as the server: what is not evaluated for a row cannot give rows for it */
function refuseInConditions(node: Node): void {
  const title = someNode(node, (part) => 'CaseExpr' in part && someNode(part.CaseExpr, isSet))
    ? 'CASE'
    : someNode(node, (part) => 'CoalesceExpr' in part && someNode(part.CoalesceExpr, isSet))
      ? 'COALESCE'
      : null;
  if (title !== null) throw new SqlError('0A000', `set-returning functions are not allowed in ${title}`);
}

function starTargets(qualifier: readonly string[], scope: QueryScope, position: number): Target[] {
  const columns = scope.star(qualifier, position);
  if (qualifier.length === 0 && scope.namespace.items.length === 0) {
    throw new SqlError('42601', 'SELECT * with no tables specified is not valid', { position });
  }
  return columns.map((column) => {
    const expression = scope.visible(column, position);
    return { name: column.name, node: null, expression, isNullable: isNullable(expression, scope), sets: [] };
  });
}

function isNullable({ column }: Expression, scope: QueryScope): boolean {
  if (column === undefined) return true;
  const item = scope.namespace.items.find(({ row }) => row === column.row);
  return item?.columns.find(({ cell }) => cell === column.cell)?.isNullable ?? true;
}

export function outputOf({ name, expression, isNullable: nullable }: Target, scope: QueryScope): OutputColumn {
  const { type, modifier, column, isUnsigned = false } = expression;
  const item = column === undefined ? undefined : scope.namespace.items.find(({ row }) => row === column.row);
  const number = item?.table?.columns.findIndex(({ cell }) => cell === column?.cell) ?? -1;
  const origin =
    item?.table === null || item === undefined || number < 0
      ? null
      : { table: item.table.id, tableName: item.name, number: number + 1 };
  return { name, type, modifier, isNullable: nullable, isUnsigned, origin };
}

/** PostgreSQL's name for a column without one: parse_target.c, `FigureColname`. */
export function columnTitle(node: Node): string {
  return figure(node)?.name ?? '?column?';
}

/** `isWeak`: a cast's type name gives way to a name from further in. */
function figure(node: Node): { name: string; isWeak: boolean } | undefined {
  const strong = (name: string | undefined) => (name === undefined ? undefined : { name, isWeak: false });
  if ('ColumnRef' in node) return strong(stringsOf(node.ColumnRef.fields).at(-1));
  if ('FuncCall' in node) return strong(stringsOf(node.FuncCall.funcname).at(-1));
  if ('A_Indirection' in node) {
    const field = stringsOf(node.A_Indirection.indirection).at(-1);
    return field === undefined && node.A_Indirection.arg !== undefined ? figure(node.A_Indirection.arg) : strong(field);
  }
  if ('TypeCast' in node) {
    const inner = node.TypeCast.arg === undefined ? undefined : figure(node.TypeCast.arg);
    if (inner !== undefined && !inner.isWeak) return inner;
    const name = stringsOf(node.TypeCast.typeName?.names).at(-1);
    return name === undefined ? inner : { name, isWeak: true };
  }
  if ('CollateClause' in node) return node.CollateClause.arg === undefined ? undefined : figure(node.CollateClause.arg);
  if ('CaseExpr' in node) {
    const inner = node.CaseExpr.defresult === undefined ? undefined : figure(node.CaseExpr.defresult);
    return inner !== undefined && !inner.isWeak ? inner : { name: 'case', isWeak: true };
  }
  if ('A_ArrayExpr' in node) return strong('array');
  if ('RowExpr' in node) return strong('row');
  if ('CoalesceExpr' in node) return strong('coalesce');
  if ('MinMaxExpr' in node) return strong(node.MinMaxExpr.op === 'IS_GREATEST' ? 'greatest' : 'least');
  if ('GroupingFunc' in node) return strong('grouping');
  if ('A_Expr' in node) return node.A_Expr.kind === 'AEXPR_NULLIF' ? strong('nullif') : undefined;
  if ('SQLValueFunction' in node) return strong(valueFunctionName(node.SQLValueFunction.op));
  if ('SubLink' in node) return subLinkTitle(node.SubLink);
  return undefined;
}

function valueFunctionName(op: string | undefined): string {
  const name = (op ?? '')
    .replace(/^SVFOP_/, '')
    .replace(/_N$/, '')
    .toLowerCase();
  return name;
}

function subLinkTitle({ subLinkType, subselect }: Extract<Node, { SubLink: unknown }>['SubLink']) {
  if (subLinkType === 'EXISTS_SUBLINK') return { name: 'exists', isWeak: false };
  if (subLinkType === 'ARRAY_SUBLINK') return { name: 'array', isWeak: false };
  if (subLinkType !== 'EXPR_SUBLINK' || subselect === undefined || !('SelectStmt' in subselect)) return undefined;
  const [first] = subselect.SelectStmt.targetList ?? [];
  if (first === undefined || !('ResTarget' in first) || first.ResTarget.val === undefined) return undefined;
  return { name: first.ResTarget.name ?? columnTitle(first.ResTarget.val), isWeak: false };
}
