/** MySQL's functions that make another document of one: JSON_SET and its kin. Reference manual, "Functions That Modify JSON Values". */
import {
  formatJsonDocument,
  isJsonObject,
  jsonDocument,
  type JsonDocument,
  objectOf,
  SqlError,
  type SqlValue,
} from '../model/index.ts';
import type { Call } from './signature.ts';
import { typedNullable } from './signature.ts';
import { type JsonStep, mysqlJsonSteps } from './mysql-json-path.ts';
import { mysqlDocument, mysqlText } from './mysql-document.ts';

/** What is done where a path leads: nothing is there, or a value. */
interface Change {
  readonly missing: 'add' | 'leave' | 'null for all';
  readonly found: (value: unknown, given: unknown) => unknown;
}

const replace = (_value: unknown, given: unknown): unknown => given;
const keep = (value: unknown): unknown => value;

const changes = {
  json_set: { missing: 'add', found: replace },
  json_insert: { missing: 'add', found: keep },
  json_replace: { missing: 'leave', found: replace },
  // MariaDB's; MySQL leaves the document as it is.
  json_array_append: {
    missing: 'null for all',
    found: (value, given) => (Array.isArray(value) ? [...(value as unknown[]), given] : [value, given]),
  },
} as const satisfies Readonly<Record<string, Change>>;

export const jsonChanges = typedNullable({
  'json_set(jsonb, variadic any) jsonb': changing('json_set'),
  'json_insert(jsonb, variadic any) jsonb': changing('json_insert'),
  'json_replace(jsonb, variadic any) jsonb': changing('json_replace'),
  'json_array_append(jsonb, variadic any) jsonb': changing('json_array_append'),
  'json_remove(jsonb, variadic text) jsonb':
    () =>
    (document: JsonDocument | null, ...paths: (string | null)[]) => {
      if (document === null || paths.includes(null)) return null;
      return jsonDocument(paths.reduce((value, path) => removed(value, mysqlJsonSteps(path ?? '')), document.value));
    },
  'json_merge_patch(jsonb, variadic jsonb) jsonb':
    () =>
    (...documents: (JsonDocument | null)[]) => {
      const values = documents.map((each) => (each === null ? null : each.value));
      return documents.includes(null) ? null : jsonDocument(values.reduce(merged));
    },
  'json_contains(jsonb, jsonb) int4': () => (document: JsonDocument | null, part: JsonDocument | null) =>
    document === null || part === null ? null : Number(contains(document.value, part.value)),
});

type Changing = (call: Call) => (document: JsonDocument | null, ...rest: SqlValue[]) => JsonDocument | null;

/** Pairs of a path and a value, from left to right. */
function changing(name: keyof typeof changes): Changing {
  const change: Change = changes[name];
  return ({ types: given }) =>
    (document, ...rest) => {
      if (rest.length % 2 === 1)
        throw new SqlError(
          '42000',
          `Incorrect parameter count in the call to native function '${name.toUpperCase()}'`,
          {
            mysqlNumber: 1582,
          },
        );
      const paths = rest.filter((_, i) => i % 2 === 0);
      if (document === null || paths.includes(null)) return null;
      let { value } = document;
      for (const [i, path] of paths.entries()) {
        const at = i * 2 + 1;
        const steps = mysqlJsonSteps(mysqlText(path, given, at));
        if (change.missing === 'null for all' && !leadsToValue(value, steps)) return null;
        value = changed(value, steps, mysqlDocument(rest[at] ?? null, given, at + 1), change);
      }
      return jsonDocument(value);
    };
}

function leadsToValue(value: unknown, [step, ...rest]: readonly JsonStep[]): boolean {
  if (step === undefined) return true;
  if (step.kind === 'member')
    return isJsonObject(value) && Object.hasOwn(value, step.name) && leadsToValue(value[step.name], rest);
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return step.index < items.length && leadsToValue(items[step.index], rest);
}

function changed(value: unknown, [step, ...rest]: readonly JsonStep[], given: unknown, change: Change): unknown {
  if (step === undefined) return change.found(value, given);
  const isLast = rest.length === 0;
  if (step.kind === 'member') {
    if (!isJsonObject(value)) return value;
    if (Object.hasOwn(value, step.name))
      return objectOf(
        Object.entries(value).map(([key, each]) => [
          key,
          key === step.name ? changed(each, rest, given, change) : each,
        ]),
      );
    return isLast && change.missing === 'add' ? objectOf([...Object.entries(value), [step.name, given]]) : value;
  }
  // What is no array counts as an array of itself.
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (step.index < items.length) {
    const after = items.map((each, i) => (i === step.index ? changed(each, rest, given, change) : each));
    return Array.isArray(value) ? after : after[0];
  }
  return isLast && change.missing === 'add' ? [...items, given] : value;
}

function removed(value: unknown, [step, ...rest]: readonly JsonStep[]): unknown {
  if (step === undefined)
    throw new SqlError('42000', "The path expression '$' is not allowed in this context.", { mysqlNumber: 3153 });
  const isLast = rest.length === 0;
  if (step.kind === 'member') {
    if (!isJsonObject(value) || !Object.hasOwn(value, step.name)) return value;
    const entries = Object.entries(value).filter(([key]) => !isLast || key !== step.name);
    return objectOf(entries.map(([key, each]) => [key, key === step.name ? removed(each, rest) : each]));
  }
  if (!Array.isArray(value)) return isLast || step.index > 0 ? value : removed(value, rest);
  const items = value as readonly unknown[];
  if (isLast) return items.filter((_, i) => i !== step.index);
  return items.map((each, i) => (i === step.index ? removed(each, rest) : each));
}

/** RFC 7396. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const members = new Map(isJsonObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) members.delete(key);
    else members.set(key, merged(members.get(key), value));
  }
  return objectOf([...members]);
}

function contains(value: unknown, part: unknown): boolean {
  if (Array.isArray(value))
    return Array.isArray(part)
      ? part.every((each) => contains(value, each))
      : value.some((each) => contains(each, part));
  if (isJsonObject(value))
    return (
      isJsonObject(part) &&
      Object.entries(part).every(([key, each]) => Object.hasOwn(value, key) && contains(value[key], each))
    );
  return !Array.isArray(part) && !isJsonObject(part) && formatJsonDocument(value) === formatJsonDocument(part);
}
