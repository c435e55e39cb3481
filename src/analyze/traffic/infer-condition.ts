/** Why a transaction took one way and not another, as far as earlier results say it: no row was found, a column had a value, a sign. */
import type { StatementValue } from '../../trace/index.ts';
import type { Value } from '../application.ts';

/** What was known when the way was taken, by transaction. */
export interface Fact {
  readonly value: Value;
  readonly observed: readonly (StatementValue | undefined)[];
}

/**
 * A condition that holds in every transaction of the first kind and in none of the other; `null`: none of these is one.
 * @param isFirst by transaction
 */
export function inferCondition(isFirst: readonly boolean[], facts: readonly Fact[]): Value | null {
  for (const { value, observed } of facts) {
    for (const { operator, constant, holds } of testsOf(value, observed, isFirst)) {
      if (!observed.every((each, at) => holds(each) === isFirst[at])) continue;
      return { kind: 'expression', operator, operands: [value, { kind: 'constant', value: constant }] };
    }
  }
  return null;
}

interface Test {
  readonly operator: string;
  readonly constant: string | number | boolean | null;
  readonly holds: (value: StatementValue | undefined) => boolean;
}

/** Transactions on each side before a value is a reason. */
const sideMin = 2;

function testsOf(value: Value, observed: Fact['observed'], isFirst: readonly boolean[]): readonly Test[] {
  if (value.kind === 'row-count') return signs;
  const firsts = observed.filter((_, at) => isFirst[at] === true);
  if (firsts.length < sideMin || observed.length - firsts.length < sideMin) return [];
  const [example] = firsts;
  const isScalar = typeof example === 'string' || typeof example === 'boolean' || typeof example === 'number';
  return [
    ...signs,
    ...(isScalar
      ? [{ operator: '=', constant: example, holds: (each: StatementValue | undefined) => each === example }]
      : []),
  ];
}

function compared(holds: (value: number) => boolean): Test['holds'] {
  return (value) => {
    const number = typeof value === 'number' ? value : typeof value === 'string' ? Number(value || NaN) : NaN;
    return holds(number);
  };
}

const signs: readonly Test[] = [
  { operator: '=', constant: 0, holds: compared((value) => value === 0) },
  { operator: '<>', constant: 0, holds: compared((value) => value !== 0 && !Number.isNaN(value)) },
  { operator: '>', constant: 0, holds: compared((value) => value > 0) },
  { operator: '<=', constant: 0, holds: compared((value) => value <= 0) },
  { operator: '<', constant: 0, holds: compared((value) => value < 0) },
  { operator: '>=', constant: 0, holds: compared((value) => value >= 0) },
];
