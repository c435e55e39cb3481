/** Keys and indexes: in CREATE TABLE, in ALTER TABLE and on their own. */
import type { Node, RangeVar } from '@pgsql/types';
import { integerNode } from '../tree/constant.ts';
import { createIndex, foreignKeyConstraint, primaryKeyConstraint, tableCheck } from '../tree/definition.ts';
import { columnRef, funcCall } from '../tree/expression.ts';
import { parseNumbers } from './cast-type.ts';
import { parseCheck, parseReferences } from './column.ts';
import type { Cursor, Name } from './cursor.ts';
import { parseNameList } from './names.ts';
import { parseExpression } from './nested.ts';
import { parseDirection } from './order-by.ts';

/** What a definition of a key becomes: an element of the table, or a statement after it. */
export type Key =
  | { readonly kind: 'constraint'; readonly node: Node }
  | {
      readonly kind: 'index';
      readonly isUnique: boolean;
      readonly name: Name | undefined;
      readonly parts: readonly KeyPart[];
    };

export interface KeyPart {
  readonly key: { readonly column: Name } | { readonly expression: Node };
  /** The first characters of it only. */
  readonly prefix: number | undefined;
  readonly direction: 'ASC' | 'DESC' | undefined;
}

/** `undefined`, nothing taken: a column comes here. */
export function parseKey(cursor: Cursor): Key | undefined {
  if (cursor.isOneOf('FULLTEXT', 'SPATIAL'))
    throw cursor.unsupported(`${cursor.peek()?.text.toUpperCase() ?? ''} indexes`);
  if (cursor.isOneOf('INDEX', 'KEY')) {
    cursor.take();
    return { ...parseIndex(cursor), isUnique: false };
  }
  const isConstraint = cursor.is('CONSTRAINT');
  if (isConstraint && (cursor.is('CONSTRAINT', 'CHECK') || isNamedCheck(cursor)))
    return { kind: 'constraint', node: tableCheck(parseCheck(cursor)) };
  if (isConstraint) cursor.take();
  const isNamed = isConstraint && !cursor.isOneOf('PRIMARY', 'UNIQUE', 'FOREIGN');
  const name = isNamed ? cursor.name() : undefined;
  const key = parseConstraint(cursor, name);
  if (key === undefined && isConstraint) throw cursor.syntaxError();
  return key;
}

function isNamedCheck(cursor: Cursor): boolean {
  const text = cursor.peek(2)?.text.toUpperCase();
  return cursor.isName(1) && text === 'CHECK';
}

function parseConstraint(cursor: Cursor, name: Name | undefined): Key | undefined {
  const at = cursor.at();
  if (cursor.accept('PRIMARY', 'KEY')) {
    const { parts } = parseIndex(cursor);
    return { kind: 'constraint', node: primaryKey(cursor, columnsOf(cursor, parts), at) };
  }
  if (cursor.accept('UNIQUE')) {
    cursor.acceptOneOf('INDEX', 'KEY');
    const index = parseIndex(cursor);
    return { ...index, name: index.name ?? name, isUnique: true };
  }
  if (cursor.accept('FOREIGN', 'KEY')) {
    const own = cursor.is('(') ? undefined : cursor.name();
    const named = name ?? own;
    const columns = parseNameList(cursor);
    cursor.expect('REFERENCES');
    const text = named === undefined ? undefined : cursor.nameText(named);
    return { kind: 'constraint', node: foreignKeyConstraint(text, columns, parseReferences(cursor), at) };
  }
  return cursor.is('CHECK') ? { kind: 'constraint', node: tableCheck(parseCheck(cursor)) } : undefined;
}

/** The constraint of every table's primary key has this name. */
export const primaryName = 'PRIMARY';

export function primaryKey(cursor: Cursor, columns: readonly Name[], at: number): Node {
  return primaryKeyConstraint(primaryName, cursor.checked(...columns), at);
}

function columnsOf(cursor: Cursor, parts: readonly KeyPart[]): Name[] {
  return parts.map(({ key, prefix }) => {
    if (!('column' in key) || prefix !== undefined)
      throw cursor.unsupported('a primary key of expressions or prefixes');
    return key.column;
  });
}

/** `[name] [USING BTREE] (a, b(10) DESC) [options]`. */
function parseIndex(cursor: Cursor): Extract<Key, { kind: 'index' }> {
  const hasName = !cursor.is('(') && !cursor.is('USING');
  const name = hasName ? cursor.name() : undefined;
  skipIndexOptions(cursor);
  const parts = parseKeyParts(cursor);
  skipIndexOptions(cursor);
  return { kind: 'index', isUnique: false, name, parts };
}

export function parseKeyParts(cursor: Cursor): KeyPart[] {
  return cursor.parenthesized(() =>
    cursor.list(() => {
      const key = cursor.is('(')
        ? { expression: cursor.parenthesized(() => parseExpression(cursor)) }
        : { column: cursor.name() };
      const [prefix] = parseNumbers(cursor);
      return { key, prefix, direction: parseDirection(cursor) };
    }),
  );
}

/** How an index is stored, and hints to DDL: nothing of it can be seen. */
export function skipIndexOptions(cursor: Cursor): void {
  for (;;) {
    if (cursor.is('INVISIBLE')) throw cursor.unsupported('INVISIBLE indexes');
    if (cursor.accept('VISIBLE')) continue;
    if (cursor.acceptOneOf('USING', 'TYPE', 'COMMENT', 'KEY_BLOCK_SIZE', 'ALGORITHM', 'LOCK') === undefined) return;
    cursor.accept('=');
    cursor.take();
  }
}

/**
 * CREATE INDEX. A prefix is left out where it only makes the index smaller; in a unique one it decides what is equal. Without a name it gets
 * one that is free.
 * @param ifNotExists for tables that may be there already, with their indexes
 */
export function indexNode(
  cursor: Cursor,
  table: RangeVar,
  key: { readonly isUnique: boolean; readonly name: Name | undefined; readonly parts: readonly KeyPart[] },
  ifNotExists = false,
): Node {
  const { isUnique } = key;
  const parts = key.parts.map((part) => ({ key: indexKey(cursor, part, isUnique), direction: part.direction }));
  const name = key.name === undefined ? undefined : cursor.nameText(key.name);
  return createIndex({ name, table, parts, isUnique, ifNotExists });
}

function indexKey(cursor: Cursor, { key, prefix }: KeyPart, isUnique: boolean): string | Node {
  if (!isUnique || prefix === undefined) return 'column' in key ? cursor.nameText(key.column) : key.expression;
  const at = 'column' in key ? key.column.at : cursor.at();
  const whole = 'column' in key ? columnRef([cursor.nameText(key.column)], at) : key.expression;
  return funcCall('left', [whole, integerNode(prefix, at)], at);
}

/** Names of indexes of one table, as MySQL gives them: after the first column, `c`, `c_2`, `c_3`. */
export class IndexNames {
  readonly #used = new Set<string>();

  take(name: Name | undefined, parts: readonly KeyPart[]): Name {
    if (name !== undefined) {
      this.#used.add(name.value.toLowerCase());
      return name;
    }
    const [first] = parts;
    const base = first !== undefined && 'column' in first.key ? first.key.column : { value: 'functional_index', at: 0 };
    let value = base.value;
    for (let i = 2; this.#used.has(value.toLowerCase()); i += 1) value = `${base.value}_${i}`;
    this.#used.add(value.toLowerCase());
    return { value, at: base.at };
  }
}
