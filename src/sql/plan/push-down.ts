/**
 * Conditions on the rows of a subquery in FROM become conditions of the subquery, so that it neither reads nor locks other rows: PostgreSQL's
 * allpaths.c, `subquery_is_pushdown_safe` and `qual_is_pushdown_safe`, and prepjointree.c, `pull_up_simple_subquery`.
 */
import type { Node, SelectStmt } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import { engineRules } from '../model/index.ts';
import type { Conjunct } from './conjunct.ts';
import { isGrouped } from './grouping.ts';
import type { Namespace, RangeItem } from './namespace.ts';
import type { OpenQuery, PlannedQuery } from './query.ts';
import type { QueryScope } from './scope.ts';
import type { Target } from './target.ts';
import { columnNames, rewrite, someNode } from './tree.ts';

/** Does a condition on its rows change which of them there are, and nothing else? */
export function takesConditions(select: SelectStmt, scope: QueryScope): boolean {
  const { op = 'SETOP_NONE', valuesLists, limitCount, limitOffset, distinctClause, windowClause } = select;
  const others = [valuesLists, limitCount, limitOffset, distinctClause, windowClause];
  const hasCalls = isGrouped(select) || someNode(select.targetList, isOver);
  return (
    engineRules[scope.dialect].pushesConditionsDown &&
    op === 'SETOP_NONE' &&
    !hasCalls &&
    others.every((clause) => clause === undefined)
  );
}

function isOver(node: Node): boolean {
  return 'FuncCall' in node && node.FuncCall.over !== undefined;
}

/** A column of a query as its own conditions write it; `null`: each evaluation may give another value, or several. */
export function inside(target: Target | undefined, { items }: Namespace): Node | null {
  if (target === undefined || target.expression.isVolatile === true || target.sets.length > 0) return null;
  if (target.node !== null) return target.node;
  const { column } = target.expression;
  const item = items.find(({ row }) => row === column?.row);
  const own = item?.columns.find(({ cell }) => cell === column?.cell);
  if (item === undefined || own === undefined) return null;
  const qualifier = item.table === null || item.schema === null ? [item.name] : [item.schema, item.name];
  return { ColumnRef: { fields: [...qualifier, own.name].map((sval) => ({ String: { sval } })) } };
}

/** A query of FROM that is planned when the joins around it are. */
export class PushedDown {
  readonly #open: OpenQuery;
  #planned: PlannedQuery | null = null;

  constructor(open: OpenQuery) {
    this.#open = open;
  }

  /** Plans the query. @returns those conditions that it does not take */
  close(item: RangeItem, conjuncts: readonly Conjunct[]): readonly Conjunct[] {
    assert(this.#planned === null, 'a query of FROM is planned once');
    const taken = new Map(conjuncts.flatMap((each) => this.#inside(item, each) ?? []));
    this.#planned = this.#open.close([...taken.values()]);
    return conjuncts.filter((each) => !taken.has(each));
  }

  get planned(): PlannedQuery {
    assert(this.#planned !== null, 'the joins around a query of FROM are planned');
    return this.#planned;
  }

  #inside(item: RangeItem, conjunct: Conjunct): [readonly [Conjunct, Node]] | null {
    const { node, uses, reachesOut, expression } = conjunct;
    if (expression.isVolatile === true && !this.#open.takesVolatile) return null;
    if (reachesOut || uses.size !== 1 || !uses.has(item.row) || someNode(node, isSubquery)) return null;
    let isWhole = true;
    const condition = rewrite(node, (each) => {
      if (!('ColumnRef' in each)) return undefined;
      const at = item.columns.findIndex(({ name }) => name === columnNames(each)?.at(-1));
      const own = at < 0 ? null : this.#open.expressionOf(at);
      isWhole &&= own !== null;
      return own ?? each;
    });
    return isWhole ? [[conjunct, condition]] : null;
  }
}

function isSubquery(node: Node): boolean {
  return 'SubLink' in node;
}
