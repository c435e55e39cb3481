/**
 * PostgreSQL's scanner reads the start of each nested comment with all operator characters behind it: n starts in a row take n² steps. In a text with a
 * long run of such characters, what is inside comments becomes spaces; statements and their places stay as they are. O(length)
 */
export function withoutNested(sql: string): string {
  if (!operatorRun.test(sql)) return sql;
  const pieces: string[] = [];
  let at = 0;
  for (const [start, end] of commentsOf(sql)) {
    pieces.push(sql.slice(at, start), blank(sql.slice(start, end)));
    at = end;
  }
  return pieces.join('') + sql.slice(at);
}

const operatorRun = /[-~!@#^&|`?+*/%<>=]{100}/;

/** What begins a part whose characters begin no comment: a literal, a quoted name, the rest of a line, a name; and what begins a comment. */
const openings =
  /[eE]'|['"]|\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|--|\/\*|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/g;

/** From where each begins to its end, without the marks of the outermost; one without an end goes to that of the text. */
function* commentsOf(sql: string): Iterable<readonly [start: number, end: number]> {
  const opening = new RegExp(openings);
  for (let match = opening.exec(sql); match !== null; match = opening.exec(sql)) {
    const from = opening.lastIndex;
    const end = endOf(match[0], sql, from);
    if (match[0] === '/*') yield [from, end === null ? sql.length : end - 2];
    // The parser refuses such a text.
    if (end === null) return;
    opening.lastIndex = end;
  }
}

/** `null`: the part has no end. A doubled quote is the end of one part and the beginning of another. */
function endOf(opening: string, sql: string, from: number): number | null {
  switch (opening) {
    case '/*':
      return endOfComment(sql, from);
    case '--':
      return endBy(/[\n\r]|$/g, sql, from);
    case "e'":
    case "E'":
      return endOfEscaped(sql, from);
    case "'":
    case '"':
      return endOfText(opening, sql, from);
    default:
      return opening.startsWith('$') ? endOfText(opening, sql, from) : from;
  }
}

function endOfText(closing: string, sql: string, from: number): number | null {
  const at = sql.indexOf(closing, from);
  return at < 0 ? null : at + closing.length;
}

function endBy(closing: RegExp, sql: string, from: number): number | null {
  closing.lastIndex = from;
  return closing.test(sql) ? closing.lastIndex : null;
}

function endOfComment(sql: string, from: number): number | null {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = from;
  let depth = 1;
  for (let match = mark.exec(sql); match !== null; match = mark.exec(sql)) {
    depth += match[0] === '/*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return null;
}

/** Escapes also hold in what continues the literal: another one in a line below (`quotecontinue` of PostgreSQL's scanner). */
function endOfEscaped(sql: string, from: number): number | null {
  const mark = /\\[^]|'(?:(?:[ \t\f\v]|--[^\n\r]*(?=[\n\r]))*[\n\r](?:\s|--[^\n\r]*[\n\r])*)?'|'/g;
  mark.lastIndex = from;
  for (let match = mark.exec(sql); match !== null; match = mark.exec(sql)) if (match[0] === "'") return mark.lastIndex;
  return null;
}

/** As many bytes, which places in a tree are counted in. */
function blank(text: string): string {
  return text.replaceAll(/[^\n\r]+/g, (line) => ' '.repeat(Buffer.byteLength(line)));
}
