/** UPDATE and DELETE, of one table and of one table among joined ones (MySQL 8.0 manual, 15.2.2 and 15.2.17). */
import { SqlError } from '../model/index.ts';
import type { Cursor, Name } from './cursor.ts';
import { parseAlias, parseTableNames } from './names.ts';
import { parseExpression } from './nested.ts';
import { parseLimit, parseOrderBy } from './order-by.ts';
import { fromOutput, parseFromItems, qualifierOf, tableItem, type FromItem } from './from.ts';
import { commaList, parenthesized, type Output } from './output.ts';
import { withLead, type WithClause } from './select.ts';
import { assignmentList, parseAssignment, parseReturning, type Assignment } from './assignment.ts';

type TableItem = Extract<FromItem, { kind: 'table' }>;

/** Behind UPDATE. */
export function parseUpdate(cursor: Cursor, withClause: WithClause): Output {
  cursor.accept('LOW_PRIORITY');
  if (cursor.is('IGNORE')) throw cursor.unsupported('UPDATE IGNORE');
  const items = parseFromItems(cursor);
  cursor.expect('SET');
  const assignments = cursor.list(() => parseAssignment(cursor));
  const set = ['SET', assignmentList(cursor, assignments)];
  const where = cursor.accept('WHERE') ? parseExpression(cursor) : undefined;
  const [only] = items;
  if (items.length === 1 && only?.kind === 'table') {
    checkQualifiers(only, assignments);
    const visited = parseVisited(cursor, only, withClause);
    return [visited, 'UPDATE', only.output, set, where === undefined ? '' : ['WHERE', where], parseReturning(cursor)];
  }
  const target = targetOfAssignments(cursor, items, assignments);
  const joined = joinedTarget(cursor, items, target, where);
  return [withLead(withClause), 'UPDATE', joined.target, set, 'FROM', joined.others, joined.where];
}

/** Behind DELETE. */
export function parseDelete(cursor: Cursor, withClause: WithClause): Output {
  while (cursor.acceptOneOf('LOW_PRIORITY', 'QUICK') !== undefined);
  if (cursor.is('IGNORE')) throw cursor.unsupported('DELETE IGNORE');
  const isFromFirst = cursor.accept('FROM');
  const mark = cursor.mark();
  const names = cursor.list(() => parseDeleteTarget(cursor));
  if (cursor.accept(isFromFirst ? 'USING' : 'FROM')) return parseJoinedDelete(cursor, withClause, names);
  if (!isFromFirst) throw cursor.syntaxError();
  cursor.back(mark);
  const table = tableItem(cursor, parseTableNames(cursor), parseAlias(cursor));
  const where = cursor.accept('WHERE') ? ['WHERE', parseExpression(cursor)] : '';
  if (table.kind !== 'table') throw cursor.syntaxError();
  const visited = parseVisited(cursor, table, withClause);
  return [visited, 'DELETE FROM', table.output, where, parseReturning(cursor)];
}

/** `t`, `db.t`, `t.*`. */
function parseDeleteTarget(cursor: Cursor): Name[] {
  const names = [cursor.name()];
  while (cursor.accept('.')) if (!cursor.accept('*')) names.push(cursor.nameAfterPoint());
  return names;
}

function parseJoinedDelete(cursor: Cursor, withClause: WithClause, targets: readonly Name[][]): Output {
  const items = parseFromItems(cursor);
  const where = cursor.accept('WHERE') ? parseExpression(cursor) : undefined;
  const [first] = targets;
  if (first === undefined || targets.length > 1) throw cursor.unsupported('DELETE from several tables');
  const joined = joinedTarget(cursor, items, targetByName(items, first.at(-1)), where);
  const using = joined.others.length === 0 ? '' : ['USING', joined.others];
  return [withLead(withClause), 'DELETE FROM', joined.target, using, joined.where];
}

/** WITH, and the marker for ORDER BY and LIMIT behind it: the order in which rows are visited, and how many. */
function parseVisited(cursor: Cursor, table: TableItem, withClause: WithClause): Output {
  const orderBy = cursor.is('ORDER', 'BY') ? parseOrderBy(cursor) : '';
  const limit = parseLimit(cursor);
  if (orderBy === '' && limit === '') return withLead(withClause);
  const marker = ['"moirai_limit" AS (SELECT 1 FROM', table.output, orderBy, limit, ')'];
  return withLead({ ...withClause, items: [...withClause.items, marker] });
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

interface Joined {
  readonly target: Output;
  readonly others: readonly Output[];
  readonly where: Output;
}

/**
 * The target apart from what it is joined with. Inner joins are conditions of WHERE; where the target stands in an outer join, all of
 * it stays and the target is named once more (`moirai_target`).
 */
function joinedTarget(
  cursor: Cursor,
  items: readonly FromItem[],
  target: TableItem,
  where: Output | undefined,
): Joined {
  const conditions: Output[] = [];
  const flat = items.flatMap((item) => innerItems(cursor, item, conditions));
  const others = flat.filter((item) => item !== target);
  if (where !== undefined) conditions.push(parenthesized(where));
  if (others.length < flat.length) {
    return {
      target: target.output,
      others: [listOf(cursor, others)].filter((list) => list !== ''),
      where: whereOf(conditions),
    };
  }
  const identity = [
    `"moirai_target".ctid =`,
    `${cursor.quoted({ value: qualifierOf(target) ?? '', at: 0 }).text}.ctid`,
  ];
  return {
    target: [cursor.quoted(...target.names), 'AS "moirai_target"'],
    others: [listOf(cursor, flat)],
    where: whereOf([identity, ...conditions]),
  };
}

function listOf(cursor: Cursor, items: readonly FromItem[]): Output {
  return items.length === 0 ? '' : commaList(items.map((item) => fromOutput(cursor, item)));
}

function whereOf(conditions: readonly Output[]): Output {
  return conditions.map((condition, i) => [i === 0 ? 'WHERE' : 'AND', condition]);
}

/** What inner joins join; their conditions are added to `conditions`. */
function innerItems(cursor: Cursor, item: FromItem, conditions: Output[]): FromItem[] {
  if (item.kind !== 'join' || item.type !== 'INNER') return [item];
  if (item.isNatural) throw cursor.unsupported('NATURAL JOIN in UPDATE and DELETE');
  const left = innerItems(cursor, item.left, conditions);
  const right = innerItems(cursor, item.right, conditions);
  if (item.on !== undefined) conditions.push(parenthesized(item.on));
  for (const column of item.using ?? []) {
    const [from, to] = [qualifierOfOne(cursor, left), qualifierOfOne(cursor, right)];
    conditions.push([cursor.quoted(from, column), '=', cursor.quoted(to, column)]);
  }
  return [...left, ...right];
}

function qualifierOfOne(cursor: Cursor, items: readonly FromItem[]): Name {
  const [only] = items;
  const value = items.length === 1 && only !== undefined && only.kind !== 'join' ? qualifierOf(only) : undefined;
  if (value === undefined) throw cursor.unsupported('USING over more than two tables in UPDATE and DELETE');
  return { value, at: 0 };
}
