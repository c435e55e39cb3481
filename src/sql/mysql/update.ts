/** UPDATE and DELETE, of one table and of one table among joined ones (MySQL 8.0 manual, 15.2.2 and 15.2.17). */
import type { Node, RangeVar, WithClause } from '@pgsql/types';
import { SqlError } from '../model/index.ts';
import { columnRef, logical, operation } from '../tree/expression.ts';
import type { MysqlDelete, MysqlUpdate, RowChange } from '../tree/mysql.ts';
import { type ChangeParts, deletion, update } from '../tree/write.ts';
import { assignedColumns, parseAssignment, parseReturning, type Assignment } from './assignment.ts';
import type { Cursor, Name } from './cursor.ts';
import { fromNode, parseFromItems, qualifierOf, tableItem, type FromItem } from './from.ts';
import { parseAlias, parseTableNames, tableNamed } from './names.ts';
import { parseExpression } from './nested.ts';
import { parseOrderBy, parseRowCount } from './order-by.ts';

type TableItem = Extract<FromItem, { kind: 'table' }>;

/** Which rows of which table, before what is done to them. */
type Change = ChangeParts & RowChange;

/** Behind UPDATE. */
export function parseUpdate(cursor: Cursor, withClause: WithClause | undefined): Node {
  cursor.accept('LOW_PRIORITY');
  if (cursor.is('IGNORE')) throw cursor.unsupported('UPDATE IGNORE');
  const items = parseFromItems(cursor);
  cursor.expect('SET');
  const assignments = cursor.list(() => parseAssignment(cursor));
  const where = parseWhere(cursor);
  const [only] = items;
  if (items.length === 1 && only?.kind === 'table') {
    checkQualifiers(only, assignments);
    return updateOf(cursor, parseOneTable(cursor, only, where, withClause), assignments);
  }
  const target = targetOfAssignments(cursor, items, assignments);
  return updateOf(cursor, joinedTarget(cursor, items, target, where, withClause), assignments);
}

function updateOf(cursor: Cursor, change: Change, assignments: readonly Assignment[]): Node {
  const statement: MysqlUpdate = { ...update(change, assignedColumns(cursor, assignments)), ...ownParts(change) };
  return { UpdateStmt: statement };
}

function deletionOf(change: Change): Node {
  const statement: MysqlDelete = { ...deletion(change), ...ownParts(change) };
  return { DeleteStmt: statement };
}

function ownParts({ visited, writtenItem }: RowChange): RowChange {
  return {
    ...(visited === undefined ? {} : { visited }),
    ...(writtenItem === undefined ? {} : { writtenItem }),
  };
}

function parseWhere(cursor: Cursor): Node | undefined {
  return cursor.accept('WHERE') ? parseExpression(cursor) : undefined;
}

/** Behind DELETE. */
export function parseDelete(cursor: Cursor, withClause: WithClause | undefined): Node {
  while (cursor.acceptOneOf('LOW_PRIORITY', 'QUICK') !== undefined);
  if (cursor.is('IGNORE')) throw cursor.unsupported('DELETE IGNORE');
  const isFromFirst = cursor.accept('FROM');
  const mark = cursor.mark();
  const names = cursor.list(() => parseDeleteTarget(cursor));
  if (cursor.accept(isFromFirst ? 'USING' : 'FROM')) return parseJoinedDelete(cursor, withClause, names);
  if (!isFromFirst) throw cursor.syntaxError();
  cursor.back(mark);
  const table = tableItem(cursor, parseTableNames(cursor), parseAlias(cursor));
  return deletionOf(parseOneTable(cursor, table, parseWhere(cursor), withClause));
}

/** `t`, `db.t`, `t.*`. */
function parseDeleteTarget(cursor: Cursor): Name[] {
  const names = [cursor.name()];
  while (cursor.accept('.')) if (!cursor.accept('*')) names.push(cursor.nameAfterPoint());
  return names;
}

function parseJoinedDelete(
  cursor: Cursor,
  withClause: WithClause | undefined,
  targets: readonly (readonly Name[])[],
): Node {
  const items = parseFromItems(cursor);
  const where = parseWhere(cursor);
  const [first] = targets;
  if (first === undefined || targets.length > 1) throw cursor.unsupported('DELETE from several tables');
  return deletionOf(joinedTarget(cursor, items, targetByName(items, first.at(-1)), where, withClause));
}

/** Behind the WHERE of a statement on one table: ORDER BY, LIMIT, RETURNING. */
function parseOneTable(
  cursor: Cursor,
  { node }: TableItem,
  where: Node | undefined,
  withClause: WithClause | undefined,
): Change {
  const sortClause = parseOrderBy(cursor);
  const limit = parseRowCount(cursor);
  const isVisited = sortClause.length > 0 || limit !== undefined;
  return {
    table: tableOf(node),
    others: [],
    where,
    returning: parseReturning(cursor),
    withClause,
    ...(isVisited ? { visited: { sortClause, limitCount: limit ?? undefined } } : {}),
  };
}

function tableOf(node: Node): RangeVar {
  return 'RangeVar' in node ? node.RangeVar : {};
}

function checkQualifiers(table: TableItem, assignments: readonly Assignment[]): void {
  for (const { qualifier, column } of assignments)
    if (qualifier !== undefined && qualifier.value !== qualifierOf(table)) throw unknownColumn(qualifier, column);
}

function unknownColumn(qualifier: Name, column: Name): SqlError {
  const name = `${qualifier.value}.${column.value}`;
  return new SqlError('42703', `Unknown column '${name}' in 'field list'`, { position: qualifier.at + 1 });
}

/** The one table whose columns are assigned. Without qualifiers it is the first: where that is wrong, the column is not found. */
function targetOfAssignments(
  cursor: Cursor,
  items: readonly FromItem[],
  assignments: readonly Assignment[],
): TableItem {
  const named = assignments.map(({ qualifier }) => qualifier).filter((qualifier) => qualifier !== undefined);
  const [first] = named;
  if (named.some((qualifier) => qualifier.value !== first?.value)) throw cursor.unsupported('UPDATE of several tables');
  if (first !== undefined) return targetByName(items, first);
  const [table] = items.flatMap(tablesOf);
  if (table === undefined) throw cursor.unsupported('UPDATE of a derived table');
  return table;
}

function targetByName(items: readonly FromItem[], name: Name | undefined): TableItem {
  const found = items.flatMap(tablesOf).find((table) => qualifierOf(table) === name?.value);
  if (found !== undefined) return found;
  throw new SqlError('42P01', `Unknown table '${name?.value ?? ''}' in MULTI DELETE`, {
    position: (name?.at ?? 0) + 1,
    mysqlNumber: 1109,
  });
}

function tablesOf(item: FromItem): TableItem[] {
  if (item.kind === 'join') return [...tablesOf(item.left), ...tablesOf(item.right)];
  return item.kind === 'table' ? [item] : [];
}

/**
 * The target apart from what it is joined with. Inner joins are conditions of WHERE; where the target stands in an outer join, all of it
 * stays.
 */
function joinedTarget(
  cursor: Cursor,
  items: readonly FromItem[],
  target: TableItem,
  where: Node | undefined,
  withClause: WithClause | undefined,
): Change {
  const conditions: Node[] = [];
  const flat = items.flatMap((item) => innerItems(cursor, item, conditions));
  const others = flat.filter((item) => item !== target);
  if (where !== undefined) conditions.push(where);
  const isApart = others.length < flat.length;
  return {
    table: isApart ? tableOf(target.node) : tableNamed(cursor, target.names),
    others: others.map((item) => fromNode(cursor, item)),
    where:
      conditions.length === 0 ? undefined : conditions.reduce((left, right) => logical('AND_EXPR', left, right, -1)),
    returning: [],
    withClause,
    ...(isApart ? {} : { writtenItem: qualifierOf(target) ?? '' }),
  };
}

/** What inner joins join; their conditions are added to `conditions`. */
function innerItems(cursor: Cursor, item: FromItem, conditions: Node[]): FromItem[] {
  if (item.kind !== 'join' || item.type !== 'JOIN_INNER') return [item];
  if (item.isNatural) throw cursor.unsupported('NATURAL JOIN in UPDATE and DELETE');
  const left = innerItems(cursor, item.left, conditions);
  const right = innerItems(cursor, item.right, conditions);
  if (item.on !== undefined) conditions.push(item.on);
  for (const column of item.using ?? []) {
    const columnOf = (side: readonly FromItem[]): Node =>
      columnRef(cursor.checked(qualifierOfOne(cursor, side), column), column.at);
    conditions.push(operation('=', columnOf(left), columnOf(right), column.at));
  }
  return [...left, ...right];
}

function qualifierOfOne(cursor: Cursor, items: readonly FromItem[]): Name {
  const [only] = items;
  const value = items.length === 1 && only !== undefined && only.kind !== 'join' ? qualifierOf(only) : undefined;
  if (value === undefined) throw cursor.unsupported('USING over more than two tables in UPDATE and DELETE');
  return { value, at: 0 };
}
