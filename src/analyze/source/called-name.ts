import type ts from 'typescript';
import type { Machine } from './machine.ts';
import { oneLine } from './expressions.ts';

/** What a call calls, as its source says it. */
export function calledName(machine: Machine, at: ts.Node): string {
  const { ts } = machine.project;
  return oneLine(ts.isCallExpression(at) || ts.isNewExpression(at) ? at.expression.getText() : at.getText());
}
