/**
 * Where the parts of a JSON text stand, so that an error can point at them. JSON.parse gives the values and is much faster;
 * this walk runs where a column is needed, or where JSON stands inside another notation and its end is sought. RFC 8259.
 */
import { InputError, type Place } from '../base/index.ts';
import { nestingMax, type Value } from './value.ts';

/** One line of a text. */
export interface Line {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/** A value's extent, `[at, end)` in the line, and those of its elements or members. */
export interface JsonNode {
  readonly at: number;
  readonly end: number;
  readonly parts: ReadonlyMap<string, JsonNode>;
}

/** The lines of a text, without a byte order mark and without the carriage returns of CRLF. */
export function linesOf(text: string): Line[] {
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  return lines.map((line, index) => ({ text: line.endsWith('\r') ? line.slice(0, -1) : line, number: index + 1 }));
}

export function placeIn(line: Line, at: number): Place {
  return { line: line.number, column: at + 1 };
}

export function failAt(line: Line, at: number, code: string, message: string): never {
  throw new InputError(code, message, placeIn(line, at));
}

/** The extent of the one value that the whole line is. @throws InputError `history/syntax`, `history/truncated` */
export function scanJsonLine(line: Line): JsonNode {
  const node = scanJson(line, 0);
  const rest = afterSpace(line, node.end);
  if (rest < line.text.length) unexpected(line, rest, 'the end of the line');
  return node;
}

/** The extent of the value that begins at `start` or after spaces. @throws InputError `history/syntax`, `history/truncated` */
export function scanJson(line: Line, start: number, depth = 0): JsonNode {
  const at = afterSpace(line, start);
  // A line is a few levels deeper than the values in it.
  if (depth > nestingMax + 8) failAt(line, at, 'history/value', `nested deeper than ${nestingMax} levels`);
  switch (line.text[at]) {
    case '{':
      return scanParts(line, at, depth, '}');
    case '[':
      return scanParts(line, at, depth, ']');
    case '"':
      return { at, end: stringEnd(line, at), parts: noParts };
    default:
      return { at, end: scalarEnd(line, at), parts: noParts };
  }
}

/** The part at `path`, or the nearest that there is. */
export function partAt(node: JsonNode, path: readonly (string | number)[]): JsonNode {
  let part = node;
  for (const name of path) {
    const next = part.parts.get(String(name));
    if (next === undefined) return part;
    part = next;
  }
  return part;
}

/** Is this value, as JSON.parse gave it, one that `checkExact` would accept, long integers apart? Cheap, and needs no text. */
export function looksExact(value: Value, depth = 0): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= nestingMax) return false;
  return Object.values(value).every((part: Value) => looksExact(part, depth + 1));
}

/**
 * Refuses what would not survive as a value: numbers that change on the way and nesting without end. Two neighbouring 64-bit
 * integers become the same double, and then a history seems to write one value twice.
 * @throws InputError `history/value`
 */
export function checkExact(line: Line, node: JsonNode, depth = 0): void {
  const text = line.text.slice(node.at, node.end);
  if (/^[[{]/.test(text) && depth >= nestingMax) {
    failAt(line, node.at, 'history/value', `nested deeper than ${nestingMax} levels`);
  }
  for (const part of node.parts.values()) checkExact(line, part, depth + 1);
  if (!/^[-\d]/.test(text)) return;
  const number = Number(text);
  const isInteger = !/[.eE]/.test(text);
  if (Number.isFinite(number) && !Object.is(number, -0) && (!isInteger || String(number) === text)) return;
  failAt(line, node.at, 'history/value', `${text} would change when read as a number: write it as a string`);
}

const noParts: ReadonlyMap<string, JsonNode> = new Map();

function scanParts(line: Line, at: number, depth: number, close: '}' | ']'): JsonNode {
  const parts = new Map<string, JsonNode>();
  let next = afterSpace(line, at + 1);
  if (line.text[next] === close) return { at, end: next + 1, parts };
  for (;;) {
    const name = close === '}' ? scanName(line, next) : { name: String(parts.size), end: next };
    const part = scanJson(line, name.end, depth + 1);
    if (parts.has(name.name)) failAt(line, next, 'history/field', `${JSON.stringify(name.name)} comes twice`);
    parts.set(name.name, part);
    next = afterSpace(line, part.end);
    if (line.text[next] === close) return { at, end: next + 1, parts };
    if (line.text[next] !== ',') unexpected(line, next, `, or ${close}`);
    next = afterSpace(line, next + 1);
  }
}

/** A member's name and its colon. */
function scanName(line: Line, at: number): { name: string; end: number } {
  if (line.text[at] !== '"') unexpected(line, at, 'a name in double quotes');
  const end = stringEnd(line, at);
  const colon = afterSpace(line, end);
  if (line.text[colon] !== ':') unexpected(line, colon, ':');
  return { name: JSON.parse(line.text.slice(at, end)) as string, end: colon + 1 };
}

function stringEnd(line: Line, start: number): number {
  const { text } = line;
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at] as string;
    if (char === '"') return at + 1;
    if (char < ' ')
      failAt(line, at, 'history/syntax', 'a control character in a string: write it as \\u and four digits');
    if (char === '\\') at = escapeEnd(line, at) - 1;
  }
  return unexpected(line, text.length, 'the closing quote');
}

function escapeEnd(line: Line, at: number): number {
  const escape = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
  escape.lastIndex = at;
  if (escape.test(line.text)) return escape.lastIndex;
  if (/^\\(?:u[\da-fA-F]{0,3})?$/.test(line.text.slice(at, at + 6))) {
    return unexpected(line, line.text.length, 'the rest of an escape');
  }
  return failAt(line, at, 'history/syntax', 'not an escape that JSON knows');
}

function scalarEnd(line: Line, at: number): number {
  const { text } = line;
  const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  scalar.lastIndex = at;
  const end = scalar.test(text) ? scalar.lastIndex : at;
  const nearEnd = text.length - end < 'false'.length;
  if (nearEnd && isCutShort(text.slice(at))) unexpected(line, text.length, 'a value');
  return end > at ? end : unexpected(line, at, 'a value');
}

function isCutShort(scalar: string): boolean {
  if (/^-?(?:(?:0|[1-9]\d*)(?:\.|(?:\.\d+)?[eE][+-]?))?$/.test(scalar)) return true;
  return ['true', 'false', 'null'].some((word) => word !== scalar && word.startsWith(scalar));
}

function unexpected(line: Line, at: number, expected: string): never {
  const { text } = line;
  if (at >= text.length) failAt(line, at, 'history/truncated', `the line ends where ${expected} should stand`);
  const found = JSON.stringify(String.fromCodePoint(text.codePointAt(at) as number));
  failAt(line, at, 'history/syntax', `${found} stands where ${expected} should`);
}

function afterSpace({ text }: Line, start: number): number {
  let at = start;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at += 1;
  return at;
}
