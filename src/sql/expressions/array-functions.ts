/** Operators and functions of arrays, which have one dimension here. PostgreSQL manual, tables 9.52 and 9.53. */
import {
  comparatorOf,
  notSupported,
  SqlError,
  formatText,
  types,
  type SqlType,
  arrayValue,
  type SqlArray,
  type SqlValue,
} from '../model/index.ts';
import { type Call, nullable, type Signature, strict, typed, typedNullable } from './signature.ts';

type Same = (a: SqlValue, b: SqlValue) => boolean;

function elementType(type: SqlType | undefined): SqlType {
  return type?.element ?? type ?? types.text;
}

/** Equality of elements as arrays compare them: NULLs are the same. */
function sameElement({ types: [first], dialect }: Call): Same {
  const compare = comparatorOf(elementType(first), dialect);
  return (a, b) => (a === null || b === null ? a === b : compare(a, b) === 0);
}

/** For containment a NULL is in nothing. */
function isIn(value: SqlValue, { elements }: SqlArray, same: Same): boolean {
  return value !== null && elements.some((each) => same(each, value));
}

const containment = typed({
  '@>(anyarray, anyarray) bool': (call) => {
    const same = sameElement(call);
    return (a: SqlArray, b: SqlArray) => b.elements.every((each) => isIn(each, a, same));
  },
  '<@(anyarray, anyarray) bool': (call) => {
    const same = sameElement(call);
    return (a: SqlArray, b: SqlArray) => a.elements.every((each) => isIn(each, b, same));
  },
  '&&(anyarray, anyarray) bool': (call) => {
    const same = sameElement(call);
    return (a: SqlArray, b: SqlArray) => a.elements.some((each) => isIn(each, b, same));
  },
  'array_to_string(anyarray, text) text': (call) => joinElements(call),
});

const searching = typedNullable({
  'array_position(anycompatiblearray, anycompatible) int4': (call) => {
    const same = sameElement(call);
    return (array: SqlArray | null, value: SqlValue) => {
      const at = array?.elements.findIndex((each) => same(each, value)) ?? -1;
      return at === -1 ? null : at + 1;
    };
  },
  'array_positions(anycompatiblearray, anycompatible) int4[]': (call) => {
    const same = sameElement(call);
    return (array: SqlArray | null, value: SqlValue) =>
      array === null ? null : arrayValue(array.elements.flatMap((each, i) => (same(each, value) ? [i + 1] : [])));
  },
  'array_remove(anycompatiblearray, anycompatible) anycompatiblearray': (call) => {
    const same = sameElement(call);
    return (array: SqlArray | null, value: SqlValue) =>
      array === null ? null : arrayValue(array.elements.filter((each) => !same(each, value)));
  },
  'array_replace(anycompatiblearray, anycompatible, anycompatible) anycompatiblearray': (call) => {
    const same = sameElement(call);
    return (array: SqlArray | null, from: SqlValue, to: SqlValue) =>
      array === null ? null : arrayValue(array.elements.map((each) => (same(each, from) ? to : each)));
  },
  'array_to_string(anyarray, text, text) text': (call) => joinElements(call),
});

function joinElements({ types: [first] }: Call) {
  const element = elementType(first);
  return (array: SqlArray | null, separator: string | null, nullText: string | null = null) => {
    if (array === null || separator === null) return null;
    const texts = array.elements.map((each) => (each === null ? nullText : formatText(each, element, 'postgres')));
    return texts.filter((text) => text !== null).join(separator);
  };
}

function append(array: SqlArray | null, value: SqlValue): SqlValue {
  return arrayValue([...(array?.elements ?? []), value]);
}

function prepend(value: SqlValue, array: SqlArray | null): SqlValue {
  return arrayValue([value, ...(array?.elements ?? [])]);
}

function join(a: SqlArray | null, b: SqlArray | null): SqlValue {
  if (a === null || b === null) return a ?? b;
  return arrayValue([...a.elements, ...b.elements]);
}

function fill(value: SqlValue, lengths: SqlArray | null): SqlValue {
  if (lengths === null) throw new SqlError('22004', 'dimension array or low bound array cannot be null');
  const [length = null] = lengths.elements;
  if (lengths.elements.length > 1) throw notSupported('an array of more than one dimension');
  return arrayValue(Array.from({ length: Number(length ?? 0) }, () => value));
}

/** Without a separator each character is a part; what equals `nullText` is NULL. */
export function splitText(
  text: string | null,
  separator: string | null,
  nullText: string | null,
): (string | null)[] | null {
  if (text === null) return null;
  if (text === '') return [];
  const parts = separator === null ? Array.from(text) : separator === '' ? [text] : text.split(separator);
  return parts.map((part) => (part === nullText ? null : part));
}

function splitArray(text: string | null, separator: string | null, nullText: string | null = null): SqlArray | null {
  const parts = splitText(text, separator, nullText);
  return parts === null ? null : arrayValue(parts);
}

export const arraySignatures: readonly Signature[] = [
  ...containment,
  ...searching,
  ...nullable({
    '||(anycompatiblearray, anycompatible) anycompatiblearray': append,
    '||(anycompatible, anycompatiblearray) anycompatiblearray': prepend,
    '||(anycompatiblearray, anycompatiblearray) anycompatiblearray': join,
    'array_append(anycompatiblearray, anycompatible) anycompatiblearray': append,
    'array_prepend(anycompatible, anycompatiblearray) anycompatiblearray': prepend,
    'array_cat(anycompatiblearray, anycompatiblearray) anycompatiblearray': join,
    'array_fill(anyelement, int4[]) anyarray': fill,
    'string_to_array(text, text) text[]': splitArray,
    'string_to_array(text, text, text) text[]': splitArray,
  }),
  ...strict({
    'array_length(anyarray, int4) int4': ({ elements }: SqlArray, dimension: number) =>
      dimension === 1 && elements.length > 0 ? elements.length : null,
    'array_lower(anyarray, int4) int4': ({ elements }: SqlArray, dimension: number) =>
      dimension === 1 && elements.length > 0 ? 1 : null,
    'array_upper(anyarray, int4) int4': ({ elements }: SqlArray, dimension: number) =>
      dimension === 1 && elements.length > 0 ? elements.length : null,
    'array_ndims(anyarray) int4': ({ elements }: SqlArray) => (elements.length > 0 ? 1 : null),
    'cardinality(anyarray) int4': ({ elements }: SqlArray) => elements.length,
    'trim_array(anyarray, int4) anyarray': ({ elements }: SqlArray, count: number) => {
      if (count < 0 || count > elements.length) {
        throw new SqlError('2202E', `number of elements to trim must be between 0 and ${elements.length}`);
      }
      return arrayValue(elements.slice(0, elements.length - count));
    },
  }),
];
