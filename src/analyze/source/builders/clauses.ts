/** Pieces that all builders have: fields of objects, lists of values, comparisons. */
import { absent, type Abstract, type Fragment, type ObjectValue } from '../abstract-value.ts';
import type { Machine } from '../machine.ts';
import { isNothing } from '../value-arithmetic.ts';
import { dialects } from './dialect.ts';
import { join, operand, parenthesized } from './fragment.ts';

/** The properties of an object with their values, without those that are `undefined`; `null`: they are not known. */
export function entriesOf(value: Abstract | undefined): readonly (readonly [string, Abstract])[] | null {
  if (value?.kind !== 'object') return null;
  if (value.rest !== null && !isNothing(value.rest)) return null;
  return givenEntries(value);
}

/** Those that the source says, also where there may be others. */
export function givenEntries({ properties }: ObjectValue): readonly (readonly [string, Abstract])[] {
  return [...properties].flatMap(([name, { value }]) => (value.kind === 'undefined' ? [] : [[name, value] as const]));
}

/** A property that is there without a value. */
export function undefinedIn({ properties }: ObjectValue): string | undefined {
  return [...properties].find(([, { value }]) => value.kind === 'undefined' && value !== absent)?.[0];
}

/** The same by name; empty where they are not known. */
export function optionsOf(value: Abstract | undefined): ReadonlyMap<string, Abstract> {
  return new Map(entriesOf(value) ?? []);
}

/** Operators as Drizzle and Sequelize spell them. */
export const comparisonSigns: Readonly<Record<string, string>> = {
  eq: '=',
  ne: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  like: 'LIKE',
  notLike: 'NOT LIKE',
  ilike: 'ILIKE',
  notIlike: 'NOT ILIKE',
};

/** `IN (...)`, whose list may be known, a statement, or one value that is a list. */
export function inList(machine: Machine, column: Fragment, list: Abstract, isNegated: boolean): Fragment {
  const not = isNegated ? 'NOT ' : '';
  if (list.kind === 'native' && list.sql !== undefined) return [...column, ` ${not}IN `, ...list.sql()];
  if (list.kind === 'array') {
    // The builders write a condition that is never true, or always.
    if (list.elements.value.length === 0) return [isNegated ? '1 = 1' : '1 = 0'];
    return [...column, ` ${not}IN `, ...parenthesized(join(list.elements.value.map(operand), ', '))];
  }
  const { inList: within, notInList } = dialects[machine.dialect];
  const [before, after] = isNegated ? notInList : within;
  return [...column, before, list, after];
}

export function objectEntries(value: ObjectValue): readonly (readonly [string, Abstract])[] {
  return [...value.properties].map(([name, cell]) => [name, cell.value]);
}

/** A comparison with NULL is IS. */
export function comparison(column: Fragment, operator: string, value: Abstract): Fragment {
  const sign = operator === '==' ? '=' : operator === '!=' ? '<>' : operator.toUpperCase();
  if (isNothing(value)) {
    if (sign === '=' || sign === 'IS') return [...column, ' IS NULL'];
    if (sign === '<>' || sign === 'IS NOT') return [...column, ' IS NOT NULL'];
  }
  return [...column, ` ${sign} `, ...operand(value)];
}
