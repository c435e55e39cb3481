/** Functions of the sources that other code calls. */
import type ts from 'typescript';
import { type Abstract, type FunctionValue, unknown } from './abstract-value.ts';
import type { Completion, Machine } from './machine.ts';

/** Runs a function any number of times. */
export function runSometime(machine: Machine, fn: FunctionValue, reason: string, at: ts.Node): void {
  const body = (): Completion => {
    const args = fn.node.parameters.map(({ name }) => unknown(`what ${name.getText()} is`));
    const result = machine.settle(machine.invoke(fn, args, at), at);
    return { end: result.kind === 'never' ? 'throw' : 'none', ended: [] };
  };
  const { steps } = machine.emitter.apart(() => machine.memory.during(body));
  if (steps.length > 0) machine.loop('pass', { kind: 'unknown', reason }, body, at);
}

export function functionsIn(arg: Abstract, depth = 0): readonly FunctionValue[] {
  if (arg.kind === 'function') return [arg];
  if (arg.kind === 'external') return arg.made ?? [];
  if (arg.kind === 'array' && depth < 3) return arg.elements.value.flatMap((one) => functionsIn(one, depth + 1));
  if (arg.kind === 'object' && arg.of === null && depth < 3)
    return [...arg.properties.values()].flatMap((cell) => functionsIn(cell.value, depth + 1));
  return [];
}
