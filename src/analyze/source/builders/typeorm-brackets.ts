/** `new Brackets((qb) => ...)` of TypeORM: conditions in parentheses. */
import type { Abstract, FunctionValue, Native } from '../abstract-value.ts';

const functions = new WeakMap<Abstract, FunctionValue>();

export function brackets(fn: Abstract | undefined): Native {
  const value: Native = { kind: 'native', title: 'Brackets of TypeORM', isHandle: false };
  if (fn?.kind === 'function') functions.set(value, fn);
  return value;
}

export function bracketsOf(value: Abstract | undefined): FunctionValue | undefined {
  return value === undefined ? undefined : functions.get(value);
}
