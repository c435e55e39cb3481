import type ts from 'typescript';
import type { Machine } from './machine.ts';

/** A method of a Map or Set, as its declaration says: SQL text is a key there, it does not run. */
export function isMapCall(machine: Machine, at: ts.CallExpression): boolean {
  const { ts, checker } = machine.project;
  const { expression: callee } = at;
  if (!ts.isPropertyAccessExpression(callee)) return false;
  const owner = ts.isPropertyAccessExpression(callee.expression) ? callee.expression.name : callee.expression;
  const declaration = checker.getSymbolAtLocation(owner)?.valueDeclaration;
  if (
    declaration === undefined ||
    !(ts.isVariableDeclaration(declaration) || ts.isPropertyDeclaration(declaration) || ts.isParameter(declaration))
  )
    return false;
  const { type, initializer } = declaration;
  const isMap = (name: ts.Node): boolean => /^(?:Readonly|Weak)?(?:Map|Set)$/.test(name.getText());
  return (
    (initializer !== undefined && ts.isNewExpression(initializer) && isMap(initializer.expression)) ||
    (type !== undefined && ts.isTypeReferenceNode(type) && isMap(type.typeName))
  );
}
