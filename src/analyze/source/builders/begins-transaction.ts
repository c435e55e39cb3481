import type ts from 'typescript';
import type { Project } from '../project.ts';

/** `await x.transaction()`: a transaction that methods of the result end. */
export function beginsTransaction(
  api: Project['ts'],
  { expression: callee, arguments: args, parent }: ts.CallExpression,
): boolean {
  const isCalled = api.isPropertyAccessExpression(callee) && callee.name.text === 'transaction';
  return isCalled && api.isAwaitExpression(parent) && args.every((arg) => api.isObjectLiteralExpression(arg));
}
