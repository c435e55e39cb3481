/** Parts that statements of both dialects have: keys, conditions, assignments. */
import type { Choices } from './choices.ts';

export const id = (choices: Choices): number => 1 + choices.below(4);
const key = (choices: Choices): string => choices.pick(['10', '20', '30', '40', '50', 'null']);
export const group = (choices: Choices): number => 1 + choices.below(2);
export const value = (choices: Choices): number => choices.below(4);
export const parent = (choices: Choices): string => choices.pick(['1', '1', '2', '3', '4', 'null']);

/** A condition on `t`. */
export function whereT(choices: Choices): string {
  switch (choices.below(7)) {
    case 0:
    case 1:
      return `id = ${id(choices)}`;
    case 2:
      return `k = ${choices.pick([10, 20, 30, 40])}`;
    case 3:
      return `g = ${group(choices)}`;
    case 4:
      return `id >= ${id(choices)}`;
    case 5:
      return `id in (${id(choices)}, ${id(choices)})`;
    default:
      return `v > ${value(choices)}`;
  }
}

/** A condition on `u`. */
export function whereU(choices: Choices): string {
  return choices.pick([`id = ${id(choices)}`, `tid = ${id(choices)}`, `w = ${value(choices)}`, `tid is null`]);
}

export function assignT(choices: Choices): string {
  return choices.pick([
    'v = v + 1',
    'v = v + 1',
    `v = ${value(choices)}`,
    `k = ${key(choices)}`,
    'k = k + 10',
    `g = ${group(choices)}`,
    `id = ${id(choices)}`,
    'id = id + 10',
  ]);
}

export function assignU(choices: Choices): string {
  const tid = parent(choices);
  return choices.pick(['w = w + 1', `tid = ${tid}`, `tid = ${tid}, w = ${value(choices)}`, `w = ${value(choices)}`]);
}

export function rowT(choices: Choices): string {
  return `(${id(choices)}, ${key(choices)}, ${group(choices)}, ${value(choices)})`;
}

export function rowU(choices: Choices): string {
  return `(${id(choices)}, ${parent(choices)}, ${value(choices)})`;
}
