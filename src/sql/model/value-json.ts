/**
 * JSON in SQL. `json` keeps its text; `jsonb` is a document: objects without a prototype, numbers as JavaScript's where those show the same
 * digits and as decimals otherwise. PostgreSQL manual, 8.14.
 */
import { Decimal } from 'decimal.js';
import { formatNumeric, numericOf, parseNumeric } from './numeric.ts';
import type { Numeric } from './numeric.ts';
import { SqlError } from './sql-error.ts';
import type { JsonDocument } from './value.ts';

/** A part of a JSON text with its place, so that `json -> key` can give back the text as it stands. */
export interface JsonNode {
  readonly start: number;
  readonly end: number;
  readonly value: JsonScalar | JsonContainer;
}

export type JsonScalar = null | boolean | string | number | Numeric;

export type JsonContainer =
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  /** As written: double keys stay. */
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, JsonNode])[] };

const depthMax = 6000;

/** @throws SqlError 22P02 */
export function parseJson(text: string): JsonNode {
  const reader = new JsonReader(text);
  const node = reader.value(0);
  reader.end();
  return node;
}

/** @throws SqlError 22P02 */
export function parseJsonDocument(text: string): JsonDocument {
  return jsonDocument(documentOf(parseJson(text)));
}

export function jsonDocument(value: unknown): JsonDocument {
  return { kind: 'json', value };
}

export function documentOf({ value }: JsonNode): unknown {
  if (value === null || typeof value !== 'object' || value.kind === 'numeric') return value;
  if (value.kind === 'array') return value.items.map(documentOf);
  return objectOf(value.members.map(([key, member]) => [key, documentOf(member)]));
}

/** Without a prototype, so that `__proto__` is a key like any other. */
export function objectOf(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const object = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of entries) object[key] = value;
  return object;
}

export function isJsonNumeric(value: unknown): value is Numeric {
  return typeof value === 'object' && value !== null && Decimal.isDecimal((value as { value?: unknown }).value);
}

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isJsonNumeric(value);
}

/** jsonb numbers show all their digits, never an exponent. */
export function jsonNumber(number: Numeric): number | Numeric {
  const text = formatNumeric(number);
  const double = Number(text);
  return String(double) === text ? double : number;
}

export function numericOfJson(value: number | Numeric): Numeric {
  if (typeof value !== 'number') return value;
  return parseNumeric(String(value)) ?? numericOf(value);
}

/** Shorter keys first, then by bytes: the order in which jsonb keeps them. */
export function sortedKeys(object: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(object).toSorted((a, b) => {
    const [first, second] = [Buffer.from(a), Buffer.from(b)];
    return first.length - second.length || Buffer.compare(first, second);
  });
}

/** As jsonb prints: `{"a": 1, "bb": [true, null]}`. */
export function formatJsonDocument(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatJsonDocument).join(', ')}]`;
  if (isJsonNumeric(value)) return formatNumeric(value);
  if (typeof value === 'number') return formatNumeric(numericOfJson(value));
  if (isJsonObject(value)) {
    const members = sortedKeys(value).map((key) => `${quoteJson(key)}: ${formatJsonDocument(value[key])}`);
    return `{${members.join(', ')}}`;
  }
  return typeof value === 'string' ? quoteJson(value) : String(value);
}

const escapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

export function quoteJson(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what has to be escaped
  const special = /["\\\u0000-\u001f]/g;
  const body = text.replace(special, (c) => escapes[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `"${body}"`;
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const wordPattern = /[A-Za-z0-9_.+-]+/y;
const spacePattern = /[ \t\n\r]*/y;
const constants: ReadonlyMap<string, null | boolean> = new Map([
  ['null', null],
  ['true', true],
  ['false', false],
]);

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): JsonNode {
    this.#skipSpace();
    if (depth > depthMax) throw new SqlError('54001', 'stack depth limit exceeded');
    const start = this.#at;
    const value = this.#read(depth);
    return { start, end: this.#at, value };
  }

  end(): void {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#error();
  }

  #read(depth: number): JsonScalar | JsonContainer {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return this.#string();
      default:
        return this.#word();
    }
  }

  #object(depth: number): JsonContainer {
    const members: [string, JsonNode][] = [];
    this.#at += 1;
    if (this.#takes('}')) return { kind: 'object', members };
    do {
      this.#skipSpace();
      if (this.#text[this.#at] !== '"') throw this.#error();
      const key = this.#string();
      if (!this.#takes(':')) throw this.#error();
      members.push([key, this.value(depth + 1)]);
    } while (this.#takes(','));
    if (!this.#takes('}')) throw this.#error();
    return { kind: 'object', members };
  }

  #array(depth: number): JsonContainer {
    const items: JsonNode[] = [];
    this.#at += 1;
    if (this.#takes(']')) return { kind: 'array', items };
    do items.push(this.value(depth + 1));
    while (this.#takes(','));
    if (!this.#takes(']')) throw this.#error();
    return { kind: 'array', items };
  }

  #string(): string {
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1;
    const literal = this.#text.slice(this.#at, end + 1);
    if (literal.includes('\\u0000')) throw new SqlError('22P05', 'unsupported Unicode escape sequence');
    try {
      const text = JSON.parse(literal) as string;
      this.#at = end + 1;
      return text;
    } catch {
      throw this.#error();
    }
  }

  #word(): JsonScalar {
    wordPattern.lastIndex = this.#at;
    const word = wordPattern.exec(this.#text)?.[0] ?? '';
    const constant = constants.get(word);
    if (constant !== undefined) {
      this.#at += word.length;
      return constant;
    }
    numberPattern.lastIndex = this.#at;
    const number = numberPattern.exec(this.#text)?.[0];
    const numeric = number !== undefined && number === word ? parseNumeric(number) : undefined;
    if (numeric === undefined) throw this.#error();
    this.#at += word.length;
    return jsonNumber(numeric);
  }

  #takes(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    spacePattern.lastIndex = this.#at;
    spacePattern.exec(this.#text);
    this.#at = spacePattern.lastIndex;
  }

  #error(): SqlError {
    const isOver = this.#at >= this.#text.length;
    wordPattern.lastIndex = this.#at;
    const token = wordPattern.exec(this.#text)?.[0] ?? this.#text[this.#at] ?? '';
    const detail = isOver ? 'The input string ended unexpectedly.' : `Token "${token}" is invalid.`;
    return new SqlError('22P02', 'invalid input syntax for type json', { detail });
  }
}
