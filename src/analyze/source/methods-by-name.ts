/** Methods of the sources by their names, for calls on objects of which nothing says what they are. */
import type ts from 'typescript';
import { type Abstract, type FunctionValue, unknown } from './abstract-value.ts';
import { calledName, type OutsideCall } from './called-name.ts';
import { isOutside } from './drivers/opaque-handle.ts';
import type { Machine } from './machine.ts';
import type { Project } from './project.ts';
import { nameOf } from './transactions.ts';

/** What lists and maps have, too: the name alone says nothing. */
const common =
  /^(?:get|set|add|has|delete|clear|push|pop|shift|map|filter|find|forEach|some|every|keys|values|then|catch|call|apply|bind|on|emit|log|send|end|close)$/;

const known = new WeakMap<Project, ReadonlyMap<string, readonly ts.MethodDeclaration[]>>();

export function methodsByName(project: Project): ReadonlyMap<string, readonly ts.MethodDeclaration[]> {
  const before = known.get(project);
  if (before !== undefined) return before;
  const { ts, files } = project;
  const methods = new Map<string, ts.MethodDeclaration[]>();
  const visit = (node: ts.Node): void => {
    if (ts.isMethodDeclaration(node) && node.body !== undefined) {
      const name = nameOf(node, ts);
      if (name !== undefined && !common.test(name)) methods.set(name, [...(methods.get(name) ?? []), node]);
    }
    ts.forEachChild(node, visit);
  };
  files.forEach(visit);
  known.set(project, methods);
  return methods;
}

/** `request.filters.applyTo(query)`: what takes a handle or a query, and is the one method of a class that has the name. */
export const methodByName: OutsideCall = (machine, callee, args, at) => {
  const { ts } = machine.project;
  if (!isOutside(callee) || !ts.isCallExpression(at) || !ts.isPropertyAccessExpression(at.expression)) return undefined;
  if (!args.some((arg) => arg.kind === 'native' && arg.isHandle)) return undefined;
  const name = at.expression.name.text;
  const [only, ...others] = methodsByName(machine.project).get(name) ?? [];
  const method = only === undefined || others.length > 0 ? undefined : ofUnknownObject(machine, only);
  if (method === undefined) return undefined;
  machine.assumed.add(`${calledName(machine, at)} is the one method of the sources that is named ${name}`);
  return machine.call(method, args, at);
};

/** Of its object only the class is known. */
function ofUnknownObject(machine: Machine, node: ts.MethodDeclaration): FunctionValue | undefined {
  const { ts, checker } = machine.project;
  const { parent } = node;
  const symbol =
    ts.isClassDeclaration(parent) && parent.name !== undefined ? checker.getSymbolAtLocation(parent.name) : undefined;
  const type = symbol === undefined ? undefined : machine.evaluateSymbol(symbol);
  const isStatic = (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Static) !== 0;
  if (type?.kind !== 'class' || isStatic) return undefined;
  const self: Abstract = {
    kind: 'object',
    properties: new Map(),
    of: type,
    rest: unknown(`what ${type.node.name?.text ?? 'an object'} has`),
  };
  return { kind: 'function', node, scope: type.scope, self };
}
