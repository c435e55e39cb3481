/** The line that a person looks for: where the SQL is, not the one line of a wrapper through which all statements pass. */
import type ts from 'typescript';
import type { FunctionNode } from './abstract-value.ts';
import type { Machine } from './machine.ts';

/** The driver's call or, while its text is a parameter of the function around it, the call of that function. */
export function statementSite(machine: Machine, at: ts.Node): ts.Node {
  let [site, argument] = [at, 0];
  for (const { fn, call } of machine.frames.toReversed()) {
    const text = machine.project.ts.isCallExpression(site) ? site.arguments[argument] : undefined;
    const parameter = fn === null || text === undefined ? undefined : parameterIn(machine, text, fn.node, 2);
    if (parameter === undefined) return site;
    [site, argument] = [call, parameter];
  }
  return site;
}

/**
 * Which argument of the function the expression is: counted from 0.
 * @param depth Variables between the expression and the parameter: `const text = args[0]`.
 */
function parameterIn(machine: Machine, node: ts.Node, fn: FunctionNode, depth: number): number | undefined {
  const { ts, checker } = machine.project;
  if (ts.isIdentifier(node)) {
    const declaration = checker.getSymbolAtLocation(node)?.valueDeclaration;
    if (declaration === undefined || !isWithin(declaration, fn)) return undefined;
    const index = fn.parameters.findIndex((parameter) => isWithin(declaration, parameter));
    if (index >= 0) return index;
    const isVariable = ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined && depth > 0;
    return isVariable ? parameterIn(machine, declaration.initializer, fn, depth - 1) : undefined;
  }
  if (ts.isElementAccessExpression(node) && ts.isNumericLiteral(node.argumentExpression)) {
    const rest = parameterIn(machine, node.expression, fn, depth);
    return rest === undefined ? undefined : rest + Number(node.argumentExpression.text);
  }
  if (ts.isPropertyAccessExpression(node)) return parameterIn(machine, node.expression, fn, depth);
  return ts.isSpreadElement(node) ? parameterIn(machine, node.expression, fn, depth) : undefined;
}

function isWithin(node: ts.Node, outer: ts.Node): boolean {
  return node.getSourceFile() === outer.getSourceFile() && node.pos >= outer.pos && node.end <= outer.end;
}
