/** What a SELECT gives, and MySQL's names for it. */
import type { Node } from '@pgsql/types';
import { columnNames } from '../plan/tree.ts';
import { starRef } from '../tree/expression.ts';
import { target } from '../tree/query.ts';
import type { Cursor, Name } from './cursor.ts';
import { isString } from './literal.ts';
import { parseAlias } from './names.ts';
import { parseExpression } from './nested.ts';

export interface SelectList {
  readonly items: readonly Node[];
  /** What the aliases stand for; names in lower case. */
  readonly aliases: ReadonlyMap<string, Node>;
}

export function parseSelectList(cursor: Cursor): SelectList {
  const aliases = new Map<string, Node>();
  const items = cursor.list(() => {
    const at = cursor.at();
    const star = parseStar(cursor);
    if (star !== undefined) return target(star, undefined, at);
    const { value, name, isAlias } = parseItem(cursor);
    if (isAlias && name !== undefined) aliases.set(name.toLowerCase(), value);
    return target(value, name, at);
  });
  return { items, aliases };
}

/** `*`, `t.*`, `db.t.*`. */
function parseStar(cursor: Cursor): Node | undefined {
  const at = cursor.at();
  if (cursor.accept('*')) return starRef([], at);
  const mark = cursor.mark();
  const names: Name[] = [];
  while (cursor.isName()) {
    names.push(cursor.name());
    if (!cursor.accept('.')) break;
    if (cursor.accept('*')) return starRef(cursor.checked(...names), at);
  }
  cursor.back(mark);
  return undefined;
}

interface Item {
  readonly value: Node;
  /** Plain columns have none: their own name is MySQL's too. */
  readonly name: string | undefined;
  readonly isAlias: boolean;
}

function parseItem(cursor: Cursor): Item {
  const mark = cursor.mark();
  const literals = stringsAhead(cursor);
  const isBoolean = cursor.isOneOf('TRUE', 'FALSE');
  const value = parseExpression(cursor);
  const taken = cursor.mark() - mark;
  const source = cursor.sourceSince(mark);
  const alias = parseAlias(cursor);
  if (alias !== undefined) return { value, name: alias.value, isAlias: true };
  // MySQL names a string after its value, TRUE and FALSE in upper case, everything else after its text.
  if (literals.length > 0 && taken === literals.length) return { value, name: literals.join(''), isAlias: false };
  if (isBoolean && taken === 1) return { value, name: source.toUpperCase(), isAlias: false };
  return { value, name: columnNames(value) === undefined ? source : undefined, isAlias: false };
}

/** The values of the strings that come next, by token; an introducer such as `_utf8mb4` has none. */
function stringsAhead(cursor: Cursor): string[] {
  const values = isString(cursor) && !cursor.isKind('string') ? [''] : [];
  while (cursor.isKind('string', values.length)) values.push(cursor.peek(values.length)?.value ?? '');
  return values;
}
