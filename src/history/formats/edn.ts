/**
 * EDN, the notation of Clojure's data (github.com/edn-format/edn), as plain data: what JSON can carry stays what it is there; keywords, symbols,
 * sets, maps with other keys and tagged literals become `EdnKeyword` and the like, so that `valueOfEdn` can tell them apart.
 */
import { InputError } from '../../base/index.ts';
import { nestingMax, canonicalText, type Value } from '../value.ts';
import { exactInteger } from './source-text.ts';

export type Edn =
  | null
  | boolean
  | number
  | string
  | readonly Edn[]
  | { readonly kind: 'keyword'; readonly name: string }
  | { readonly kind: 'symbol'; readonly name: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'character'; readonly text: string }
  | { readonly kind: 'set'; readonly elements: readonly Edn[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [Edn, Edn])[] }
  | { readonly kind: 'tagged'; readonly tag: string; readonly value: Edn };

/**
 * The one form of a text; `undefined`: only what is discarded.
 * @param line of its begin, for errors
 * @throws InputError `history/syntax`, `history/truncated` with line and column
 */
export function parseEdn(text: string, line = 1): Edn | undefined {
  const reader = new EdnReader(text, line);
  const value = reader.form(0);
  if (value !== nothing && reader.form(0) !== nothing) reader.fail('one form is followed by another');
  return value === nothing ? undefined : value;
}

/** The value under a keyword of that name, or under that text. */
export function ednField(map: Edn, name: string): Edn | undefined {
  if (!isKind(map, 'map')) return undefined;
  return map.entries.find(([key]) => key === name || (isKind(key, 'keyword') && key.name === name))?.[1];
}

export function isKind<K extends 'keyword' | 'map' | 'set' | 'tagged' | 'symbol' | 'number' | 'character'>(
  value: Edn | undefined,
  kind: K,
): value is Extract<Edn, { readonly kind: K }> {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind;
}

/** As a value of a history: equal data give equal values, and other data others. */
export function valueOfEdn(data: Edn): Value {
  if (typeof data !== 'object' || data === null) return data;
  if (!('kind' in data)) return data.map(valueOfEdn);
  switch (data.kind) {
    case 'keyword':
      return `:${data.name}`;
    case 'symbol':
      return data.name;
    case 'number':
    case 'character':
      return data.text;
    case 'set':
      return { set: data.elements.map(valueOfEdn).toSorted(byText) };
    case 'map':
      return { map: data.entries.map((entry) => entry.map(valueOfEdn)).toSorted(byText) };
    case 'tagged':
      return { tag: data.tag, value: valueOfEdn(data.value) };
  }
}

function byText(a: Value, b: Value): number {
  return canonicalText(a) < canonicalText(b) ? -1 : 1;
}

const nothing = Symbol('nothing');
const closed = Symbol('closed');

class EdnReader {
  readonly #text: string;
  readonly #line: number;
  #at = 0;

  constructor(text: string, line: number) {
    this.#text = text;
    this.#line = line;
  }

  /** The next form, or `nothing` at the end. A closing bracket is an error. */
  form(depth: number): Edn | typeof nothing {
    const value = this.#formOrClose(depth, '');
    return value === closed ? this.fail('a closing bracket without an opening one') : value;
  }

  fail(message: string, code = 'history/syntax'): never {
    const before = this.#text.slice(0, this.#at).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    throw new InputError(code, message, { line: this.#line + before.length - 1, column });
  }

  #formOrClose(depth: number, close: string): Edn | typeof nothing | typeof closed {
    for (;;) {
      this.#skipSpace();
      const char = this.#text[this.#at];
      if (char === undefined) return nothing;
      if (depth > nestingMax) this.fail(`nested deeper than ${nestingMax} levels`, 'history/value');
      if (char === close) {
        this.#at += 1;
        return closed;
      }
      if (!this.#text.startsWith('#_', this.#at)) return this.#value(char, depth);
      this.#at += 2;
      this.#required(depth + 1);
    }
  }

  #required(depth: number): Edn {
    const value = this.form(depth);
    return value === nothing ? this.fail('a form is missing at the end', 'history/truncated') : value;
  }

  #value(char: string, depth: number): Edn {
    switch (char) {
      case '[':
        return this.#elements(']', depth);
      case '(':
        return this.#elements(')', depth);
      case '{':
        return this.#map(depth);
      case '"':
        return this.#string();
      case '\\':
        return { kind: 'character', text: this.#token(/\\(?:u[\da-fA-F]{4}|[a-z]+|[^])/y) };
      case '#':
        return this.#dispatch(depth);
      case ']':
      case ')':
      case '}':
        return this.fail(`${char} closes nothing`);
      default:
        return this.#atom();
    }
  }

  #elements(close: string, depth: number): Edn[] {
    this.#at += 1;
    const elements: Edn[] = [];
    for (;;) {
      const value = this.#formOrClose(depth + 1, close);
      if (value === closed) return elements;
      if (value === nothing) return this.fail(`${close} is missing at the end`, 'history/truncated');
      elements.push(value);
    }
  }

  #map(depth: number): Edn {
    const parts = this.#elements('}', depth);
    if (parts.length % 2 === 1) this.fail('a map has a key without a value');
    const entries: (readonly [Edn, Edn])[] = [];
    for (let i = 0; i < parts.length; i += 2) entries.push([parts[i] as Edn, parts[i + 1] as Edn]);
    return { kind: 'map', entries };
  }

  #dispatch(depth: number): Edn {
    if (this.#text[this.#at + 1] === '{') {
      this.#at += 1;
      return { kind: 'set', elements: this.#elements('}', depth) };
    }
    this.#at += 1;
    if (this.#text[this.#at] === '#') {
      const number = this.#token(/#(?:Inf|-Inf|NaN)/y); // symbolic values
      return { kind: 'symbol', name: `#${number}` };
    }
    const tag = this.#token(/[A-Za-z][\w.*+!?$%&=<>/-]*/y);
    return { kind: 'tagged', tag, value: this.#required(depth + 1) };
  }

  #string(): string {
    const literal = this.#token(/"[^"\\]*(?:\\[^][^"\\]*)*"/y);
    if (!literal.includes('\\')) return literal.slice(1, -1);
    return literal.slice(1, -1).replaceAll(/\\(u[\da-fA-F]{4}|[^])/g, (_, escape: string) => {
      if (escape.length === 5) return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
      return escapes[escape] ?? this.fail(`\\${escape} is not an escape that EDN knows`);
    });
  }

  #atom(): Edn {
    const integer = this.#integer();
    if (integer !== null) return integer;
    const token = this.#token(/[^\s,;()[\]{}"\\]+/y);
    switch (token) {
      case 'nil':
        return null;
      case 'true':
        return true;
      case 'false':
        return false;
      default:
        return token.startsWith(':') && token.length > 1
          ? { kind: 'keyword', name: token.slice(1) }
          : (numberOf(token) ?? this.#symbol(token));
    }
  }

  /** Most of a history is short integers. `null`: here is something else. */
  #integer(): number | null {
    let at = this.#at;
    let value = 0;
    for (let code = this.#text.charCodeAt(at); code >= 0x30 && code <= 0x39; code = this.#text.charCodeAt(at)) {
      value = value * 10 + code - 0x30;
      at += 1;
    }
    const digits = at - this.#at;
    if (digits === 0 || digits > 15 || !isDelimiter(this.#text.charCodeAt(at))) return null;
    this.#at = at;
    return value;
  }

  #symbol(name: string): Edn {
    if (/^[+-]?\d/.test(name) || name === ':') this.fail(`${JSON.stringify(name)} is no number and no name`);
    return { kind: 'symbol', name };
  }

  #token(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined)
      return this.#text.length - this.#at < 3 || this.#text[this.#at] === '"'
        ? this.fail('the text ends in a form', 'history/truncated')
        : this.fail(`${JSON.stringify(this.#text[this.#at])} begins nothing that EDN knows`);
    this.#at += found.length;
    return found;
  }

  #skipSpace(): void {
    while (this.#text.charCodeAt(this.#at) === 0x20) this.#at += 1;
    const code = this.#text.charCodeAt(this.#at);
    if (code > 0x20 && code < 0x7f && code !== 0x2c && code !== 0x3b) return;
    const space = /(?:[\s,]|;[^\n]*)*/y;
    space.lastIndex = this.#at;
    space.exec(this.#text);
    this.#at = space.lastIndex;
  }
}

/** A space, a bracket or the end. */
function isDelimiter(code: number): boolean {
  return code === 0x20 || code === 0x5d || code === 0x29 || code === 0x7d || code === 0x0a || Number.isNaN(code);
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '"': '"',
  '\\': '\\',
};

/** Integers that are no doubles, ratios and decimals keep their text. */
function numberOf(token: string): Edn | null {
  if (/^[+-]?\d{1,15}$/.test(token)) return Number(token) + 0;
  const integer = /^([+-]?\d+)N?$/.exec(token)?.[1];
  if (integer !== undefined) {
    const exact = exactInteger(integer.replace(/^\+/, ''));
    return typeof exact === 'number' ? exact : { kind: 'number', text: exact };
  }
  if (/^[+-]?\d+\/\d+$/.test(token) || /^[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?M$/.test(token))
    return { kind: 'number', text: token };
  if (!/^[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$/.test(token)) return null;
  const double = Number(token);
  return Number.isFinite(double) ? double + 0 : { kind: 'number', text: token };
}
