/**
 * The text of a statement by which two are the same: on one line, without comments. Tools write what differs in every statement into comments: the
 * number of a request, a trace (sqlcommenter). Hints, `/*+ ... *\/`, and what MySQL executes, `/*! ... *\/`, are no comments.
 */
export function statementLine(sql: string): string {
  const known = lines.get(sql);
  if (known !== undefined) return known;
  const line = sql
    .replaceAll(literalOrComment, (text) => (isComment.test(text) ? ' ' : text))
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (lines.size >= linesMax) lines.clear();
  if (sql.length <= keptMax) lines.set(sql, line);
  return line;
}

/** The same for statements that differ in literals only. */
export function withoutLiterals(text: string): string {
  return text.replaceAll(/'(?:[^']|'')*'|\b\d+\b/g, '?');
}

/** Runs of one program send the same texts, again and again. */
const lines = new Map<string, string>();
const linesMax = 1_000;
/** Characters. */
const keptMax = 10_000;

const literalOrComment =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\$(\w*)\$[^]*?\$\1\$|\/\*(?![!+])[^]*?\*\/|--(?=\s|$)[^\n]*/g;
const isComment = /^(?:\/\*|--)/;
