/** Keys and indexes: in CREATE TABLE, in ALTER TABLE and on their own. */
import type { Cursor, Name } from './cursor.ts';
import { parseExpression } from './nested.ts';
import { parseNumbers } from './cast-type.ts';
import { parseCheck, parseReferences } from './column.ts';
import { commaList, parenthesized, type Output } from './output.ts';

/** What a definition of a key becomes: a part of the table's text, or a statement after it. */
export type Key =
  | { readonly kind: 'constraint'; readonly output: Output }
  | {
      readonly kind: 'index';
      readonly isUnique: boolean;
      readonly name: Name | undefined;
      readonly parts: readonly KeyPart[];
    };

export interface KeyPart {
  /** Plain columns. */
  readonly column: Name | undefined;
  readonly output: Output;
  /** The first characters of it only. */
  readonly prefix: number | undefined;
  readonly direction: string;
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
    return { kind: 'constraint', output: parseCheck(cursor) };
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
  if (cursor.accept('PRIMARY', 'KEY')) {
    const { parts } = parseIndex(cursor);
    return { kind: 'constraint', output: primaryKey(columnsOf(cursor, parts)) };
  }
  if (cursor.accept('UNIQUE')) {
    cursor.acceptOneOf('INDEX', 'KEY');
    const index = parseIndex(cursor);
    return { ...index, name: index.name ?? name, isUnique: true };
  }
  if (cursor.accept('FOREIGN', 'KEY')) {
    const own = cursor.is('(') ? undefined : cursor.name();
    const named = name ?? own;
    const columns = cursor.parenthesized(() => cursor.list(() => cursor.quoted(cursor.name())));
    cursor.expect('REFERENCES');
    const lead = named === undefined ? '' : ['CONSTRAINT', cursor.quoted(named)];
    const references = parseReferences(cursor);
    return {
      kind: 'constraint',
      output: [lead, 'FOREIGN KEY', parenthesized(commaList(columns)), 'REFERENCES', references],
    };
  }
  return cursor.is('CHECK') ? { kind: 'constraint', output: parseCheck(cursor) } : undefined;
}

export function primaryKey(columns: readonly Output[]): Output {
  return ['CONSTRAINT "PRIMARY" PRIMARY KEY', parenthesized(commaList(columns))];
}

function columnsOf(cursor: Cursor, parts: readonly KeyPart[]): Output[] {
  return parts.map((part) => {
    if (part.column === undefined || part.prefix !== undefined)
      throw cursor.unsupported('a primary key of expressions or prefixes');
    return part.output;
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
      const column = cursor.is('(') ? undefined : cursor.name();
      const output =
        column === undefined
          ? parenthesized(cursor.parenthesized(() => parseExpression(cursor)))
          : cursor.quoted(column);
      const [prefix] = parseNumbers(cursor);
      return { column, output, prefix, direction: cursor.acceptOneOf('ASC', 'DESC') ?? '' };
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
export function createIndex(
  cursor: Cursor,
  table: Output,
  key: { readonly isUnique: boolean; readonly name: Name | undefined; readonly parts: readonly KeyPart[] },
  ifNotExists = false,
): Output {
  const parts = key.parts.map(({ output, prefix, direction }) => {
    const isCut = key.isUnique && prefix !== undefined;
    return [isCut ? ['left(', output, ',', String(prefix), ')'] : output, direction];
  });
  const verb = `CREATE ${key.isUnique ? 'UNIQUE ' : ''}INDEX${ifNotExists ? ' IF NOT EXISTS' : ''}`;
  return [verb, key.name === undefined ? '' : cursor.quoted(key.name), 'ON', table, parenthesized(commaList(parts))];
}

/** Names of indexes of one table, as MySQL gives them: after the first column, `c`, `c_2`, `c_3`. */
export class IndexNames {
  readonly #used = new Set<string>();

  take(name: Name | undefined, parts: readonly KeyPart[]): Name {
    if (name !== undefined) {
      this.#used.add(name.value.toLowerCase());
      return name;
    }
    const base = parts[0]?.column ?? { value: 'functional_index', at: 0 };
    let value = base.value;
    for (let i = 2; this.#used.has(value.toLowerCase()); i += 1) value = `${base.value}_${i}`;
    this.#used.add(value.toLowerCase());
    return { value, at: base.at };
  }
}
