/** Recognises SQL by its words, where nothing else says that a text is SQL. */
import type ts from 'typescript';

/** A literal or template as it is written, `?` for its holes. */
export function writtenText(api: typeof ts, node: ts.StringLiteralLike | ts.TemplateLiteral): string {
  return api.isTemplateExpression(node)
    ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('?')
    : node.text;
}

/** The text begins as a statement, or as the begin or end of a transaction. */
export function startsAsSql(text: string): boolean {
  return startsAsStatement(text) || /^\s*(?:begin|commit|rollback|start\s+transaction|savepoint)\b/i.test(text);
}

export function startsAsStatement(text: string): boolean {
  return /^\s*(?:select|insert|update|delete|with)\b/i.test(text);
}

/** More than a message that begins with the word. */
export function holdsWholeStatement(text: string): boolean {
  return /\b(?:select\b.*\bfrom|insert\s+into|update\b.*\bset|delete\s+from)\b/is.test(text);
}

/** A whole text, not `update the cache`: a statement of tables, one that computes (`SELECT 1`, `SELECT now()`), or the begin or end of a transaction. */
export function isSqlText(text: string): boolean {
  if (!startsAsStatement(text)) return startsAsSql(text);
  return holdsWholeStatement(text) || /^\s*(?:with\b|select\s+(?:\d|[\w.]+\s*\())/i.test(text);
}
