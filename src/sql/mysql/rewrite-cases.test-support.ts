/** Reads the table of statements, rewrite-cases.txt. */

export interface RewriteCase {
  readonly mysql: string;
  readonly expected: readonly string[];
  /** Does MariaDB know it too? */
  readonly isMariadb: boolean;
}

export function readRewriteCases(text: string): RewriteCase[] {
  const cases: { mysql: string; expected: string[]; isMariadb: boolean }[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('    ')) cases.at(-1)?.expected.push(line.slice(4));
    else cases.push({ mysql: line.replace(/^\[MySQL\] /, ''), expected: [], isMariadb: !line.startsWith('[MySQL] ') });
  }
  return cases;
}
