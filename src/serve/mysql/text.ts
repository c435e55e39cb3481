/** Texts of statements on their way from the client. */

/** KILL is the server's to perform, not the session's: it is about another connection. */
export function killOf(sql: string): { readonly what: 'connection' | 'query'; readonly id: number | 'own' } | null {
  const parts = /^\s*kill\s+(?:(connection|query)\s+)?(?:(\d{1,10})|connection_id\s*\(\s*\))\s*;?\s*$/i.exec(sql);
  if (parts === null) return null;
  const what = parts[1]?.toLowerCase() === 'query' ? 'query' : 'connection';
  return { what, id: parts[2] === undefined ? 'own' : Number(parts[2]) };
}

/**
 * SQL as text. Connector/J writes the bytes of a blob as they are into a literal, `_binary'...'`; where they are no UTF-8 the literal
 * becomes a hexadecimal one, which says the same.
 */
export function sqlText(bytes: Uint8Array): string {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = view.toString('utf8');
  if (!text.includes('\ufffd') || !/_binary\s*'/i.test(text)) return text;
  // One character a byte, so that a regular expression can see the bytes.
  const latin = view.toString('latin1');
  const literals = /_binary\s*'((?:[^'\\]|\\[\s\S]|'')*)'/gi;
  return Buffer.from(
    latin.replace(literals, (_all, body: string) => `x'${hexOf(body)}'`),
    'latin1',
  ).toString('utf8');
}

const escapes: Readonly<Record<string, string>> = { 0: '\0', b: '\b', n: '\n', r: '\r', t: '\t', Z: '\x1a' };

function hexOf(body: string): string {
  const plain = body.replace(/\\([\s\S])|''/g, (_all, escaped: string | undefined) =>
    escaped === undefined ? "'" : (escapes[escaped] ?? escaped),
  );
  return Buffer.from(plain, 'latin1').toString('hex');
}
