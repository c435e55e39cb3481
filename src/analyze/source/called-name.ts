import type ts from 'typescript';
import type { Abstract } from './abstract-value.ts';
import type { Machine } from './machine.ts';
import { oneLine } from './expressions.ts';

/** What a call calls, as its source says it. */
export function calledName(machine: Machine, at: ts.Node): string {
  const { ts } = machine.project;
  return oneLine(ts.isCallExpression(at) || ts.isNewExpression(at) ? at.expression.getText() : at.getText());
}

/** What a call gives that leaves the sources; `undefined`: it is none of those that are known. */
export type OutsideCall = (
  machine: Machine,
  callee: Abstract,
  args: readonly Abstract[],
  at: ts.Node,
) => Abstract | undefined;

export interface OutsideMethod {
  readonly call: ts.CallExpression;
  readonly receiver: ts.Expression;
  readonly method: string;
}

/** `x.method(...)` where `x` is not made in the sources: what they can say of it is the method's name. */
export function outsideMethod({ project }: Machine, callee: Abstract, at: ts.Node): OutsideMethod | undefined {
  const { ts } = project;
  if ((callee.kind !== 'external' && callee.kind !== 'value') || !ts.isCallExpression(at)) return undefined;
  const { expression } = at;
  if (!ts.isPropertyAccessExpression(expression)) return undefined;
  return { call: at, receiver: expression.expression, method: expression.name.text };
}
