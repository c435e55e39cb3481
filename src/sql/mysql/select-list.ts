/** What a SELECT gives, and MySQL's names for it. */
import type { Cursor, Name } from './cursor.ts';
import { isString } from './literal.ts';
import { parseAlias } from './names.ts';
import { parseExpression } from './nested.ts';
import { commaList, render, type Output } from './output.ts';

export interface SelectList {
  readonly items: Output;
  /** What the aliases stand for; names in lower case. */
  readonly aliases: ReadonlyMap<string, Output>;
}

export function parseSelectList(cursor: Cursor): SelectList {
  const aliases = new Map<string, Output>();
  const items = cursor.list(() => {
    const star = parseStar(cursor);
    if (star !== undefined) return star;
    const { value, name, isAlias } = parseItem(cursor);
    if (isAlias && name !== undefined) aliases.set(name.value.toLowerCase(), value);
    return name === undefined ? value : [value, 'AS', cursor.resultName(name.value, name.at)];
  });
  return { items: commaList(items), aliases };
}

/** `*`, `t.*`, `db.t.*`. */
function parseStar(cursor: Cursor): Output | undefined {
  if (cursor.accept('*')) return '*';
  const mark = cursor.mark();
  const names: Name[] = [];
  while (cursor.isName()) {
    names.push(cursor.name());
    if (!cursor.accept('.')) break;
    if (cursor.accept('*')) {
      const qualifier = cursor.quoted(...names);
      return { text: `${qualifier.text}.*`, at: qualifier.at };
    }
  }
  cursor.back(mark);
  return undefined;
}

interface Item {
  readonly value: Output;
  /** Plain columns have none: their own name is MySQL's too. */
  readonly name: Name | undefined;
  readonly isAlias: boolean;
}

function parseItem(cursor: Cursor): Item {
  const mark = cursor.mark();
  const { at = 0 } = cursor.peek() ?? {};
  const literals = stringsAhead(cursor);
  const isBoolean = cursor.isOneOf('TRUE', 'FALSE');
  const value = parseExpression(cursor);
  const taken = cursor.mark() - mark;
  const source = cursor.sourceSince(mark);
  const alias = parseAlias(cursor);
  if (alias !== undefined) return { value, name: alias, isAlias: true };
  // MySQL names a string after its value, TRUE and FALSE in upper case, everything else after its text.
  if (literals.length > 0 && taken === literals.length)
    return { value, name: { value: literals.join(''), at }, isAlias: false };
  if (isBoolean && taken === 1) return { value, name: { value: source.toUpperCase(), at }, isAlias: false };
  const isColumn = columnPath.test(render(value).text);
  return { value, name: isColumn ? undefined : { value: source, at }, isAlias: false };
}

/** The values of the strings that come next, by token; an introducer such as `_utf8mb4` has none. */
function stringsAhead(cursor: Cursor): string[] {
  const values = isString(cursor) && !cursor.isKind('string') ? [''] : [];
  while (cursor.isKind('string', values.length)) values.push(cursor.peek(values.length)?.value ?? '');
  return values;
}

/** `"a"`, `"t"."a"`, `"db"."t"."a"`: in rewritten text only columns look so. */
const columnPath = /^(?:"(?:[^"]|"")*"\.){0,2}"(?:[^"]|"")*"$/;
