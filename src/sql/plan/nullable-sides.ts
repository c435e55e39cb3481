/**
 * Which items of FROM an outer join may leave empty. A condition above the join that is never true without a row of that side makes it an inner
 * one, as in PostgreSQL's `reduce_outer_joins`.
 */
import type { A_Expr, Node } from '@pgsql/types';
import type { Conjunct } from './conjunct.ts';
import type { FromList, FromNode, OuterJoin } from './join.ts';
import { someNode } from './tree.ts';

type Rows = ReadonlySet<number>;

/** The items, by their row of the frame. O(nodes of FROM and of its conditions) */
export function nullableRows(list: FromList): Set<number> {
  const nullable = new Set<number>();
  const visitList = ({ nodes, conjuncts }: FromList, present: Rows, isNullable: boolean): void => {
    const known = union(present, required(conjuncts));
    for (const node of nodes) {
      if (node.kind !== 'leaf') visitJoin(node, known, isNullable);
      else if (isNullable) nullable.add(node.item.row);
    }
  };
  const visitJoin = (join: OuterJoin, present: Rows, isNullable: boolean): void => {
    const { left, right, kind } = join;
    const isPresent = (side: FromList): boolean => rowsIn(side.nodes).some((row) => present.has(row));
    const [leftIsKept, rightIsKept] = [kind === 'left' || isPresent(left), isPresent(right)];
    const onBoth = union(present, required(join.on));
    if (leftIsKept && rightIsKept) {
      visitList(left, onBoth, isNullable);
      visitList(right, onBoth, isNullable);
      return;
    }
    // Of `FULL JOIN` the side that is always there makes the other one nullable, as `LEFT JOIN` does.
    visitList(left, rightIsKept ? onBoth : present, isNullable || (kind === 'full' && !leftIsKept));
    visitList(right, leftIsKept ? onBoth : present, isNullable || !rightIsKept);
  };
  visitList(list, new Set(), false);
  return nullable;
}

function union(a: Rows, b: Iterable<number>): Rows {
  return new Set([...a, ...b]);
}

function rowsIn(nodes: readonly FromNode[]): number[] {
  return nodes.flatMap((node) =>
    node.kind === 'leaf' ? [node.item.row] : [...rowsIn(node.left.nodes), ...rowsIn(node.right.nodes)],
  );
}

/** The items without whose row one of the conditions is not true. */
function required(conjuncts: readonly Conjunct[]): Set<number> {
  return new Set(
    conjuncts.flatMap(({ node, uses, comparisons }) => {
      if (isStrict(node)) return [...uses];
      const isEither = 'BoolExpr' in node && uses.size === 1 && (node.BoolExpr.args ?? []).every(isStrict);
      return isEither ? [...uses] : comparisons.filter(({ kind }) => kind !== 'is null').map(({ row }) => row);
    }),
  );
}

const strictKinds: ReadonlySet<A_Expr['kind']> = new Set([
  'AEXPR_OP',
  'AEXPR_OP_ANY',
  'AEXPR_OP_ALL',
  'AEXPR_IN',
  'AEXPR_LIKE',
  'AEXPR_ILIKE',
  'AEXPR_SIMILAR',
  'AEXPR_BETWEEN',
  'AEXPR_NULLIF',
]);

/** Is it never true where one of its columns is NULL? */
function isStrict(condition: Node): boolean {
  return !someNode(condition, (node) => {
    if ('A_Expr' in node) return !strictKinds.has(node.A_Expr.kind);
    if ('NullTest' in node) return node !== condition || node.NullTest.nulltesttype !== 'IS_NOT_NULL';
    if ('BooleanTest' in node) return node !== condition || node.BooleanTest.booltesttype !== 'IS_TRUE';
    if ('BoolExpr' in node) return node.BoolExpr.boolop !== 'NOT_EXPR';
    if ('SubLink' in node) return node.SubLink.subLinkType !== 'ANY_SUBLINK';
    return 'CoalesceExpr' in node || 'CaseExpr' in node || 'MinMaxExpr' in node || 'A_ArrayExpr' in node;
  });
}
