/**
 * The statements of a psql script. Lines of psql's own (`\d`) are left out, and so is a statement with a psql variable; data after
 * `COPY ... FROM stdin` becomes an INSERT, which every server can be sent.
 */
export function statementsOfScript(text: string): string[] {
  const statements: string[] = [];
  let rest = text;
  while (rest !== '') {
    const end = statementEnd(rest);
    const statement = withoutMeta(rest.slice(0, end.text)).trim();
    rest = rest.slice(end.next);
    if (statement === '') continue;
    const copied = /^copy\s+("?[\w.]+"?\s*(?:\([^)]*\))?)\s+from\s+stdin\b(.*)$/is.exec(statement);
    if (copied === null) {
      if (!/:(?:['"]\w+['"]|[a-z_]\w*\b)/i.test(unquoted(statement))) statements.push(statement);
      continue;
    }
    const data = /^[^\n]*\n([\s\S]*?)^\\\.[^\n]*\n?/m.exec(rest);
    rest = data === null ? '' : rest.slice(data.index + data[0].length);
    const rows = (data?.[1] ?? '').split('\n').filter((line) => line !== '');
    // Other formats than the default are another subject.
    if ((copied[2] ?? '').trim() === '') statements.push(...insertsOfCopy(copied[1] ?? '', rows));
  }
  return statements;
}

const rowsPerInsert = 500;

/** Rows of COPY's text format as INSERTs. */
export function insertsOfCopy(target: string, rows: readonly string[]): string[] {
  const inserts: string[] = [];
  for (let i = 0; i < rows.length; i += rowsPerInsert) {
    const values = rows.slice(i, i + rowsPerInsert).map((row) => `(${row.split('\t').map(literal).join(', ')})`);
    inserts.push(`INSERT INTO ${target} VALUES ${values.join(', ')}`);
  }
  return inserts;
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function literal(value: string): string {
  if (value === String.raw`\N`) return 'NULL';
  const text = value.replaceAll(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter);
  return `'${text.replaceAll("'", "''")}'`;
}

/** Where the first statement ends, and where the text after it begins. */
function statementEnd(text: string): { readonly text: number; readonly next: number } {
  const token =
    /--[^\n]*|\/\*[\s\S]*?\*\/|\b[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|\\[;]|\\(?:gset|gexec|gx?|gdesc|crosstabview|watch)\b[^\n]*|^\s*\\[^\n]*|\bbegin\s+atomic\b[\s\S]*?\bend\b(?=\s*;)|[();]/gim;
  let depth = 0;
  for (const match of text.matchAll(token)) {
    const [found] = match;
    const end = match.index + found.length;
    if (found === '(') depth += 1;
    else if (found === ')') depth = Math.max(0, depth - 1);
    else if (found === ';' && depth === 0) return { text: match.index, next: end };
    else if (found.startsWith('\\g')) return { text: match.index, next: end };
  }
  return { text: text.length, next: text.length };
}

/** Comments at the beginning and lines of psql. */
function withoutMeta(text: string): string {
  return text.replaceAll(/^\s*\\[^\n]*$/gm, '').replace(/^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/, '');
}

/** Strings and names in quotes become blanks. */
export function unquoted(text: string): string {
  return text.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|::|\$(\w*)\$[\s\S]*?\$\1\$|:=/g, ' ');
}
