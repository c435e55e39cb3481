/** Functions that make, take apart and change JSON. PostgreSQL manual, tables 9.47 and 9.49. */
import {
  SqlError,
  formatText,
  types,
  type SqlType,
  arrayValue,
  formatJsonDocument,
  isJsonObject,
  jsonDocument,
  jsonNumber,
  objectOf,
  parseJson,
  parseJsonDocument,
  quoteJson,
  sortedKeys,
  type JsonNode,
  type JsonDocument,
  type SqlArray,
  type SqlValue,
  type Numeric,
} from '../model/index.ts';
import { jsonKind } from './cast-values.ts';
import { jsonAtPath, jsonbAtPath, jsonPartText, nodeSource, nodeText } from './json-operators.ts';
import { type Call, nullable, type Plain, type Signature, strict, typedNullable } from './signature.ts';
import { castText } from './text-operators.ts';

type Present = Exclude<SqlValue, null>;

/** A value of SQL as JSON text: to_json(). */
export function jsonTextOf(value: SqlValue, type: SqlType): string {
  if (value === null) return 'null';
  switch (type.name) {
    case 'json':
      return value as string;
    case 'jsonb':
      return formatJsonDocument((value as JsonDocument).value);
    case 'bool':
      return value === true ? 'true' : 'false';
    case 'int2':
    case 'int4':
    case 'int8':
    case 'uint8':
      return formatText(value, type, 'postgres');
    case 'float4':
    case 'float8':
    case 'numeric': {
      const text = formatText(value, type, 'postgres');
      return /^-?\d/.test(text) ? text : quoteJson(text);
    }
    case 'array':
      return `[${(value as SqlArray).elements.map((each) => jsonTextOf(each, type.element ?? types.text)).join(',')}]`;
    case 'record':
      return recordText(value as SqlArray, type);
    case 'timestamp':
    case 'timestamptz':
      return quoteJson(isoTime(value, type));
    default:
      return quoteJson(formatText(value, type, 'postgres'));
  }
}

function isoTime(value: Present, type: SqlType): string {
  const text = formatText(value, type, 'postgres').replace(' ', 'T');
  return type.name === 'timestamptz' ? text.replace(/\+00( BC)?$/, '+00:00$1') : text;
}

function recordText({ elements }: SqlArray, type: SqlType): string {
  const members = (type.fields ?? []).map(
    (field, i) => `${quoteJson(field.name)}:${jsonTextOf(elements[i] ?? null, field.type)}`,
  );
  return `{${members.join(',')}}`;
}

/** A value of SQL in a jsonb document. */
export function documentValue(value: SqlValue, type: SqlType): unknown {
  if (value === null) return null;
  switch (type.name) {
    case 'jsonb':
      return (value as JsonDocument).value;
    case 'numeric': {
      const number = value as Numeric;
      return number.value.isFinite() ? jsonNumber(number) : formatText(number, type, 'postgres');
    }
    case 'float4':
    case 'float8': {
      const text = formatText(value, type, 'postgres');
      return /^-?\d/.test(text) ? parseJson(text.replace('e+', 'e')).value : text;
    }
    default:
      return parseJsonDocument(jsonTextOf(value, type)).value;
  }
}

function keyText(value: SqlValue, type: SqlType, position: number): string {
  if (value === null) throw new SqlError('22023', `argument ${position}: key must not be null`);
  if (['array', 'record', 'json', 'jsonb'].includes(type.name)) {
    throw new SqlError('22023', 'key value must be scalar, not array, composite, or json');
  }
  return castText(type)(value);
}

/** Keys and values in turn; json keeps doubles, in jsonb the last counts. */
function pairsOf(values: readonly SqlValue[], given: readonly SqlType[]): (readonly [string, SqlValue, SqlType])[] {
  if (values.length % 2 === 1) {
    throw new SqlError('22023', 'argument list must have even number of elements');
  }
  return values.flatMap((key, i) => {
    if (i % 2 === 1) return [];
    const name = keyText(key, given[i] ?? types.text, i + 1);
    return [[name, values[i + 1] ?? null, given[i + 1] ?? types.text] as const];
  });
}

const builders: Record<string, (call: Call) => Plain> = {
  'to_json(anyelement) json':
    ({ types: [type = types.text] }) =>
    (value: SqlValue) =>
      value === null ? null : jsonTextOf(value, type),
  'to_jsonb(anyelement) jsonb':
    ({ types: [type = types.text] }) =>
    (value: SqlValue) =>
      value === null ? null : jsonDocument(documentValue(value, type)),
  'array_to_json(anyarray) json':
    ({ types: [type = types.text] }) =>
    (value: SqlValue) =>
      value === null ? null : jsonTextOf(value, type),
  'row_to_json(record) json':
    ({ types: [type = types.text] }) =>
    (value: SqlValue) =>
      value === null ? null : jsonTextOf(value, type),
  'json_build_array(variadic any) json':
    ({ types: given }) =>
    (...values: SqlValue[]) =>
      `[${values.map((value, i) => jsonTextOf(value, given[i] ?? types.text)).join(', ')}]`,
  'jsonb_build_array(variadic any) jsonb':
    ({ types: given }) =>
    (...values: SqlValue[]) =>
      jsonDocument(values.map((value, i) => documentValue(value, given[i] ?? types.text))),
  'json_build_object(variadic any) json':
    ({ types: given }) =>
    (...values: SqlValue[]) => {
      const members = pairsOf(values, given).map(
        ([key, value, type]) => `${quoteJson(key)} : ${jsonTextOf(value, type)}`,
      );
      return `{${members.join(', ')}}`;
    },
  'jsonb_build_object(variadic any) jsonb':
    ({ types: given }) =>
    (...values: SqlValue[]) =>
      jsonDocument(objectOf(pairsOf(values, given).map(([key, value, type]) => [key, documentValue(value, type)]))),
};

/** Replaces what is at the path; makes the last step where `canCreate`. */
function setAt(
  value: unknown,
  path: readonly (string | null)[],
  replacement: unknown,
  canCreate: boolean,
  position = 1,
): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (key === null) throw new SqlError('22004', `path element at position ${position} is null`);
  if (Array.isArray(value)) return setInArray(value, key, rest, replacement, canCreate, position);
  if (!isJsonObject(value)) return value;
  const isThere = Object.hasOwn(value, key);
  if (!isThere && !(canCreate && rest.length === 0)) return value;
  const inner = rest.length === 0 ? replacement : setAt(value[key], rest, replacement, canCreate, position + 1);
  return objectOf([...Object.entries(value).filter(([name]) => name !== key), [key, inner]]);
}

function setInArray(
  items: readonly unknown[],
  key: string,
  rest: readonly (string | null)[],
  replacement: unknown,
  canCreate: boolean,
  position: number,
): unknown {
  if (!/^\s*[+-]?\d+\s*$/.test(key)) {
    throw new SqlError('22P02', `path element at position ${position} is not an integer: "${key}"`);
  }
  const index = Number(key) < 0 ? items.length + Number(key) : Number(key);
  if (index >= 0 && index < items.length) {
    return items.map((each, i) =>
      i !== index ? each : rest.length === 0 ? replacement : setAt(each, rest, replacement, canCreate, position + 1),
    );
  }
  if (!canCreate || rest.length > 0) return items;
  return index < 0 ? [replacement, ...items] : [...items, replacement];
}

function setPath({ value }: JsonDocument, path: SqlArray, replacement: JsonDocument, canCreate = true): JsonDocument {
  if (typeof value !== 'object' || value === null) throw new SqlError('22023', 'cannot set path in scalar');
  return jsonDocument(setAt(value, path.elements as (string | null)[], replacement.value, canCreate));
}

/** Members whose value is null go, at any depth; elements of arrays stay. */
function stripNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripNulls);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, each]) => each !== null);
  return objectOf(kept.map(([key, each]) => [key, stripNulls(each)]));
}

function arrayLength({ value }: JsonDocument): number {
  if (Array.isArray(value)) return value.length;
  throw new SqlError('22023', `cannot get array length of ${isJsonObject(value) ? 'a non-array' : 'a scalar'}`);
}

function nodeArrayLength(text: string): number {
  const { value }: JsonNode = parseJson(text);
  const kind = typeof value === 'object' && value !== null ? value.kind : 'scalar';
  if (kind !== 'array') {
    throw new SqlError('22023', `cannot get array length of ${kind === 'object' ? 'a non-array' : 'a scalar'}`);
  }
  return (value as { readonly items: readonly unknown[] }).items.length;
}

function indented(value: unknown, indent: string): string {
  const inner = `${indent}    `;
  if (Array.isArray(value)) {
    if (value.length === 0) return `[\n${indent}]`;
    return `[\n${value.map((each) => inner + indented(each, inner)).join(',\n')}\n${indent}]`;
  }
  if (isJsonObject(value)) {
    const keys = Object.keys(value);
    if (keys.length === 0) return `{\n${indent}}`;
    const sorted = sortedKeys(value);
    return `{\n${sorted.map((key) => `${inner}${quoteJson(key)}: ${indented(value[key], inner)}`).join(',\n')}\n${indent}}`;
  }
  return formatJsonDocument(value);
}

function pathArray(keys: readonly SqlValue[]): SqlArray {
  return arrayValue(keys);
}

const plain = strict({
  'jsonb_set(jsonb, text[], jsonb) jsonb': setPath,
  'jsonb_set(jsonb, text[], jsonb, bool) jsonb': setPath,
  'jsonb_strip_nulls(jsonb) jsonb': ({ value }: JsonDocument) => jsonDocument(stripNulls(value)),
  'jsonb_array_length(jsonb) int4': arrayLength,
  'json_array_length(json) int4': nodeArrayLength,
  'jsonb_typeof(jsonb) text': ({ value }: JsonDocument) => jsonKind(value),
  'json_typeof(json) text': (text: string) => jsonKind(parseJsonDocument(text).value),
  'jsonb_pretty(jsonb) text': ({ value }: JsonDocument) => indented(value, ''),
  'jsonb_extract_path(jsonb, variadic text) jsonb': (document: JsonDocument, ...keys: SqlValue[]) => {
    const found = jsonbAtPath(document, pathArray(keys));
    return found === undefined ? null : jsonDocument(found);
  },
  'jsonb_extract_path_text(jsonb, variadic text) text': (document: JsonDocument, ...keys: SqlValue[]) =>
    jsonPartText(jsonbAtPath(document, pathArray(keys))),
  'json_extract_path(json, variadic text) json': (text: string, ...keys: SqlValue[]) =>
    nodeSource(text, jsonAtPath(text, pathArray(keys))),
  'json_extract_path_text(json, variadic text) text': (text: string, ...keys: SqlValue[]) =>
    nodeText(text, jsonAtPath(text, pathArray(keys))),
});

export const jsonFunctions: readonly Signature[] = [
  ...plain,
  ...typedNullable(builders),
  ...nullable({
    'json_build_array() json': () => '[]',
    'jsonb_build_array() jsonb': () => jsonDocument([]),
    'json_build_object() json': () => '{}',
    'jsonb_build_object() jsonb': () => jsonDocument(objectOf([])),
  }),
];
