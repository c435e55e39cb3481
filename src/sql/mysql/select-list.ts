/** What a SELECT gives, and MySQL's names for it. */
import type { Cursor, Name } from './cursor.ts';
import { parseExpression } from './expression.ts';
import { commaList, type Output } from './output.ts';
import { isString } from './simple-expression.ts';

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
  const first = cursor.peek();
  const isStringItem = isString(cursor);
  const value = parseExpression(cursor);
  const taken = cursor.mark() - mark;
  const source = cursor.sourceSince(mark);
  const alias = parseAlias(cursor);
  if (alias !== undefined) return { value, name: alias, isAlias: true };
  const at = first?.at ?? 0;
  // MySQL names a string after its value, everything else after its text.
  if (isStringItem && taken === 1) return { value, name: { value: first?.value ?? '', at }, isAlias: false };
  const isColumn = taken % 2 === 1 && isName(first) && isNamePath(cursor, mark, taken);
  return { value, name: isColumn ? undefined : { value: source, at }, isAlias: false };
}

function isName(token: { readonly kind: string } | undefined): boolean {
  return token?.kind === 'word' || token?.kind === 'quoted';
}

/** a, t.a, db.t.a: and no TRUE or CURRENT_TIMESTAMP. */
function isNamePath(cursor: Cursor, mark: number, taken: number): boolean {
  const here = cursor.mark();
  cursor.back(mark);
  const isPath =
    cursor.isName() && Array.from({ length: (taken - 1) / 2 }, (_, i) => cursor.peek(2 * i + 1)?.text).every((text) => text === '.');
  cursor.back(here);
  return isPath;
}

/** `AS a`, `a`, `AS 'a'`. */
export function parseAlias(cursor: Cursor): Name | undefined {
  const hasAs = cursor.accept('AS');
  const { at = 0 } = cursor.peek() ?? {};
  if (cursor.isKind('string')) return { value: cursor.take().value, at };
  return hasAs || cursor.isName() ? cursor.name() : undefined;
}
