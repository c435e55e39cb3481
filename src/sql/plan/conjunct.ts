/** A WHERE or ON condition as a list of conditions that all have to hold, each with the rows that it looks at. */
import type { A_Expr, Node, NullTest, SubLink } from '@pgsql/types';
import { engineRules, type SqlType } from '../model/index.ts';
import { coerceToBoolean, compileExpression } from '../expressions/index.ts';
import type { Expression, Frame } from '../expression.ts';
import { impliedConstant } from './implied-constant.ts';
import type { QueryScope } from './scope.ts';
import { columnNames, conjunctsOf, operatorOf, someNode, treeText } from './tree.ts';

export interface Conjunct {
  readonly node: Node;
  readonly expression: Expression;
  readonly uses: ReadonlySet<number>;
  /** Does it look at the query around? */
  readonly reachesOut: boolean;
  /** `this side` compared with something that may be known before the row is read. */
  readonly comparisons: readonly Comparison[];
}

/** `any`: with the elements of an array; `member`: with the rows of `IN (SELECT ...)`, as an array too. */
export type ComparisonKind = '=' | '<' | '<=' | '>' | '>=' | 'in' | 'any' | 'member' | 'is null';

export interface Comparison {
  /** The column, or the text of the expression, for indexes on expressions. */
  readonly row: number;
  readonly cell: number;
  readonly text: string;
  readonly type: SqlType;
  readonly kind: ComparisonKind;
  /** One; several for IN, none for IS NULL. */
  readonly values: readonly Expression[];
  /** Rows that the values look at. */
  readonly uses: ReadonlySet<number>;
  /**
   * `(a, b) > (1, 2)` is `a >= 1`, which it implies, and behind it `b > 2`, which holds only where `a` is equal. `null`: an element that no index
   * compares. Of other comparisons there are none.
   */
  readonly behind: readonly (Comparison | null)[];
}

export function compileConjuncts(condition: Node | undefined, scope: QueryScope): Conjunct[] {
  return conjunctsOf(condition).map((node) => {
    const { result: expression, ...looks } = scope.tracked(() =>
      coerceToBoolean(compileExpression(node, scope), scope.clause, scope),
    );
    return { node, expression, ...looks, comparisons: comparisonsIn(node, scope) };
  });
}

/** Does the frame satisfy all of them? */
export function allOf(conjuncts: readonly Conjunct[]): ((frame: Frame) => boolean) | null {
  const [first, second, ...others] = conjuncts.map(({ expression }) => expression.evaluate);
  if (first === undefined) return null;
  if (second === undefined) return (frame) => first(frame) === true;
  if (others.length === 0) return (frame) => first(frame) === true && second(frame) === true;
  return (frame) => {
    if (first(frame) !== true || second(frame) !== true) return false;
    for (const evaluate of others) if (evaluate(frame) !== true) return false;
    return true;
  };
}

const mirrored: Readonly<Record<string, ComparisonKind>> = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };
const comparisonOperators = new Set(Object.keys(mirrored));

function comparisonsIn(node: Node, scope: QueryScope): Comparison[] {
  if ('NullTest' in node) return nullComparison(node.NullTest, scope);
  if ('SubLink' in node) return memberComparison(node.SubLink, scope);
  return 'A_Expr' in node ? comparisonsOf(node.A_Expr, scope) : [];
}

/** PostgreSQL may join the table with the subquery's rows by an index; of MariaDB's ways `membership.ts` knows. */
function memberComparison({ subLinkType, testexpr, subselect, operName }: SubLink, scope: QueryScope): Comparison[] {
  if (engineRules[scope.dialect].looksUpMembers || subLinkType !== 'ANY_SUBLINK' || operName !== undefined) return [];
  // The values are read before the rows: what a function gives then may be something else than it gives later.
  if (testexpr === undefined || subselect === undefined || someNode(subselect, (node) => 'FuncCall' in node)) return [];
  const type = scope.subquery(subselect, 'compared').columns[0]?.type;
  if (type?.name === 'array') return [];
  const constant = impliedConstant(subselect);
  const isEqual = constant === undefined ? [] : comparison(testexpr, '=', [constant], scope);
  const members: Node = { SubLink: { subLinkType: 'ARRAY_SUBLINK', subselect } };
  return [
    ...isEqual.filter((each) => each.type.oid === type?.oid),
    ...comparison(testexpr, 'member', [members], scope),
  ];
}

function nullComparison({ arg, nulltesttype }: NullTest, scope: QueryScope): Comparison[] {
  return arg === undefined || nulltesttype !== 'IS_NULL' ? [] : comparison(arg, 'is null', [], scope);
}

function comparisonsOf(expression: A_Expr, scope: QueryScope): Comparison[] {
  const operator = operatorOf(expression);
  const { lexpr: left, rexpr: right } = expression;
  if (left === undefined || right === undefined) return [];
  switch (expression.kind) {
    case 'AEXPR_OP':
      if (!comparisonOperators.has(operator)) return [];
      return [
        ...rowComparisons(left, operator as ComparisonKind, right, scope),
        ...comparison(left, operator as ComparisonKind, [right], scope),
        ...comparison(right, mirrored[operator] ?? '=', [left], scope),
      ];
    case 'AEXPR_IN':
      return operator === '=' && 'List' in right ? listComparison(left, right.List.items ?? [], scope) : [];
    case 'AEXPR_OP_ANY':
      return operator === '=' ? comparison(left, 'any', [right], scope) : [];
    case 'AEXPR_BETWEEN': {
      const [from, to] = 'List' in right ? (right.List.items ?? []) : [];
      if (from === undefined || to === undefined) return [];
      return [...comparison(left, '>=', [from], scope), ...comparison(left, '<=', [to], scope)];
    }
    default:
      return [];
  }
}

/** A list of one value is compared with `=` by both servers (`transformAExprIn` in parse_expr.c), in MariaDB one that repeats a constant, too. */
function listComparison(left: Node, values: readonly Node[], scope: QueryScope): Comparison[] {
  const [first, ...others] = values;
  const isRepeated = (each: Node): boolean =>
    engineRules[scope.dialect].isClustered && 'A_Const' in each && treeText(each) === treeText(first);
  return others.every(isRepeated)
    ? comparison(left, '=', values.slice(0, 1), scope)
    : comparison(left, 'in', values, scope);
}

/** `(a, b) = (1, 2)` compares each with each; `(a, b) > (1, 2)` is a range. */
function rowComparisons(left: Node, kind: ComparisonKind, right: Node, scope: QueryScope): Comparison[] {
  if (!('RowExpr' in left) || !('RowExpr' in right)) return [];
  const [lefts, rights] = [left.RowExpr.args ?? [], right.RowExpr.args ?? []];
  if (kind === '=') return lefts.flatMap((each, i) => comparison(each, '=', rights.slice(i, i + 1), scope));
  if (!engineRules[scope.dialect].searchesRowRanges) return [];
  const other = mirrored[kind] ?? kind;
  return [...rowRange(lefts, kind, rights, scope), ...rowRange(rights, other, lefts, scope)];
}

/** The first elements that differ decide. PostgreSQL: `match_rowcompare_to_indexcol`, `expand_indexqual_rowcompare` in indxpath.c. */
function rowRange(
  sides: readonly Node[],
  kind: ComparisonKind,
  values: readonly Node[],
  scope: QueryScope,
): Comparison[] {
  const [first, ...others] = sides.map((side, i) => comparison(side, kind, values.slice(i, i + 1), scope)[0]);
  if (first === undefined || others.length === 0) return first === undefined ? [] : [first];
  const behind = others.map((each) => (each?.row === first.row ? each : null));
  const uses = new Set([first, ...behind].flatMap((each) => [...(each?.uses ?? [])]));
  return [{ ...first, kind: kind.startsWith('<') ? '<=' : '>=', uses, behind }];
}

function comparison(side: Node, kind: ComparisonKind, others: readonly Node[], scope: QueryScope): Comparison[] {
  if ((others.length === 0 && kind !== 'is null') || !isIndexable(side)) return [];
  const { result: own, uses: ownUses } = scope.tracked(() => compileExpression(side, scope));
  const [row, another] = [...ownUses];
  if (row === undefined || another !== undefined) return [];
  if (columnNames(side) !== undefined && own.column === undefined) return [];
  const expected = kind === 'any' || kind === 'member' ? undefined : own.type;
  const { result: values, uses } = scope.tracked(() => others.map((node) => compileExpression(node, scope, expected)));
  if (uses.has(row)) return [];
  return [{ row, cell: own.column?.cell ?? -1, text: treeText(side), type: own.type, kind, values, uses, behind: [] }];
}

/** Plain columns and what indexes are made on: functions and operators over columns. */
function isIndexable(node: Node): boolean {
  return 'ColumnRef' in node ? columnNames(node) !== undefined : 'FuncCall' in node;
}
