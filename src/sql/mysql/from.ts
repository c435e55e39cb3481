/** Tables and joins (MySQL 8.0 manual, 15.2.13.2). */
import type { Node } from '@pgsql/types';
import { derivedTable, joinNode } from '../tree/query.ts';
import type { Cursor, Name } from './cursor.ts';
import { parseAlias, parseColumnNames, parseTableNames, tableNamed } from './names.ts';
import { isQueryAhead, parseExpression, parseSubquery } from './nested.ts';

export type FromItem =
  | { readonly kind: 'table'; readonly names: readonly Name[]; readonly alias: Name | undefined; readonly node: Node }
  | { readonly kind: 'derived'; readonly alias: Name; readonly node: Node }
  | {
      readonly kind: 'join';
      readonly type: 'JOIN_INNER' | 'JOIN_LEFT' | 'JOIN_RIGHT';
      readonly isNatural: boolean;
      readonly left: FromItem;
      readonly right: FromItem;
      readonly on: Node | undefined;
      readonly using: readonly Name[] | undefined;
    };

type JoinType = Extract<FromItem, { kind: 'join' }>['type'];

export function parseFrom(cursor: Cursor): Node[] {
  return parseFromItems(cursor).map((item) => fromNode(cursor, item));
}

export function parseFromItems(cursor: Cursor): FromItem[] {
  return cursor.list(() => parseTableReference(cursor));
}

export function fromNode(cursor: Cursor, item: FromItem): Node {
  if (item.kind !== 'join') return item.node;
  const { type, isNatural, on } = item;
  const [left, right] = [fromNode(cursor, item.left), fromNode(cursor, item.right)];
  const using = item.using === undefined ? undefined : cursor.checked(...item.using);
  return joinNode({ type, isNatural, left, right, on, using });
}

/** The name that columns of this item are qualified with. */
export function qualifierOf(item: Exclude<FromItem, { kind: 'join' }>): string | undefined {
  return item.alias?.value ?? (item.kind === 'table' ? item.names.at(-1)?.value : undefined);
}

function parseTableReference(cursor: Cursor): FromItem {
  return cursor.nested(() => parseJoins(cursor, parseTableFactor(cursor)));
}

function parseJoins(cursor: Cursor, first: FromItem): FromItem {
  let left = first;
  for (;;) {
    const join = parseJoinWord(cursor);
    if (join === undefined) return left;
    let right = parseTableFactor(cursor);
    // `a LEFT JOIN b JOIN c ON x ON y`: what needs a condition and has none yet takes the next join to its right.
    if (join.needsCondition && !cursor.isOneOf('ON', 'USING')) right = parseJoins(cursor, right);
    if (join.isNatural && cursor.isOneOf('ON', 'USING')) throw cursor.syntaxError();
    const on = cursor.accept('ON') ? parseExpression(cursor) : undefined;
    const using =
      on === undefined && cursor.accept('USING')
        ? cursor.parenthesized(() => cursor.list(() => cursor.name()))
        : undefined;
    if (join.needsCondition && on === undefined && using === undefined) throw cursor.syntaxError();
    left = { kind: 'join', type: join.type, isNatural: join.isNatural, left, right, on, using };
  }
}

interface JoinWord {
  readonly type: JoinType;
  readonly isNatural: boolean;
  readonly needsCondition: boolean;
}

function parseJoinWord(cursor: Cursor): JoinWord | undefined {
  if (cursor.accept('STRAIGHT_JOIN')) return { type: 'JOIN_INNER', isNatural: false, needsCondition: false };
  const isNatural = cursor.accept('NATURAL');
  const word = cursor.acceptOneOf('INNER', 'CROSS', 'LEFT', 'RIGHT');
  const type = word === 'LEFT' ? 'JOIN_LEFT' : word === 'RIGHT' ? 'JOIN_RIGHT' : 'JOIN_INNER';
  if (type !== 'JOIN_INNER') cursor.accept('OUTER');
  if (!isNatural && word === undefined && !cursor.is('JOIN')) return undefined;
  cursor.expect('JOIN');
  return { type, isNatural, needsCondition: type !== 'JOIN_INNER' && !isNatural };
}

function parseTableFactor(cursor: Cursor): FromItem {
  if (cursor.accept('LATERAL')) return parseDerived(cursor, true);
  if (cursor.is('('))
    return isQueryAhead(cursor, 0) && !isJoinInside(cursor) ? parseDerived(cursor, false) : parseJoinInside(cursor);
  if (cursor.is('JSON_TABLE', '(')) throw cursor.unsupported('JSON_TABLE');
  const names = parseTableNames(cursor);
  if (cursor.is('PARTITION', '(')) throw cursor.unsupported('PARTITION (...)');
  if (cursor.is('FOR', 'SYSTEM_TIME')) throw cursor.unsupported('FOR SYSTEM_TIME');
  const alias = isIndexHintAhead(cursor) ? undefined : parseAlias(cursor);
  // The index decides what InnoDB locks.
  if (isIndexHintAhead(cursor)) throw cursor.unsupported(`${cursor.take().text.toUpperCase()} INDEX`);
  return tableItem(cursor, names, alias);
}

export function tableItem(
  cursor: Cursor,
  names: readonly Name[],
  alias: Name | undefined,
): Extract<FromItem, { kind: 'table' }> {
  return { kind: 'table', names, alias, node: { RangeVar: tableNamed(cursor, names, alias) } };
}

function parseDerived(cursor: Cursor, isLateral: boolean): FromItem {
  const query = parseSubquery(cursor);
  const alias = parseAlias(cursor);
  if (alias === undefined) throw cursor.syntaxError();
  const node = derivedTable(query, cursor.nameText(alias), parseColumnNames(cursor), isLateral);
  return { kind: 'derived', alias, node };
}

/** `((SELECT ...) AS a JOIN b ON ...)`: the parenthesis belongs to a join although a query comes next. */
function isJoinInside(cursor: Cursor): boolean {
  if (cursor.peek(1)?.text !== '(') return false;
  let depth = 0;
  for (let ahead = 1; ; ahead += 1) {
    const text = cursor.peek(ahead)?.text;
    if (text === undefined) return false;
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    if (depth === 0)
      return (
        cursor.peek(ahead + 1)?.kind === 'word' &&
        !/^(UNION|ORDER|LIMIT|EXCEPT|INTERSECT)$/i.test(cursor.peek(ahead + 1)?.text ?? '')
      );
  }
}

/** `(a, b)` and `(a JOIN b)`; commas join like CROSS JOIN. */
function parseJoinInside(cursor: Cursor): FromItem {
  const items = cursor.parenthesized(() => parseFromItems(cursor));
  const joined = items.reduce((left, right) => ({
    kind: 'join',
    type: 'JOIN_INNER',
    isNatural: false,
    left,
    right,
    on: undefined,
    using: undefined,
  }));
  return joined;
}

function isIndexHintAhead(cursor: Cursor): boolean {
  return ['USE', 'FORCE', 'IGNORE'].some((word) => cursor.is(word, 'INDEX') || cursor.is(word, 'KEY'));
}
