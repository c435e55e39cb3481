/**
 * The text of a statement by which two are the same: on one line, without comments. Tools write what differs in every statement into comments: the
 * number of a request, a trace (sqlcommenter). Hints, `/*+ ... *\/`, and what MySQL executes, `/*! ... *\/`, are no comments.
 */
export function statementLine(sql: string): string {
  return sql
    .replaceAll(literalOrComment, (text) => (isComment.test(text) ? ' ' : text))
    .replaceAll(/\s+/g, ' ')
    .trim();
}

const literalOrComment =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\$(\w*)\$[^]*?\$\1\$|\/\*(?![!+])[^]*?\*\/|--(?=\s|$)[^\n]*/g;
const isComment = /^(?:\/\*|--)/;
