/** A place in the tokens of one statement, with the questions that a recursive descent asks. */
import type { Node, SelectStmt } from '@pgsql/types';
import { SqlError, notSupported } from '../model/index.ts';
import { reservedWords } from './reserved-words.ts';
import { tokenize, type Token } from './tokens.ts';

/** A name as written, and where. */
export interface Name {
  readonly value: string;
  readonly at: number;
}

/** What a column reference becomes; `undefined`: itself. Set where MySQL's names mean something else than PostgreSQL's. */
export type ColumnRule = (names: readonly Name[]) => Node | undefined;

/** The parts of the grammar that contain each other; see nested.ts. */
export interface Grammar {
  /** Any expression. */
  readonly expression: (cursor: Cursor) => Node;
  /** MySQL's `bit_expr`: operators below comparison, of at least this level. */
  readonly bits: (cursor: Cursor, levelMin: number) => Node;
  /** A query with its WITH, without parentheses around it. */
  readonly query: (cursor: Cursor) => SelectStmt;
}

/** Characters of a name (MySQL 8.0 manual, 11.2.1). */
const nameLengthMax = 64;

/** Nested parentheses, subqueries and function calls: deeper ones would end the process's stack. */
const depthMax = 1000;

export class Cursor {
  readonly sql: string;
  /** The database in use, for names in results of SHOW. */
  readonly database: string;
  readonly grammar: Grammar;
  readonly parameters: ReadonlyMap<Token, number>;
  columnRule: ColumnRule = () => undefined;
  readonly #tokens: readonly Token[];
  /** Of each token, what a keyword or an operator is asked for by: upper case; '' of names in backticks, strings and other values. */
  readonly #spellings: readonly string[];
  #next = 0;
  #depth = 0;

  constructor(sql: string, database: string, grammar: Grammar) {
    this.sql = sql;
    this.grammar = grammar;
    this.database = database;
    this.#tokens = tokenize(sql).filter((token) => token.kind !== 'space');
    this.#spellings = this.#tokens.map(spellingOf);
    const parameters = this.#tokens.filter((token) => token.kind === 'parameter');
    this.parameters = new Map(parameters.map((token, i) => [token, i + 1]));
  }

  peek(ahead = 0): Token | undefined {
    return this.#tokens[this.#next + ahead];
  }

  /** The end of the statement: of the text, or a last `;`. */
  isAtEnd(): boolean {
    return this.peek() === undefined || (this.peek()?.text === ';' && this.peek(1) === undefined);
  }

  /** The offset of what stands here. */
  at(): number {
    return this.peek()?.at ?? this.sql.length;
  }

  take(): Token {
    const token = this.peek();
    if (token === undefined) throw this.syntaxError();
    this.#next += 1;
    return token;
  }

  /** Do these keywords and operators stand here, one after another? Upper case. */
  is(...texts: readonly string[]): boolean {
    for (let i = 0; i < texts.length; i += 1) if (this.#spellings[this.#next + i] !== texts[i]) return false;
    return true;
  }

  isOneOf(...texts: readonly string[]): boolean {
    return texts.includes(this.#spelling());
  }

  #spelling(): string {
    return this.#spellings[this.#next] ?? '';
  }

  /** Takes these keywords, all or none. */
  accept(...texts: readonly string[]): boolean {
    if (!this.is(...texts)) return false;
    this.#next += texts.length;
    return true;
  }

  /** Takes the first of these that stands here. */
  acceptOneOf(...texts: readonly string[]): string | undefined {
    const found = this.#spelling();
    if (!texts.includes(found)) return undefined;
    this.#next += 1;
    return found;
  }

  /** @throws SqlError 42601 */
  expect(...texts: readonly string[]): Token {
    const token = this.peek();
    if (!this.accept(...texts) || token === undefined) throw this.syntaxError();
    return token;
  }

  /** A name, quoted or not; reserved words are not names. @throws SqlError 42601 */
  name(): Name {
    const token = this.peek();
    if (token === undefined || !isName(token)) throw this.syntaxError();
    return this.#nameOf(this.take());
  }

  /** After a point also reserved words are names. */
  nameAfterPoint(): Name {
    const token = this.peek();
    if (token?.kind !== 'word' && token?.kind !== 'quoted') throw this.syntaxError();
    return this.#nameOf(this.take());
  }

  /** A collation or character set. */
  nameAfterPointOrString(): string {
    if (this.isKind('string')) return this.take().value;
    return this.nameAfterPoint().value;
  }

  #nameOf(token: Token): Name {
    return { value: token.value, at: token.at };
  }

  isName(ahead = 0): boolean {
    const token = this.peek(ahead);
    return token !== undefined && isName(token);
  }

  isKind(kind: Token['kind'], ahead = 0): boolean {
    return this.peek(ahead)?.kind === kind;
  }

  /** `a, b, c`: at least one. */
  list<T>(item: () => T): T[] {
    const items = [item()];
    while (this.accept(',')) items.push(item());
    return items;
  }

  parenthesized<T>(inside: () => T): T {
    this.expect('(');
    const value = inside();
    this.expect(')');
    return value;
  }

  /** With this meaning of column names while `inside` is read. */
  withColumns<T>(rule: ColumnRule, inside: () => T): T {
    const before = this.columnRule;
    this.columnRule = rule;
    try {
      return inside();
    } finally {
      this.columnRule = before;
    }
  }

  /** One level of nesting more while `inside` is read. @throws SqlError 54001 */
  nested<T>(inside: () => T): T {
    if (this.#depth === depthMax)
      throw new SqlError('54001', 'the statement is nested too deeply', { mysqlNumber: 1436 });
    this.#depth += 1;
    try {
      return inside();
    } finally {
      this.#depth -= 1;
    }
  }

  /** A mark to come back to with `back`. */
  mark(): number {
    return this.#next;
  }

  back(mark: number): void {
    this.#next = mark;
  }

  /** The source from the token at `mark` to the last one taken. */
  sourceSince(mark: number): string {
    const first = this.#tokens[mark];
    const last = this.#tokens[this.#next - 1];
    return first === undefined || last === undefined ? '' : this.sql.slice(first.at, last.at + last.text.length);
  }

  /** Names of tables, columns, indexes. @throws SqlError 42601, 42622 */
  checked(...names: readonly Name[]): string[] {
    return names.map((name) => this.#checkedName(name));
  }

  /** @throws SqlError 42601, 42622 */
  nameText(name = this.name()): string {
    return this.#checkedName(name);
  }

  #checkedName({ value, at }: Name): string {
    if (value.includes('\0') || value === '') throw this.syntaxError();
    if (value.length <= nameLengthMax || Array.from(value).length <= nameLengthMax) return value;
    throw new SqlError('42622', `Identifier name '${value}' is too long`, { position: at + 1, mysqlNumber: 1059 });
  }

  /** MySQL's error 1064, near what stands here. The grammar is ours, so it may be that MySQL reads it: a run that met it shows nothing. */
  syntaxError(): SqlError {
    const at = this.peek()?.at ?? this.sql.length;
    const line = this.sql.slice(0, at).split('\n').length;
    const near = this.sql.slice(at, at + 80);
    const message =
      'You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax ' +
      `to use near '${near}' at line ${line}`;
    return new SqlError('42601', message, { position: at + 1, mysqlNumber: 1064, isUnsupported: true });
  }

  /** MySQL knows this and we do not. */
  unsupported(construct: string): SqlError {
    return notSupported(construct, (this.peek()?.at ?? this.sql.length) + 1);
  }
}

function isName(token: Token): boolean {
  return token.kind === 'quoted' || (token.kind === 'word' && !reservedWords.has(token.value.toUpperCase()));
}

function spellingOf({ kind, text }: Token): string {
  if (kind === 'word') return text.toUpperCase();
  return kind === 'operator' ? text : '';
}
