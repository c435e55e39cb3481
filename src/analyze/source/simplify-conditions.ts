/** Branches as people write them: guards first (`if no row: abort`), and no condition that an earlier guard has decided. */
import type { Value } from '../application.ts';
import type { AnyStep } from './emitter.ts';
import { allOf, either, isConstant, keyOf, not } from './conditions.ts';

export function simplifyConditions(steps: readonly AnyStep[]): readonly AnyStep[] {
  return new Simplification().side(steps, []);
}

/** Steps in their order, as a list of pairs: what stands in a branch goes before what runs behind it, and that may be all of a unit. */
type Steps = { readonly first: AnyStep; readonly rest: Steps } | null;

function before(steps: readonly AnyStep[], rest: Steps): Steps {
  return steps.reduceRight<Steps>((behind, first) => ({ first, rest: behind }), rest);
}

/** Takes time in proportion to the steps, but for sides that are looked at twice. */
class Simplification {
  /** Values that hold at this place: each by its key, or itself where it has none. */
  readonly #known = new Set<Value | string>();
  /** The same in the order in which they came, so that a side can forget its own. */
  readonly #learned: (Value | string)[] = [];

  /** @param conditions that hold on this side */
  side(steps: readonly AnyStep[], conditions: readonly Value[]): readonly AnyStep[] {
    const mark = this.#learned.length;
    for (const condition of conditions) this.#learn(condition);
    const made: AnyStep[] = [];
    for (let left = before(steps, null); left !== null; ) left = this.#step(left.first, left.rest, made);
    for (const one of this.#learned.splice(mark)) this.#known.delete(one);
    return made;
  }

  /** @returns what is left to do */
  #step(step: AnyStep, rest: Steps, made: AnyStep[]): Steps {
    switch (step.kind) {
      case 'branch':
        return this.#branch(step, rest, made);
      case 'transaction':
      case 'loop':
        made.push({ ...step, steps: this.side(step.steps, []) } as AnyStep);
        return rest;
      default:
        made.push(step);
        return rest;
    }
  }

  /** Guards stand in each other's branches: to look at a side twice would take twice the time for each of them. */
  #branch(step: Extract<AnyStep, { kind: 'branch' }>, rest: Steps, made: AnyStep[]): Steps {
    const { ifTrue, ifFalse }: { readonly ifTrue: readonly AnyStep[]; readonly ifFalse: readonly AnyStep[] } = step;
    const condition = this.#reduced(step.condition);
    if (isConstant(condition, true)) return before(ifTrue, rest);
    if (isConstant(condition, false)) return before(ifFalse, rest);
    const negation = not(condition);
    const guardedBy = (holds: Value, ending: readonly AnyStep[]): Steps => {
      made.push(branch(holds, ending, []));
      this.#learn(holds === condition ? negation : condition);
      return before(holds === condition ? ifFalse : ifTrue, rest);
    };
    if (ends(ifFalse) && !ends(ifTrue)) return guardedBy(negation, this.side(ifFalse, [negation]));
    const a = this.side(ifTrue, [condition]);
    if (ends(a)) return guardedBy(condition, a);
    const b = this.side(ifFalse, [negation]);
    if (ends(b) && rest !== null) return guardedBy(negation, b);
    if (ends(b)) made.push(branch(negation, b, []), ...a);
    // What is not understood is so on both paths.
    else if (isNotUnderstood(a) && isNotUnderstood(b) && JSON.stringify(a) === JSON.stringify(b)) made.push(...a);
    else made.push(a.length === 0 ? branch(negation, b, []) : branch(condition, a, b));
    return rest;
  }

  #learn(condition: Value): void {
    for (const one of conjuncts(condition)) {
      const key = keyOf(one) ?? one;
      if (this.#known.has(key)) continue;
      this.#known.add(key);
      this.#learned.push(key);
    }
  }

  /** The condition without what is known. */
  #reduced(condition: Value): Value {
    if (this.#holds(condition)) return { kind: 'constant', value: true };
    if (this.#holds(not(condition))) return { kind: 'constant', value: false };
    if (condition.kind !== 'expression') return condition;
    const [first, second] = condition.operands;
    if (first === undefined || second === undefined) return condition;
    if (condition.operator === 'and') return allOf([this.#reduced(first), this.#reduced(second)]);
    return condition.operator === 'or' ? either(this.#reduced(first), this.#reduced(second)) : condition;
  }

  #holds(condition: Value): boolean {
    return this.#known.has(keyOf(condition) ?? condition);
  }
}

function branch(condition: Value, ifTrue: readonly AnyStep[], ifFalse: readonly AnyStep[]): AnyStep {
  return { kind: 'branch', condition, ifTrue, ifFalse } as AnyStep;
}

function isNotUnderstood(steps: readonly AnyStep[]): boolean {
  return steps.every(({ kind }) => kind === 'not-understood');
}

function ends(steps: readonly AnyStep[]): boolean {
  const last = steps.at(-1);
  return last?.kind === 'return' || last?.kind === 'abort';
}

function conjuncts(condition: Value): readonly Value[] {
  if (condition.kind !== 'expression' || condition.operator !== 'and') return [condition];
  return [condition, ...condition.operands.flatMap(conjuncts)];
}
