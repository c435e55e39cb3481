import type { Abstract, FunctionNode, FunctionValue, Scope } from './abstract-value.ts';
import type { Machine } from './machine.ts';

/** A function as it is made. The machine remembers it, since its caller may not be found. */
export function makeFunction(
  machine: Machine,
  node: FunctionNode,
  scope: Scope,
  self: Abstract | null = scope.self,
): FunctionValue {
  const fn: FunctionValue = { kind: 'function', node, scope, self };
  machine.made.set(node, fn);
  return fn;
}
