/** How the code of a unit is called from outside of its sources: by the name under which its file exports it. */
import type ts from 'typescript';
import type { EntryParameter, ExportedFunction, UnitEntry } from '../application.ts';
import type { FunctionNode, FunctionValue } from './abstract-value.ts';
import type { FoundUnit } from './machine.ts';
import type { Project } from './project.ts';

/** Of the statements at the top of a file. */
export const entryOfFile: UnitEntry = { kind: 'none', reason: 'it is what its file does when it loads' };

export function entryOf(project: Project, { functions, kind }: FoundUnit): UnitEntry {
  if (kind === 'callback') return none('it is given to a library, which calls it');
  const of: ExportedFunction[] = [];
  for (const fn of functions) {
    const found = exportedFunction(project, fn);
    if ('reason' in found) return none(found.reason);
    of.push(found);
  }
  const [first, last] = [of[0], functions.at(-1)?.node];
  if (first === undefined || last === undefined) return none('it has no function');
  if (kind === 'function')
    return { kind, of: first, parameters: last.parameters.map((parameter) => entryParameter(project, parameter)) };
  // A handler of one parameter takes the context of another framework than Express.
  if (last.parameters.length < 2) return none('it does not take a request and a response');
  return { kind: 'handlers', of };
}

function none(reason: string): UnitEntry {
  return { kind: 'none', reason };
}

function exportedFunction(
  project: Project,
  { node, self }: FunctionValue,
): ExportedFunction | { readonly reason: string } {
  const { ts, checker } = project;
  const { file, line } = project.place(node);
  if (self !== null || ts.isMethodDeclaration(node)) return { reason: 'it is a method, and its object is not known' };
  const module = checker.getSymbolAtLocation(node.getSourceFile());
  const exported = module === undefined ? [] : checker.getExportsOfModule(module);
  const symbol = exported.find((one) => declares(project, one, node));
  if (symbol === undefined) return { reason: `no file exports the function at ${file}:${line}` };
  return { file, export: symbol.name === 'export=' ? 'default' : symbol.name };
}

function declares({ ts, checker }: Project, exported: ts.Symbol, node: FunctionNode): boolean {
  const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
  const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
  const declarations = (symbol.declarations ?? []).flatMap((one) =>
    ts.isShorthandPropertyAssignment(one)
      ? (checker.getShorthandAssignmentValueSymbol(one)?.declarations ?? [])
      : [one],
  );
  return declarations.some((one) => one === node || unwrapped(ts, valueOf(ts, one)) === node);
}

/** What the declared name stands for. */
function valueOf(typescript: typeof ts, node: ts.Declaration): ts.Expression | undefined {
  if (typescript.isVariableDeclaration(node) || typescript.isPropertyAssignment(node)) return node.initializer;
  if (typescript.isExportAssignment(node)) return node.expression;
  if (typescript.isBinaryExpression(node)) return node.right;
  // `export * as items from './items'`: a file has no parent.
  if (typescript.isSourceFile(node)) return undefined;
  // `exports.pay = ...`
  return typescript.isBinaryExpression(node.parent) ? node.parent.right : undefined;
}

function unwrapped(typescript: typeof ts, node: ts.Expression | undefined): ts.Expression | undefined {
  const isWrapper =
    node !== undefined &&
    (typescript.isParenthesizedExpression(node) ||
      typescript.isAsExpression(node) ||
      typescript.isSatisfiesExpression(node));
  return isWrapper ? unwrapped(typescript, node.expression) : node;
}

function entryParameter(
  { ts }: Project,
  { name, questionToken, initializer, dotDotDotToken }: ts.ParameterDeclaration,
): EntryParameter {
  const isOptional = questionToken !== undefined || initializer !== undefined || dotDotDotToken !== undefined;
  if (ts.isIdentifier(name)) return { name: name.text, isOptional };
  const properties = name.elements.flatMap((element) =>
    ts.isBindingElement(element)
      ? [
          {
            name: (element.propertyName ?? element.name).getText(),
            isOptional: element.initializer !== undefined || element.dotDotDotToken !== undefined,
          },
        ]
      : [],
  );
  return { properties, isOptional };
}
