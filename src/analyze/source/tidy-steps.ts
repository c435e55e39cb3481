/** The steps of a unit in one form: no empty branches, no commit where the transaction ends anyway, no names that are not used. */
import type { Value } from '../application.ts';
import { mapStatements } from '../paths.ts';
import { withSeenCounts } from '../seen-counts.ts';
import type { AnyStep } from './emitter.ts';
import { simplifyConditions } from './simplify-conditions.ts';

/** @param given to the unit's caller: what it returned, and what the functions of its response got */
export function tidySteps(steps: readonly AnyStep[], given: readonly Value[]): readonly AnyStep[] {
  const short = shorten(simplifyConditions(withSeenCounts(steps, given)), true);
  const used = new Set<string>();
  forEachValue(short, (value) => {
    if ('statement' in value) used.add(value.statement);
  });
  return mapStatements(short, (one) => (one.result === null || used.has(one.result) ? one : { ...one, result: null }));
}

/** @param isLast Does the transaction, or the unit, end behind the steps? */
function shorten(steps: readonly AnyStep[], isLast: boolean): readonly AnyStep[] {
  const kept: AnyStep[] = [];
  for (const step of steps.toReversed()) {
    const ends = isLast && kept.length === 0;
    const short = shortenOne(step, ends);
    if (short !== undefined) kept.push(short);
  }
  const result = kept.toReversed();
  const end = result.findIndex(({ kind }) => kind === 'return' || kind === 'abort');
  return end < 0 ? result : result.slice(0, end + 1);
}

function shortenOne(step: AnyStep, isLast: boolean): AnyStep | undefined {
  switch (step.kind) {
    case 'return':
      return isLast ? undefined : step;
    case 'transaction': {
      const inner = shorten(step.steps, true);
      return inner.some(does) ? ({ ...step, steps: inner } as AnyStep) : undefined;
    }
    case 'branch': {
      const [ifTrue, ifFalse] = [shorten(step.ifTrue, isLast), shorten(step.ifFalse, isLast)];
      if (ifTrue.length === 0 && ifFalse.length === 0) return undefined;
      return { ...step, ifTrue, ifFalse } as AnyStep;
    }
    case 'loop': {
      const inner = shorten(step.steps, false);
      return inner.length === 0 ? undefined : ({ ...step, steps: inner } as AnyStep);
    }
    default:
      return step;
  }
}

/** Does it hold a statement, or what may be one? */
export function does(step: AnyStep): boolean {
  switch (step.kind) {
    case 'statement':
    case 'not-understood':
      return true;
    case 'transaction':
    case 'loop':
      return step.steps.some(does);
    case 'branch':
      return [...step.ifTrue, ...step.ifFalse].some(does);
    default:
      return false;
  }
}

/** Does a path end in it, so that what follows depends on it? */
export function mayEnd(step: AnyStep): boolean {
  switch (step.kind) {
    case 'abort':
    case 'return':
      return true;
    case 'transaction':
    case 'loop':
      return step.steps.some(mayEnd);
    case 'branch':
      return [...step.ifTrue, ...step.ifFalse].some(mayEnd);
    default:
      return false;
  }
}

function forEachValue(steps: readonly AnyStep[], visit: (value: Value) => void): void {
  const walk = (value: Value): void => {
    visit(value);
    if (value.kind === 'expression') value.operands.forEach(walk);
    if (value.kind === 'unknown') value.from?.forEach(walk);
  };
  for (const step of steps) {
    if (step.kind === 'statement') step.parameters.forEach(walk);
    if (step.kind === 'branch') {
      walk(step.condition);
      forEachValue([...step.ifTrue, ...step.ifFalse], visit);
    }
    if (step.kind === 'loop') walk(step.over);
    if (step.kind === 'loop' || step.kind === 'transaction') forEachValue(step.steps, visit);
  }
}
