/**
 * Functions that lead to a statement and that nothing in the sources calls, as far as the reader sees: a handler in an object that a framework takes,
 * what a service has, a closure in a map. Each is a unit, with what it closes over.
 */
import type ts from 'typescript';
import type { FunctionValue } from './abstract-value.ts';
import { injectedInstance } from './calls.ts';
import type { FoundUnit, Machine } from './machine.ts';
import { nameOf } from './transactions.ts';
import { withinLimits } from './within-limits.ts';

export function withoutCaller(machine: Machine, functions: readonly ts.Node[]): readonly FoundUnit[] {
  return functions.flatMap((node): readonly FoundUnit[] => {
    machine.restart();
    let fn = machine.made.get(node) ?? functionOfFile(machine, node);
    // The constructor of its class runs.
    if (fn === undefined) withinLimits(machine, node, () => (fn = methodOfClass(machine, node)));
    if (fn?.node.body === undefined || isDead(machine, node)) return [];
    const { file, line } = machine.place(node);
    const name = nameOf(fn.node, machine.project.ts) ?? `${file}:${line}`;
    return [{ name, node, functions: [fn], kind: 'function', isCallerLost: true }];
  });
}

/** The function, or the class that has it, has a name that no other place of its file has. */
function isDead({ project: { ts } }: Machine, node: ts.Node): boolean {
  const declared = ts.isFunctionDeclaration(node) ? node : node.parent;
  if (!ts.isFunctionDeclaration(declared) && !ts.isVariableDeclaration(declared) && !ts.isClassDeclaration(declared))
    return false;
  if (declared.name === undefined || !ts.isIdentifier(declared.name)) return false;
  const { text } = declared.name;
  return (
    node.getSourceFile().text.split(new RegExp(`(?<![\\w$])${text.replaceAll('$', String.raw`\$`)}(?![\\w$])`))
      .length <= 2
  );
}

function functionOfFile({ project: { ts }, globals }: Machine, node: ts.Node): FunctionValue | undefined {
  return ts.isFunctionDeclaration(node) && ts.isSourceFile(node.parent)
    ? { kind: 'function', node, scope: globals.scope, self: null }
    : undefined;
}

/** A method of a class at the top of a file, of the object that a container would inject. */
function methodOfClass(machine: Machine, node: ts.Node): FunctionValue | undefined {
  const { ts, checker } = machine.project;
  if (!ts.isMethodDeclaration(node) || !ts.isClassDeclaration(node.parent) || !ts.isSourceFile(node.parent.parent))
    return undefined;
  const symbol = node.parent.name === undefined ? undefined : checker.getSymbolAtLocation(node.parent.name);
  const type = symbol === undefined ? undefined : machine.evaluateSymbol(symbol);
  if (type?.kind !== 'class') return undefined;
  const isStatic = (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Static) !== 0;
  return {
    kind: 'function',
    node,
    scope: type.scope,
    self: isStatic ? type : injectedInstance(machine, type, node),
  };
}
