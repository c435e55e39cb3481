/** Tables and joins (MySQL 8.0 manual, 15.2.13.2). */
import type { Cursor, Name } from './cursor.ts';
import { parseAlias, parseNameList, parseTableNames } from './names.ts';
import { isQueryAhead, parseExpression, parseSubquery } from './nested.ts';
import { commaList, parenthesized, type Output } from './output.ts';

export type FromItem =
  | {
      readonly kind: 'table';
      readonly names: readonly Name[];
      readonly alias: Name | undefined;
      readonly output: Output;
    }
  | { readonly kind: 'derived'; readonly alias: Name | undefined; readonly output: Output }
  | {
      readonly kind: 'join';
      readonly type: JoinType;
      readonly isNatural: boolean;
      readonly left: FromItem;
      readonly right: FromItem;
      readonly on: Output | undefined;
      readonly using: readonly Name[] | undefined;
    };

export type JoinType = 'INNER' | 'LEFT' | 'RIGHT';

export function parseFrom(cursor: Cursor): Output {
  return commaList(parseFromItems(cursor).map((item) => fromOutput(cursor, item)));
}

export function parseFromItems(cursor: Cursor): FromItem[] {
  return cursor.list(() => parseTableReference(cursor));
}

export function fromOutput(cursor: Cursor, item: FromItem): Output {
  if (item.kind !== 'join') return item.output;
  const condition = conditionOutput(cursor, item);
  const isCross = item.type === 'INNER' && condition === '' && !item.isNatural;
  const word = isCross
    ? 'CROSS JOIN'
    : `${item.isNatural ? 'NATURAL ' : ''}${item.type === 'INNER' ? '' : `${item.type} `}JOIN`;
  const right = fromOutput(cursor, item.right);
  return [fromOutput(cursor, item.left), word, item.right.kind === 'join' ? parenthesized(right) : right, condition];
}

function conditionOutput(cursor: Cursor, join: { on: Output | undefined; using: readonly Name[] | undefined }): Output {
  if (join.on !== undefined) return ['ON', join.on];
  if (join.using !== undefined)
    return ['USING', parenthesized(commaList(join.using.map((name) => cursor.quoted(name))))];
  return '';
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
  if (cursor.accept('STRAIGHT_JOIN')) return { type: 'INNER', isNatural: false, needsCondition: false };
  const isNatural = cursor.accept('NATURAL');
  const word = cursor.acceptOneOf('INNER', 'CROSS', 'LEFT', 'RIGHT');
  const type = word === 'LEFT' || word === 'RIGHT' ? word : 'INNER';
  if (type !== 'INNER') cursor.accept('OUTER');
  if (!isNatural && word === undefined && !cursor.is('JOIN')) return undefined;
  cursor.expect('JOIN');
  return { type, isNatural, needsCondition: type !== 'INNER' && !isNatural };
}

function parseTableFactor(cursor: Cursor): FromItem {
  if (cursor.accept('LATERAL')) return parseDerived(cursor, 'LATERAL');
  if (cursor.is('('))
    return isQueryAhead(cursor, 0) && !isJoinInside(cursor) ? parseDerived(cursor, '') : parseJoinInside(cursor);
  if (cursor.is('JSON_TABLE', '(')) throw cursor.unsupported('JSON_TABLE');
  const names = parseTableNames(cursor);
  if (cursor.is('PARTITION', '(')) throw cursor.unsupported('PARTITION (...)');
  if (cursor.is('FOR', 'SYSTEM_TIME')) throw cursor.unsupported('FOR SYSTEM_TIME');
  const alias = isIndexHintAhead(cursor) ? undefined : parseAlias(cursor);
  // The index decides what InnoDB locks.
  if (isIndexHintAhead(cursor)) throw cursor.unsupported(`${cursor.take().text.toUpperCase()} INDEX`);
  return tableItem(cursor, names, alias);
}

export function tableItem(cursor: Cursor, names: readonly Name[], alias: Name | undefined): FromItem {
  const output = [cursor.quoted(...names), alias === undefined ? '' : ['AS', cursor.quoted(alias)]];
  return { kind: 'table', names, alias, output };
}

function parseDerived(cursor: Cursor, lead: string): FromItem {
  const query = parseSubquery(cursor);
  const alias = parseAlias(cursor);
  if (alias === undefined) throw cursor.syntaxError();
  const columns = cursor.is('(') ? parseNameList(cursor) : '';
  return { kind: 'derived', alias, output: [lead, query, 'AS', cursor.quoted(alias), columns] };
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
    type: 'INNER',
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
