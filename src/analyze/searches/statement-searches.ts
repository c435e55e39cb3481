/** What a statement looks for: the tables of each SELECT, UPDATE and DELETE in it, and what its conditions ask of their columns. */
import type { Node, SelectStmt } from '@pgsql/types';
import { columnNamed, type Table } from '../../sql/index.ts';
import { type Schema, tableNamed } from '../schema.ts';
import { aliasOf, namesOf, partsOf, tablesInFrom } from '../sql-tree.ts';
import { type Asked, type AskedColumn, askedBy, nameOf } from './asked.ts';

/** Rows of several tables that belong together; those of `EXISTS` and `IN (SELECT ...)` among them. */
export interface Search {
  readonly sources: readonly SearchedTable[];
  readonly asked: readonly Asked[];
  /** `outermost`: it is the statement's own; `shown`: and each row that it finds is one of the result. */
  readonly kind: 'outermost' | 'shown' | 'inner';
}

export interface SearchedTable {
  readonly alias: string;
  readonly table: Table;
}

/** O(size of the tree * depth of subqueries) */
export function searchesOf(tree: Node, schema: Schema): readonly Search[] {
  return new SearchReader(tree, schema).all();
}

interface Condition {
  readonly from: readonly Node[];
  readonly where: Node | undefined;
}

class SearchReader {
  readonly #tree: Node;
  readonly #schema: Schema;
  /** Subqueries that are part of the search around them, or that are to find nothing. */
  readonly #joined = new Set<SelectStmt>();

  constructor(tree: Node, schema: Schema) {
    this.#tree = tree;
    this.#schema = schema;
  }

  all(): readonly Search[] {
    const own = conditionOf(this.#tree);
    const outermost = own === undefined ? [] : [this.#search(own, isShown(this.#tree) ? 'shown' : 'outermost')];
    const [statement] = 'SelectStmt' in this.#tree ? [this.#tree.SelectStmt] : [];
    const inner = partsOf(this.#tree).selects.filter((select) => select !== statement);
    const others = inner.flatMap((select) =>
      this.#joined.has(select)
        ? []
        : [this.#search({ from: select.fromClause ?? [], where: select.whereClause }, 'inner')],
    );
    return [...outermost, ...others].filter(({ sources }) => sources.length > 0);
  }

  #search(condition: Condition, kind: Search['kind']): Search {
    const sources: SearchedTable[] = [];
    const conditions: Node[] = [];
    this.#join(condition, sources, conditions);
    const columnOf = (node: Node): AskedColumn | undefined => this.#columnOf(node, sources);
    return { sources, asked: conditions.flatMap((each) => askedBy(each, columnOf)), kind };
  }

  /** Tables and conditions of a query, and those of the subqueries that its condition needs rows of. */
  #join({ from, where }: Condition, sources: SearchedTable[], conditions: Node[]): void {
    for (const { relation, conditions: own } of tablesInFrom(from, undefined)) {
      const table = tableNamed(this.#schema, relation.schemaname, relation.relname ?? '');
      const alias = aliasOf(relation);
      if (table !== undefined && !sources.some((other) => other.alias === alias)) sources.push({ alias, table });
      for (const each of own) if (!conditions.includes(each)) conditions.push(each);
    }
    if (where === undefined) return;
    conditions.push(where);
    for (const { select, isWanted } of subqueriesIn(where, true)) {
      this.#joined.add(select);
      if (isWanted) this.#join({ from: select.fromClause ?? [], where: select.whereClause }, sources, conditions);
    }
  }

  #columnOf(node: Node, sources: readonly SearchedTable[]): AskedColumn | undefined {
    if (!('ColumnRef' in node)) return undefined;
    const names = namesOf(node.ColumnRef);
    const qualifier = names.at(-2);
    for (const { alias, table } of sources) {
      if (names.length > 1 && qualifier !== alias) continue;
      const column = columnNamed(table, names.at(-1) ?? '', this.#schema.dialect);
      if (column !== undefined) return { alias, name: column.name };
    }
    return undefined;
  }
}

/** An aggregate has one row, whatever it finds. */
function isShown(tree: Node): boolean {
  if (!('SelectStmt' in tree)) return true;
  const { targetList = [], groupClause } = tree.SelectStmt;
  const { functions } = partsOf(targetList);
  return groupClause !== undefined || !functions.some(({ funcname }) => aggregates.test(nameOf(funcname)));
}

const aggregates = /^(?:count|sum|min|max|avg|every|bool_and|bool_or|\w+_agg|group_concat)$/i;

function conditionOf(tree: Node): Condition | undefined {
  if ('SelectStmt' in tree) return { from: tree.SelectStmt.fromClause ?? [], where: tree.SelectStmt.whereClause };
  if ('UpdateStmt' in tree) {
    const { relation, fromClause = [], whereClause } = tree.UpdateStmt;
    return { from: [{ RangeVar: relation ?? {} }, ...fromClause], where: whereClause };
  }
  if (!('DeleteStmt' in tree)) return undefined;
  const { relation, usingClause = [], whereClause } = tree.DeleteStmt;
  return { from: [{ RangeVar: relation ?? {} }, ...usingClause], where: whereClause };
}

/** EXISTS and IN of a condition: those that have to find rows, and those that must not. */
function* subqueriesIn(
  node: Node,
  holds: boolean,
): Generator<{ readonly select: SelectStmt; readonly isWanted: boolean }> {
  if ('BoolExpr' in node) {
    const { boolop, args = [] } = node.BoolExpr;
    for (const each of args) yield* subqueriesIn(each, boolop === 'NOT_EXPR' ? !holds : holds);
  }
  if (!('SubLink' in node)) return;
  const { subLinkType, subselect } = node.SubLink;
  const isTest = subLinkType === 'EXISTS_SUBLINK' || subLinkType === 'ANY_SUBLINK';
  if (isTest && subselect !== undefined && 'SelectStmt' in subselect)
    yield { select: subselect.SelectStmt, isWanted: holds };
}
