/** Operators of json and jsonb. PostgreSQL manual, tables 9.45 and 9.46. */
import {
  compareJson,
  SqlError,
  formatJsonDocument,
  isJsonObject,
  jsonDocument,
  objectOf,
  parseJson,
  type JsonNode,
  type JsonDocument,
  type SqlArray,
  type SqlValue,
} from '../model/index.ts';
import { jsonMember, jsonPath, nodeMember, nodePath } from './json-access.ts';
import { type Signature, strict } from './signature.ts';

/** As `->>` shows a part: strings without quotes, null as NULL. */
export function jsonPartText(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : formatJsonDocument(value);
}

export function nodeText(text: string, node: JsonNode | undefined): string | null {
  if (node === undefined || node.value === null) return null;
  return typeof node.value === 'string' ? node.value : text.slice(node.start, node.end);
}

export function nodeSource(text: string, node: JsonNode | undefined): string | null {
  return node === undefined ? null : text.slice(node.start, node.end);
}

function optional(value: unknown): JsonDocument | null {
  return value === undefined ? null : jsonDocument(value);
}

function pathOf({ elements }: SqlArray): string[] | undefined {
  return elements.includes(null) ? undefined : (elements as string[]);
}

/** `-> int` looks into arrays only, `-> text` into objects only. */
function byIndex(value: unknown, index: number): unknown {
  if (isJsonObject(value)) return undefined;
  // jsonb keeps a scalar as an array of one.
  return (Array.isArray(value) ? value : [value]).at(index) as unknown;
}

function byKey(value: unknown, key: string): unknown {
  return isJsonObject(value) ? value[key] : undefined;
}

function nodeIs(node: JsonNode, kind: 'array' | 'object'): boolean {
  return typeof node.value === 'object' && node.value !== null && node.value.kind === kind;
}

function nodeByKey(text: string, key: string): JsonNode | undefined {
  const node = parseJson(text);
  return nodeIs(node, 'object') ? nodeMember(node, key) : undefined;
}

function nodeByIndex(text: string, index: number): JsonNode | undefined {
  const node = parseJson(text);
  return nodeIs(node, 'array') ? nodeMember(node, String(index)) : undefined;
}

export function jsonAtPath(text: string, path: SqlArray): JsonNode | undefined {
  const keys = pathOf(path);
  return keys === undefined ? undefined : nodePath(parseJson(text), keys);
}

export function jsonbAtPath({ value }: JsonDocument, path: SqlArray): unknown {
  const keys = pathOf(path);
  return keys === undefined ? undefined : jsonPath(value, keys);
}

/** Every member of `part` is in `whole`; an array may contain a scalar. PostgreSQL manual, 8.14.3. */
function jsonContains(whole: unknown, part: unknown, isTop = true): boolean {
  if (isJsonObject(part)) {
    if (!isJsonObject(whole)) return false;
    return Object.entries(part).every(([key, value]) => key in whole && jsonContains(whole[key], value, false));
  }
  if (Array.isArray(part)) {
    if (!Array.isArray(whole)) return false;
    return part.every((each) => whole.some((other) => isContainedIn(other, each)));
  }
  if (Array.isArray(whole)) return isTop && whole.some((each) => compareJson(each, part) === 0);
  return !isJsonObject(whole) && compareJson(whole, part) === 0;
}

function isContainedIn(whole: unknown, part: unknown): boolean {
  const isContainer = Array.isArray(part) || isJsonObject(part);
  return isContainer ? jsonContains(whole, part, false) : !Array.isArray(whole) && jsonContains(whole, part, false);
}

function hasKey({ value }: JsonDocument, key: string): boolean {
  if (Array.isArray(value)) return value.includes(key);
  return isJsonObject(value) ? key in value : value === key;
}

/** Objects merge, everything else is put into one array. */
function concatenate({ value: a }: JsonDocument, { value: b }: JsonDocument): JsonDocument {
  if (isJsonObject(a) && isJsonObject(b)) return jsonDocument(objectOf([...Object.entries(a), ...Object.entries(b)]));
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : [value]);
  return jsonDocument([...list(a), ...list(b)]);
}

function withoutKeys({ value }: JsonDocument, given: readonly SqlValue[]): JsonDocument {
  // A NULL among the keys is not the null of JSON.
  const keys: ReadonlySet<unknown> = new Set(given.filter((key) => key !== null));
  if (Array.isArray(value)) return jsonDocument(value.filter((each) => !keys.has(each)));
  if (isJsonObject(value)) return jsonDocument(objectOf(Object.entries(value).filter(([key]) => !keys.has(key))));
  throw new SqlError('22023', 'cannot delete from scalar');
}

function withoutIndex({ value }: JsonDocument, index: number): JsonDocument {
  if (isJsonObject(value)) throw new SqlError('22023', 'cannot delete from object using integer index');
  if (!Array.isArray(value)) throw new SqlError('22023', 'cannot delete from scalar');
  const at = index < 0 ? value.length + index : index;
  return jsonDocument(value.filter((_, i) => i !== at));
}

function withoutPath({ value }: JsonDocument, path: SqlArray): JsonDocument {
  if (typeof value !== 'object' || value === null) throw new SqlError('22023', 'cannot delete path in scalar');
  return jsonDocument(removeAt(value, path.elements as (string | null)[]));
}

function removeAt(value: unknown, path: readonly (string | null)[], position = 1): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (key === null) throw new SqlError('22004', `path element at position ${position} is null`);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value) && !/^\s*[+-]?\d+\s*$/.test(key)) {
    throw new SqlError('22P02', `path element at position ${position} is not an integer: "${key}"`);
  }
  if (jsonMember(value, key) === undefined) return value;
  if (Array.isArray(value)) {
    const at = Number(key) < 0 ? value.length + Number(key) : Number(key);
    return rest.length === 0
      ? value.filter((_, i) => i !== at)
      : value.map((each, i) => (i === at ? removeAt(each, rest, position + 1) : (each as unknown)));
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value);
  const left = rest.length === 0 ? entries.filter(([name]) => name !== key) : entries;
  return objectOf(left.map(([name, each]) => [name, name === key ? removeAt(each, rest, position + 1) : each]));
}

const table = strict({
  '->(json, text) json': (text: string, key: string) => nodeSource(text, nodeByKey(text, key)),
  '->(json, int4) json': (text: string, index: number) => nodeSource(text, nodeByIndex(text, index)),
  '->>(json, text) text': (text: string, key: string) => nodeText(text, nodeByKey(text, key)),
  '->>(json, int4) text': (text: string, index: number) => nodeText(text, nodeByIndex(text, index)),
  '#>(json, text[]) json': (text: string, path: SqlArray) => nodeSource(text, jsonAtPath(text, path)),
  '#>>(json, text[]) text': (text: string, path: SqlArray) => nodeText(text, jsonAtPath(text, path)),
  '->(jsonb, text) jsonb': ({ value }: JsonDocument, key: string) => optional(byKey(value, key)),
  '->(jsonb, int4) jsonb': ({ value }: JsonDocument, index: number) => optional(byIndex(value, index)),
  '->>(jsonb, text) text': ({ value }: JsonDocument, key: string) => jsonPartText(byKey(value, key)),
  '->>(jsonb, int4) text': ({ value }: JsonDocument, index: number) => jsonPartText(byIndex(value, index)),
  '#>(jsonb, text[]) jsonb': (document: JsonDocument, path: SqlArray) => optional(jsonbAtPath(document, path)),
  '#>>(jsonb, text[]) text': (document: JsonDocument, path: SqlArray) => jsonPartText(jsonbAtPath(document, path)),
  '@>(jsonb, jsonb) bool': (a: JsonDocument, b: JsonDocument) => jsonContains(a.value, b.value),
  '<@(jsonb, jsonb) bool': (a: JsonDocument, b: JsonDocument) => jsonContains(b.value, a.value),
  '?(jsonb, text) bool': hasKey,
  '?|(jsonb, text[]) bool': (document: JsonDocument, { elements }: SqlArray) =>
    elements.some((key) => key !== null && hasKey(document, key as string)),
  '?&(jsonb, text[]) bool': (document: JsonDocument, { elements }: SqlArray) =>
    elements.every((key) => key === null || hasKey(document, key as string)),
  '||(jsonb, jsonb) jsonb': concatenate,
  '-(jsonb, text) jsonb': (document: JsonDocument, key: string) => withoutKeys(document, [key]),
  '-(jsonb, text[]) jsonb': (document: JsonDocument, { elements }: SqlArray) => withoutKeys(document, elements),
  '-(jsonb, int4) jsonb': withoutIndex,
  '#-(jsonb, text[]) jsonb': withoutPath,
});

export const jsonOperators: readonly Signature[] = table;
