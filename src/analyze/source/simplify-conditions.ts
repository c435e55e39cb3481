/** Branches as people write them: guards first (`if no row: abort`), and no condition that an earlier guard has decided. */
import type { Value } from '../application.ts';
import type { AnyStep } from './emitter.ts';
import { allOf, either, isConstant, not, same } from './value-arithmetic.ts';

/** @param known Conditions that hold before the first step. */
export function simplifyConditions(steps: readonly AnyStep[], known: readonly Value[] = []): readonly AnyStep[] {
  const [step, ...rest] = steps;
  if (step === undefined) return [];
  switch (step.kind) {
    case 'branch':
      return simplifyBranch(step.condition, step.ifTrue, step.ifFalse, rest, known);
    case 'transaction':
    case 'loop':
      return [{ ...step, steps: simplifyConditions(step.steps, known) } as AnyStep, ...simplifyConditions(rest, known)];
    default:
      return [step, ...simplifyConditions(rest, known)];
  }
}

function simplifyBranch(
  wholeCondition: Value,
  ifTrue: readonly AnyStep[],
  ifFalse: readonly AnyStep[],
  rest: readonly AnyStep[],
  known: readonly Value[],
): readonly AnyStep[] {
  const condition = reduce(wholeCondition, known);
  if (isConstant(condition, true)) return simplifyConditions([...ifTrue, ...rest], known);
  if (isConstant(condition, false)) return simplifyConditions([...ifFalse, ...rest], known);
  const [a, b] = [
    simplifyConditions(ifTrue, [...known, condition]),
    simplifyConditions(ifFalse, [...known, not(condition)]),
  ];
  if (ends(a))
    return [branch(condition, a, []), ...simplifyConditions([...ifFalse, ...rest], [...known, not(condition)])];
  if (ends(b))
    return [branch(not(condition), b, []), ...simplifyConditions([...ifTrue, ...rest], [...known, condition])];
  const after = simplifyConditions(rest, known);
  if (a.length === 0 && b.length === 0) return after;
  // What is not understood is so on both paths.
  if (a.every(({ kind }) => kind === 'not-understood') && JSON.stringify(a) === JSON.stringify(b))
    return [...a, ...after];
  return [a.length === 0 ? branch(not(condition), b, []) : branch(condition, a, b), ...after];
}

function branch(condition: Value, ifTrue: readonly AnyStep[], ifFalse: readonly AnyStep[]): AnyStep {
  return { kind: 'branch', condition, ifTrue, ifFalse } as AnyStep;
}

function ends(steps: readonly AnyStep[]): boolean {
  const last = steps.at(-1);
  return last?.kind === 'return' || last?.kind === 'abort';
}

/** The condition without what `known` decides. */
function reduce(condition: Value, known: readonly Value[]): Value {
  const holds = (value: Value): boolean => known.some((one) => conjuncts(one).some((part) => same(part, value)));
  if (holds(condition)) return { kind: 'constant', value: true };
  if (holds(not(condition))) return { kind: 'constant', value: false };
  if (condition.kind !== 'expression') return condition;
  const operands = condition.operands.map((operand) => reduce(operand, known));
  const [first, second] = operands;
  if (first === undefined || second === undefined) return condition;
  if (condition.operator === 'and') return allOf([first, second]);
  return condition.operator === 'or' ? either(first, second) : condition;
}

function conjuncts(condition: Value): readonly Value[] {
  if (condition.kind !== 'expression' || condition.operator !== 'and') return [condition];
  return [condition, ...condition.operands.flatMap(conjuncts)];
}
