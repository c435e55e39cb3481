/** Variables of files that the program sets again: what one holds when a unit runs is not what it held first. */
import type ts from 'typescript';
import type { Project } from './project.ts';

const known = new WeakMap<Project, ReadonlySet<ts.Symbol>>();

export function isReassigned(project: Project, symbol: ts.Symbol): boolean {
  const symbols = known.get(project) ?? reassignedIn(project);
  known.set(project, symbols);
  return symbols.has(symbol);
}

/** O(size of the sources) */
function reassignedIn({ ts, checker, files }: Project): ReadonlySet<ts.Symbol> {
  const found = new Set<ts.Symbol>();
  const add = (target: ts.Node): void => {
    const symbol = ts.isIdentifier(target) ? checker.getSymbolAtLocation(target) : undefined;
    if (symbol !== undefined) found.add(symbol);
    else if (ts.isArrayLiteralExpression(target) || ts.isObjectLiteralExpression(target)) ts.forEachChild(target, add);
  };
  const isAssignment = (kind: ts.SyntaxKind): boolean =>
    kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
  const isStep = ({ operator }: ts.PrefixUnaryExpression | ts.PostfixUnaryExpression): boolean =>
    operator === ts.SyntaxKind.PlusPlusToken || operator === ts.SyntaxKind.MinusMinusToken;
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) add(node.left);
    if ((ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) && isStep(node)) add(node.operand);
    ts.forEachChild(node, visit);
  };
  files.forEach(visit);
  return found;
}
