/** Branches as people write them: guards first (`if no row: abort`), and no condition that an earlier guard has decided. */
import type { Value } from '../application.ts';
import type { AnyStep } from './emitter.ts';
import { allOf, either, isConstant, keyOf, not } from './conditions.ts';

/** Values that are known to hold: each by its key, or itself where it has none. */
type Known = ReadonlySet<Value | string>;

export function simplifyConditions(steps: readonly AnyStep[]): readonly AnyStep[] {
  return simplify(steps, new Set());
}

function simplify(steps: readonly AnyStep[], known: Known): readonly AnyStep[] {
  const [step, ...rest] = steps;
  if (step === undefined) return [];
  switch (step.kind) {
    case 'branch':
      return simplifyBranch(step.condition, step.ifTrue, step.ifFalse, rest, known);
    case 'transaction':
    case 'loop':
      return [{ ...step, steps: simplify(step.steps, known) } as AnyStep, ...simplify(rest, known)];
    default:
      return [step, ...simplify(rest, known)];
  }
}

/** Guards stand in each other's branches: to look at a side twice would take twice the time for each of them. */
function simplifyBranch(
  wholeCondition: Value,
  ifTrue: readonly AnyStep[],
  ifFalse: readonly AnyStep[],
  rest: readonly AnyStep[],
  known: Known,
): readonly AnyStep[] {
  const condition = reduce(wholeCondition, known);
  if (isConstant(condition, true)) return simplify([...ifTrue, ...rest], known);
  if (isConstant(condition, false)) return simplify([...ifFalse, ...rest], known);
  const [holds, fails] = [withKnown(known, condition), withKnown(known, not(condition))];
  if (ends(ifFalse) && !ends(ifTrue))
    return guard(not(condition), simplify(ifFalse, fails), [...ifTrue, ...rest], holds);
  const a = simplify(ifTrue, holds);
  if (ends(a)) return guard(condition, a, [...ifFalse, ...rest], fails);
  const b = simplify(ifFalse, fails);
  if (ends(b))
    return rest.length === 0
      ? [branch(not(condition), b, []), ...a]
      : guard(not(condition), b, [...ifTrue, ...rest], holds);
  const after = simplify(rest, known);
  if (a.length === 0 && b.length === 0) return after;
  // What is not understood is so on both paths.
  if (a.every(({ kind }) => kind === 'not-understood') && JSON.stringify(a) === JSON.stringify(b))
    return [...a, ...after];
  return [a.length === 0 ? branch(not(condition), b, []) : branch(condition, a, b), ...after];
}

/** `if (condition) { steps that end }`, and what runs behind it. */
function guard(
  condition: Value,
  ending: readonly AnyStep[],
  rest: readonly AnyStep[],
  known: Known,
): readonly AnyStep[] {
  return [branch(condition, ending, []), ...simplify(rest, known)];
}

function branch(condition: Value, ifTrue: readonly AnyStep[], ifFalse: readonly AnyStep[]): AnyStep {
  return { kind: 'branch', condition, ifTrue, ifFalse } as AnyStep;
}

function ends(steps: readonly AnyStep[]): boolean {
  const last = steps.at(-1);
  return last?.kind === 'return' || last?.kind === 'abort';
}

/** The condition without what `known` decides. */
function reduce(condition: Value, known: Known): Value {
  if (holdsIn(known, condition)) return { kind: 'constant', value: true };
  if (holdsIn(known, not(condition))) return { kind: 'constant', value: false };
  if (condition.kind !== 'expression') return condition;
  const [first, second] = condition.operands;
  if (first === undefined || second === undefined) return condition;
  if (condition.operator === 'and') return allOf([reduce(first, known), reduce(second, known)]);
  return condition.operator === 'or' ? either(reduce(first, known), reduce(second, known)) : condition;
}

function holdsIn(known: Known, condition: Value): boolean {
  return known.has(keyOf(condition) ?? condition);
}

function withKnown(known: Known, condition: Value): Known {
  return new Set([...known, ...conjuncts(condition).map((one) => keyOf(one) ?? one)]);
}

function conjuncts(condition: Value): readonly Value[] {
  if (condition.kind !== 'expression' || condition.operator !== 'and') return [condition];
  return [condition, ...condition.operands.flatMap(conjuncts)];
}
