/** Lists that `map` makes of a list whose elements are not known: each element is what its function gives. */
import type { Abstract } from './abstract-value.ts';

export interface MappedList {
  readonly list: Abstract;
  readonly elementOf: (element: Abstract) => Abstract;
}

const mapped = new WeakMap<Abstract, MappedList>();

export function mapsList<Of extends Abstract>(value: Of, map: MappedList): Of {
  mapped.set(value, map);
  return value;
}

export function mappedList(value: Abstract): MappedList | undefined {
  return mapped.get(value);
}
