/** Copies of what sessions return, so that an invariant which changes a result does not change it for later histories. */

export const OPAQUE = Symbol('not plain data');

/** A deep copy of plain data, `undefined` included; `OPAQUE` where there is anything else in it, such as a class's instance. */
export function copyPlain(value: unknown, depth = 0): unknown {
  if (typeof value === 'function') return OPAQUE;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEPTH_MAX) return OPAQUE;
  return Array.isArray(value) ? copyArray(value, depth) : copyRecord(value, depth);
}

/** A value that contains itself ends here. */
const DEPTH_MAX = 100;

function copyArray(value: readonly unknown[], depth: number): unknown {
  const copy: unknown[] = [];
  for (let i = 0; i < value.length; i += 1) {
    const part = i in value ? copyPlain(value[i], depth + 1) : OPAQUE;
    if (part === OPAQUE) return OPAQUE;
    copy.push(part);
  }
  return Object.keys(value).length === value.length ? copy : OPAQUE;
}

function copyRecord(value: object, depth: number): unknown {
  if (Object.getPrototypeOf(value) !== Object.prototype || Object.getOwnPropertySymbols(value).length > 0)
    return OPAQUE;
  const copy: Record<string, unknown> = {};
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    const isPlain = 'value' in descriptor && name !== '__proto__';
    const part = isPlain ? copyPlain(descriptor.value, depth + 1) : OPAQUE;
    if (part === OPAQUE) return OPAQUE;
    copy[name] = part;
  }
  return copy;
}

/** The same, faster, of what `copyPlain` or `copyValue` made. */
export function copyAgain<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyAgain) as T;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const part = copyAgain((value as Record<string, unknown>)[name]);
    // As an own name it must stay one.
    if (name === '__proto__')
      Object.defineProperty(copy, name, { value: part, enumerable: true, writable: true, configurable: true });
    else copy[name] = part;
  }
  return copy as T;
}
