/**
 * Values: what JSON can carry, exactly. A value that JSON would change on the way (NaN, undefined, a Date, a Map, -0) is
 * refused where it is written, because a history that cannot be stored and read back is no evidence.
 */
import { InputError } from '../base/index.ts';

/** The name of a register: a key of a store, a row or a cell of a table. */
export type Key = string;
/** What JSON can carry, exactly; `null` is also the value of a key that was never written. */
export type Value = null | boolean | number | string | readonly Value[] | { readonly [name: string]: Value };

/** A value may hold arrays and records this deep: a value that contains itself is refused instead of copied forever. */
export const nestingMax = 500;

/** A deep copy of `value`. @throws InputError `history/value` naming the part that JSON cannot carry. */
export function copyValue(value: unknown, path = '', depth = 0): Value {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      throw notJson(value, path);
    case 'object':
      if (value === null) return null;
      if (depth >= nestingMax)
        throw new InputError('history/value', `the value is nested deeper than ${nestingMax} levels`);
      if (Array.isArray(value)) return copyArray(value, path, depth);
      if (isPlain(value)) return copyRecord(value as Record<string, unknown>, path, depth);
      throw notJson(value, path);
    default:
      throw notJson(value, path);
  }
}

function copyArray(value: readonly unknown[], path: string, depth: number): Value {
  const copy: Value[] = [];
  for (let i = 0; i < value.length; i += 1) copy.push(copyValue(value[i], `${path}[${i}]`, depth + 1));
  return copy;
}

function copyRecord(value: Record<string, unknown>, path: string, depth: number): Value {
  const copy: Record<string, Value> = {};
  for (const name of Object.keys(value)) {
    const part = copyValue(value[name], `${path}.${name}`, depth + 1);
    // '__proto__' as an own key must stay a key.
    if (name === '__proto__')
      Object.defineProperty(copy, name, { value: part, enumerable: true, writable: true, configurable: true });
    else copy[name] = part;
  }
  return copy;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function notJson(value: unknown, path: string): InputError {
  const what =
    typeof value === 'object' && value !== null
      ? `a ${value.constructor?.name ?? 'object'}`
      : typeof value === 'function'
        ? 'a function'
        : typeof value === 'bigint'
          ? `the bigint ${value}n`
          : Object.is(value, -0)
            ? '-0'
            : String(value);
  return new InputError(
    'history/value',
    `${what}${path === '' ? '' : ` at ${path}`} is not a value that JSON can carry`,
  );
}

/** Are two values equal as JSON, whatever the order of their names? */
export function sameValue(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (isArray(a) || isArray(b)) {
    return isArray(a) && isArray(b) && a.length === b.length && a.every((part, i) => sameValue(part, b[i] as Value));
  }
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameValue(a[name] as Value, b[name] as Value))
  );
}

const isArray = (value: Value): value is readonly Value[] => Array.isArray(value);

/** JSON text in which names are sorted: equal texts if and only if `sameValue`. */
export function canonicalText(value: Value): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name] as Value)}`).join(',')}}`;
}

/** Is it `[]`, as JSON writes it? */
export function isEmptyList(value: Value): boolean {
  return isArray(value) && value.length === 0;
}
