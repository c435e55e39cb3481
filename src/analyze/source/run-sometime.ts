/** Functions of the sources that other code calls. */
import type ts from 'typescript';
import type { Value } from '../application.ts';
import { type Abstract, type FunctionValue, plain } from './abstract-value.ts';
import { computedFrom } from './conditions.ts';
import type { Completion, Machine } from './machine.ts';

/** Of code that calls a function of the sources. */
export interface OutsideCaller {
  /** How often, as a clause. */
  readonly reason: string;
  /** From which it computes that, and what it calls it with. */
  readonly given: readonly Value[];
}

/** Runs a function any number of times. */
export function runSometime(machine: Machine, fn: FunctionValue, { reason, given }: OutsideCaller, at: ts.Node): void {
  const body = (): Completion => {
    const args = fn.node.parameters.map(({ name }) => plain(computedFrom(`what ${name.getText()} is`, given)));
    const result = machine.settle(machine.invoke(fn, args, at), at);
    return { end: result.kind === 'never' ? 'throw' : 'none', ended: [] };
  };
  const { steps, result } = machine.emitter.apart(() => machine.memory.during(body));
  if (steps.length > 0 || result.writes.size > 0) machine.loop('pass', computedFrom(reason, given), body, at);
}

export function functionsIn(arg: Abstract, depth = 0): readonly FunctionValue[] {
  if (arg.kind === 'function') return [arg];
  if (arg.kind === 'external') return arg.made ?? [];
  if (arg.kind === 'array' && depth < 3) return arg.elements.value.flatMap((one) => functionsIn(one, depth + 1));
  if (arg.kind === 'object' && arg.of === null && depth < 3)
    return [...arg.properties.values()].flatMap((cell) => functionsIn(cell.value, depth + 1));
  return [];
}
