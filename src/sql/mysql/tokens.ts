/**
 * MySQL's lexical structure (MySQL 8.0 manual, 11.1 literals, 11.2 names, 11.7 comments). Lossless: the texts of the tokens, put together,
 * are the input, so that a node knows its place in it. It never throws: what cannot be a token becomes an `operator` that
 * no grammar rule takes, or an `unterminated` rest. One pass, linear.
 */

export type TokenKind =
  | 'space' // white space and comments, and the ends of executed comments: /*!40101 ... */
  | 'word' // an unquoted name or a keyword
  | 'quoted' // `a name`
  | 'string'
  | 'number'
  | 'hex' // x'4D', 0x4D
  | 'bits' // b'01', 0b01
  | 'parameter' // ?
  | 'user-variable' // @x
  | 'system-variable' // @@x, @@global.x
  | 'operator'
  | 'unterminated';

export interface Token {
  readonly kind: TokenKind;
  /** As it stands in the source. */
  readonly text: string;
  /** Offset of its first character in the source. */
  readonly at: number;
  /** Names and strings decoded, variables without `@`, digits of hex and bits; else the text. */
  readonly value: string;
}

/** The version that `/*!NNNNN` comments are compared with: what we say we are. */
const serverVersion = 80_000;

const operators = /<=>|->>|<<|>>|<=|>=|<>|!=|:=|&&|\|\||->/y;
const space = /[\s\0]+/y;
const lineComment = /(?:#|--(?=[\s\0]|$))[^\n]*/y;
const executed = /\/\*!(\d{5,6})?/y;
const number = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const word = /[\p{L}\p{N}_$\u0080-\uffff]+/uy;
const hex = /(?:[xX]'((?:[0-9a-fA-F]{2})*)'|0x([0-9a-fA-F]+)(?![\w$]))/y;
const bits = /(?:[bB]'([01]*)'|0b([01]+)(?![\w$]))/y;
const systemVariable = /@@(?:(?:global|session|local|persist|persist_only)\s*\.\s*)?(?:[\w$]+|`[^`]+`)(?:\.[\w$]+)?/iy;
const userVariable = /@[\w$.]+/y;

/** @param sql one or more statements */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let isExecuting = false;
  for (let at = 0; at < sql.length; ) {
    const opens = sql.startsWith('/*!', at) ? match(executed, sql, at) : null;
    let token: Token;
    if (opens !== null && Number(opens[1] ?? 0) <= serverVersion) {
      isExecuting = true;
      token = plain('space', opens[0], at);
    } else if (isExecuting && sql.startsWith('*/', at)) {
      isExecuting = false;
      token = plain('space', '*/', at);
    } else {
      token = nextToken(sql, at);
    }
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

/** The statements between `;`, as they stand; those without a token are left out. */
export function splitMysql(sql: string): string[] {
  const statements: string[] = [];
  let from = 0;
  let isEmpty = true;
  for (const token of [...tokenize(sql), plain('operator', ';', sql.length)]) {
    if (token.kind === 'operator' && token.text === ';') {
      if (!isEmpty) statements.push(sql.slice(from, token.at).trim());
      from = token.at + 1;
      isEmpty = true;
    } else if (token.kind !== 'space') isEmpty = false;
  }
  return statements;
}

function nextToken(sql: string, at: number): Token {
  const character = sql.charAt(at);
  if (/[\s\0#-]/.test(character)) {
    const blank = match(space, sql, at) ?? match(lineComment, sql, at);
    if (blank !== null) return plain('space', blank[0], at);
  }
  if (sql.startsWith('/*', at)) return blockComment(sql, at);
  if (character === '`') return delimited('quoted', sql, at, at);
  if (character === "'" || character === '"') return delimited('string', sql, at, at);
  if (/[nN]/.test(character) && sql.charAt(at + 1) === "'") return delimited('string', sql, at, at + 1);
  if (character === '?') return plain('parameter', '?', at);
  if (character === '@') return variable(sql, at);
  return wordOrNumber(sql, at) ?? plain('operator', (match(operators, sql, at) ?? [character])[0], at);
}

function wordOrNumber(sql: string, at: number): Token | null {
  const first = sql.charAt(at);
  const digits = /[xX0]/.test(first) ? match(hex, sql, at) : null;
  if (digits !== null) return { kind: 'hex', text: digits[0], at, value: digits[1] ?? evenDigits(digits[2] ?? '') };
  const flags = /[bB0]/.test(first) ? match(bits, sql, at) : null;
  if (flags !== null) return { kind: 'bits', text: flags[0], at, value: flags[1] ?? flags[2] ?? '' };
  const amount = /[\d.]/.test(first) ? match(number, sql, at) : null;
  const name = match(word, sql, at);
  // A name may begin with digits (`1st`) but not consist of them; `1e5` is a number.
  if (amount !== null && (name === null || amount[0].length >= name[0].length)) return plain('number', amount[0], at);
  if (name !== null) return plain('word', name[0], at);
  return null;
}

function evenDigits(digits: string): string {
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}

function blockComment(sql: string, at: number): Token {
  const end = sql.indexOf('*/', at + 2);
  return end < 0 ? plain('unterminated', sql.slice(at), at) : plain('space', sql.slice(at, end + 2), at);
}

function variable(sql: string, at: number): Token {
  const system = match(systemVariable, sql, at);
  if (system !== null) {
    const value = system[0].slice(2).replace(/[\s`]/g, '').toLowerCase();
    return { kind: 'system-variable', text: system[0], at, value };
  }
  const user = match(userVariable, sql, at);
  if (user !== null) return { kind: 'user-variable', text: user[0], at, value: user[0].slice(1) };
  if (/['"`]/.test(sql.charAt(at + 1))) return delimited('user-variable', sql, at, at + 1);
  return plain('operator', '@', at);
}

/** From `at` to the quote that ends what the quote at `quoteAt` begins; the quote doubled, or after a backslash, is a character. */
function delimited(kind: 'quoted' | 'string' | 'user-variable', sql: string, at: number, quoteAt: number): Token {
  const quote = sql.charAt(quoteAt);
  const hasEscapes = quote !== '`';
  let value = '';
  for (let i = quoteAt + 1; i < sql.length; i += 1) {
    const character = sql.charAt(i);
    if (character === '\\' && hasEscapes && i + 1 < sql.length) {
      i += 1;
      value += unescape(sql.charAt(i));
    } else if (character !== quote) {
      value += character;
    } else if (sql.charAt(i + 1) === quote) {
      i += 1;
      value += quote;
    } else {
      return { kind, text: sql.slice(at, i + 1), at, value };
    }
  }
  return plain('unterminated', sql.slice(at), at);
}

/** MySQL 8.0 manual, table 11.1. `\%` and `\_` keep their backslash: they are for LIKE. */
const escapes: Readonly<Record<string, string>> = {
  '0': '\0',
  b: '\b',
  n: '\n',
  r: '\r',
  t: '\t',
  Z: '\u001a',
  '%': '\\%',
  _: '\\_',
};

function unescape(character: string): string {
  return escapes[character] ?? character;
}

function match(pattern: RegExp, sql: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(sql);
}

function plain(kind: TokenKind, text: string, at: number): Token {
  return { kind, text, at, value: text };
}
