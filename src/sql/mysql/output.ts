/** Text under construction: a rope whose leaves may remember where in the source they come from. */

export type Output = string | Placed | readonly Output[];

/** `at`: offset in the source of what this text stands for. */
export interface Placed {
  readonly text: string;
  readonly at: number;
}

export interface Rendered {
  readonly text: string;
  /** The offset in the source of what stands at this offset of `text`, both from 0. */
  readonly positionOf: (offset: number) => number;
}

/** Joins the leaves with spaces, none inside of parentheses and before commas. */
export function render(output: Output): Rendered {
  const places: { readonly offset: number; readonly at: number }[] = [];
  const texts: string[] = [];
  let length = 0;
  let last = '(';
  for (const leaf of leavesOf(output)) {
    const text = typeof leaf === 'string' ? leaf : leaf.text;
    if (text === '') continue;
    const gap = last.endsWith('(') || text.startsWith(')') || text.startsWith(',') || text === ';' ? '' : ' ';
    texts.push(gap, text);
    if (typeof leaf !== 'string') places.push({ offset: length + gap.length, at: leaf.at });
    length += gap.length + text.length;
    last = text;
  }
  const positionOf = (offset: number): number => places.findLast((place) => place.offset <= offset)?.at ?? 0;
  return { text: texts.join(''), positionOf };
}

function* leavesOf(output: Output): Iterable<string | Placed> {
  if (typeof output === 'string' || 'text' in output) yield output;
  else for (const part of output) yield* leavesOf(part);
}

/** `a, b, c`. */
export function commaList(items: readonly Output[]): Output {
  return items.flatMap((item, i) => (i === 0 ? [item] : [',', item]));
}

export function parenthesized(output: Output): Output {
  return ['(', output, ')'];
}

/** PostgreSQL's string constant. Its scanner cannot carry a NUL, so such a string goes as bytes. */
export function stringConstant(value: string): string {
  if (value.includes('\0')) return `mysql_string(X'${hexOf(value)}')`;
  return `'${value.replaceAll("'", "''")}'`;
}

function hexOf(value: string): string {
  return [...new TextEncoder().encode(value)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
