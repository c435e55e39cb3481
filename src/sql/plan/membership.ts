/**
 * `x IN (SELECT ...)` as MariaDB 10.11 answers it, which decides what is locked.
 *
 * An UPDATE or DELETE asks it for each row, as an EXISTS with one condition more, so that an index of the subquery's column finds the value and no other
 * row of that table is locked (`unique_subquery` and `index_subquery` in EXPLAIN). A SELECT that locks makes it a semi-join: a subquery of one row, by
 * its whole unique key, is read first, and so may be any that an index answers; each value is then looked up in the table.
 */
import type { Node, RangeVar, SelectStmt, SubLink } from '@pgsql/types';
import { columnNamed, type Table } from '../catalog/relation.ts';
import { engineRules } from '../model/index.ts';
import { type Access, accessWays } from './access.ts';
import { compileConjuncts, type Conjunct } from './conjunct.ts';
import { planFrom } from './from.ts';
import type { RangeItem } from './namespace.ts';
import type { QueryScope } from './scope.ts';
import { columnNames, conjunctsOf, someNode, stringsOf } from './tree.ts';

interface Membership {
  readonly subject: Node;
  readonly select: SelectStmt;
  /** The subquery's only table and its only column. */
  readonly table: Table;
  readonly column: Node;
  readonly cell: number;
  /** By which index the subquery's own condition finds its rows; `null`: by none. */
  readonly access: Access | null;
}

/** The conditions of an UPDATE or DELETE of `item`, with EXISTS for each IN whose values an index of the subquery's table finds. */
export function withLookUps(where: Node | undefined, item: RangeItem, scope: QueryScope): Node[] {
  const nodes = conjunctsOf(where);
  if (!engineRules[scope.dialect].looksUpMembers) return nodes;
  return nodes.map((node) => lookUpOf(node, item, scope) ?? node);
}

function lookUpOf(node: Node, item: RangeItem, scope: QueryScope): Node | null {
  const found = membershipOf(node, scope);
  if (found === null) return null;
  const { subject, select, table, column, cell, access } = found;
  const index = table.indexes
    .filter(({ parts, predicate }) => predicate === null && parts[0]?.cell === cell)
    .toSorted((a, b) => Number(b.isUnique) - Number(a.isUnique))[0];
  const outer = qualified(subject, item);
  if (index === undefined || outer === null || access?.isPoint === true) return null;
  const range = rangeOf(select);
  if ((range?.alias?.aliasname ?? range?.relname) === item.name) return null;
  // An UPDATE by its own table is a join; MariaDB looks one row of it up for each, but reads the table whole where there may be several.
  if (table === item.table && !(index.isUnique && index.parts.length === 1)) return null;
  // The subquery says what the column is: its own condition finds the rows.
  if (access?.index === index && access.equalities > 0) return null;
  // A server with few rows reads them by the subquery's own condition, once.
  const isOther = access !== null && access.index !== index;
  if (
    isOther &&
    scope.planning.choose(table.name, [`by index ${access.index.name}`, `by index ${index.name}`], true) === 0
  )
    return null;
  const { sortClause: _, whereClause, ...rest } = select;
  const isEqual: Node = {
    A_Expr: { kind: 'AEXPR_OP', name: [{ String: { sval: '=' } }], lexpr: column, rexpr: outer },
  };
  const args = whereClause === undefined ? [isEqual] : [whereClause, isEqual];
  const subselect: Node = {
    SelectStmt: { ...rest, whereClause: { BoolExpr: { boolop: 'AND_EXPR', args } } },
  };
  return { SubLink: { subLinkType: 'EXISTS_SUBLINK', subselect } };
}

/** A column of the row that is looked at, by a name that means the same inside of the subquery. */
function qualified(subject: Node, item: RangeItem): Node | null {
  const names = columnNames(subject);
  const name = names?.at(-1);
  if (names === undefined || name === undefined || names.length > 2) return null;
  if (names.length === 2 && names[0] !== item.name) return null;
  return { ColumnRef: { fields: [{ String: { sval: item.name } }, { String: { sval: name } }] } };
}

/** The ways to the rows of a SELECT's only table that it locks, those by the values of a subquery among them. */
export function semiJoinWays(
  table: Table,
  row: number,
  conjuncts: readonly Conjunct[],
  scope: QueryScope,
): readonly (Access | null)[] {
  const ways = (all: readonly Conjunct[]): readonly (Access | null)[] =>
    accessWays(table, row, all, () => false, scope.dialect);
  if (!engineRules[scope.dialect].looksUpMembers) return ways(conjuncts);
  const memberships = conjuncts.flatMap(({ node }) => membershipOf(node, scope) ?? []);
  const single = memberships.filter(({ access }) => access?.isPoint === true);
  const withSingle = [...conjuncts, ...single.flatMap((each) => compileConjuncts(valueOf(each), scope))];
  const basic = ways(withSingle);
  const others = memberships.filter((each) => !single.includes(each));
  if (basic[0] !== null || others.length === 0) return basic;
  const [found = null] = ways([...withSingle, ...others.flatMap((each) => compileConjuncts(listOf(each), scope))]);
  if (found === null) return basic;
  // Without an index the server expects too many values to look each of them up.
  return others.some(({ access }) => access !== null) ? [found, null] : [null, found];
}

function valueOf({ subject, select }: Membership): Node {
  const rexpr: Node = { SubLink: { subLinkType: 'EXPR_SUBLINK', subselect: { SelectStmt: select } } };
  return { A_Expr: { kind: 'AEXPR_OP', name: [{ String: { sval: '=' } }], lexpr: subject, rexpr } };
}

function listOf({ subject, select }: Membership): Node {
  const rexpr: Node = { SubLink: { subLinkType: 'ARRAY_SUBLINK', subselect: { SelectStmt: select } } };
  return { A_Expr: { kind: 'AEXPR_OP_ANY', name: [{ String: { sval: '=' } }], lexpr: subject, rexpr } };
}

/** Is it an IN whose subquery finds its rows by an index? */
export function readsByIndex(node: Node, scope: QueryScope): boolean {
  return (membershipOf(node, scope)?.access ?? null) !== null;
}

/** `null`: another condition, or a subquery of more than one table and its rows. */
function membershipOf(node: Node, scope: QueryScope): Membership | null {
  const link = 'SubLink' in node ? node.SubLink : null;
  const subject = link?.testexpr;
  if (link === null || subject === undefined || !isMembership(link)) return null;
  const select = link.subselect !== undefined && 'SelectStmt' in link.subselect ? link.subselect.SelectStmt : null;
  const range = select === null ? undefined : rangeOf(select);
  if (select === null || range === undefined || scope.commonTable(range.relname ?? '') !== undefined) return null;
  const table = scope.planning.findRelation(range);
  const [target, another] = select.targetList ?? [];
  const column = target !== undefined && 'ResTarget' in target ? target.ResTarget.val : undefined;
  const names = columnNames(column);
  if (table?.kind !== 'table' || column === undefined || names === undefined || another !== undefined) return null;
  const cell = columnNamed(table, names.at(-1) ?? '', scope.dialect)?.cell;
  if (cell === undefined || link.subselect === undefined || scope.subquery(link.subselect, 'compared').isCorrelated)
    return null;
  return { subject, select, table, column, cell, access: ownAccess(select, table, scope) };
}

export function isMembership({ subLinkType, operName }: SubLink): boolean {
  return subLinkType === 'ANY_SUBLINK' && (operName === undefined || stringsOf(operName).at(-1) === '=');
}

/** The only table of a subquery whose rows are those of the table that satisfy its condition. */
function rangeOf({ fromClause, op = 'SETOP_NONE', ...clauses }: SelectStmt): RangeVar | undefined {
  const { valuesLists, limitCount, limitOffset, groupClause, havingClause, windowClause, withClause } = clauses;
  const others = [valuesLists, limitCount, limitOffset, groupClause, havingClause, windowClause, withClause];
  const [item, another] = fromClause ?? [];
  const isSimple = op === 'SETOP_NONE' && others.every((clause) => clause === undefined) && another === undefined;
  if (!isSimple || clauses.lockingClause !== undefined) return undefined;
  return item !== undefined && 'RangeVar' in item ? item.RangeVar : undefined;
}

/** Planned apart, for its conditions. */
function ownAccess(select: SelectStmt, table: Table, scope: QueryScope): Access | null {
  const { whereClause, fromClause } = select;
  if (whereClause === undefined || someNode(whereClause, (node) => 'SubLink' in node)) return null;
  const inner = scope.child('apart');
  const from = planFrom(fromClause, inner);
  inner.namespace = from.namespace;
  const conjuncts = compileConjuncts(whereClause, inner);
  const row = from.namespace.items[0]?.row ?? -1;
  return accessWays(table, row, conjuncts, () => false, scope.dialect)[0] ?? null;
}
