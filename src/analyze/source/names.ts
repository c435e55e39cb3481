/** What a name of the source stands for: a variable of the scope, a declaration of a file, an import. */
import type ts from 'typescript';
import {
  type Abstract,
  type Cell,
  constant,
  type External,
  fromOutside,
  type FunctionNode,
  LazyCell,
  type ObjectValue,
  plain,
  Scope,
  undefinedValue,
  unknown,
} from './abstract-value.ts';
import type { Machine } from './machine.ts';
import { isReassigned } from './reassigned.ts';
import { constantOf } from './value-arithmetic.ts';

export function evaluateIdentifier(machine: Machine, node: ts.Identifier, scope: Scope): Abstract {
  const { ts, checker } = machine.project;
  if (node.text === 'undefined') return undefinedValue;
  const isShorthand = ts.isShorthandPropertyAssignment(node.parent);
  const symbol = isShorthand
    ? checker.getShorthandAssignmentValueSymbol(node.parent)
    : checker.getSymbolAtLocation(node);
  if (symbol === undefined || (symbol.declarations ?? []).length === 0) {
    return { kind: 'external', module: '', path: [node.text] };
  }
  return scope.find(symbol)?.value ?? evaluateSymbol(machine, symbol);
}

export function evaluateSymbol(machine: Machine, symbol: ts.Symbol): Abstract {
  const { ts, checker } = machine.project;
  if ((symbol.flags & ts.SymbolFlags.Alias) === 0)
    return machine.globals.value(symbol, () => evaluateDeclaration(machine, symbol));
  const [declaration] = symbol.declarations ?? [];
  // In JavaScript, a variable that is set by require() is an alias.
  if (declaration !== undefined && (ts.isVariableDeclaration(declaration) || ts.isBindingElement(declaration))) {
    return machine.globals.value(symbol, () => evaluateDeclaration(machine, symbol));
  }
  const outside = externalAlias(machine, symbol);
  if (outside !== undefined) return outside;
  const target = checker.getAliasedSymbol(symbol);
  // A variable with properties, `db.isTest = true`, is a namespace too.
  if (target.valueDeclaration !== undefined && ts.isSourceFile(target.valueDeclaration))
    return { kind: 'external', module: '#file', path: [target.valueDeclaration.fileName] };
  return (target.declarations ?? []).length === 0
    ? unknown(`what ${symbol.name} is`)
    : machine.globals.value(target, () => evaluateDeclaration(machine, target));
}

/** The module outside the sources that an import names, also through files that export it again. */
export function externalAlias(machine: Machine, start: ts.Symbol): External | undefined {
  const { ts, checker } = machine.project;
  let symbol: ts.Symbol | undefined = start;
  for (let step = 0; symbol !== undefined && step < 10; step++) {
    const node: ts.Declaration | undefined = symbol.declarations?.[0];
    if (node === undefined) return undefined;
    const specifier = moduleSpecifier(machine, node);
    if (specifier !== undefined && machine.project.resolve(specifier, node.getSourceFile()) === undefined) {
      if (ts.isImportSpecifier(node) || ts.isExportSpecifier(node))
        return { kind: 'external', module: specifier, path: [(node.propertyName ?? node.name).text] };
      if (ts.isImportClause(node)) return { kind: 'external', module: specifier, path: ['default'] };
      return { kind: 'external', module: specifier, path: [] };
    }
    if ((symbol.flags & ts.SymbolFlags.Alias) === 0) return undefined;
    symbol = checker.getImmediateAliasedSymbol(symbol);
  }
  return undefined;
}

function moduleSpecifier(machine: Machine, node: ts.Node): string | undefined {
  const { ts } = machine.project;
  if (ts.isImportEqualsDeclaration(node)) {
    const { moduleReference: reference } = node;
    return ts.isExternalModuleReference(reference) && ts.isStringLiteralLike(reference.expression)
      ? reference.expression.text
      : undefined;
  }
  for (let parent: ts.Node = node; !ts.isSourceFile(parent); parent = parent.parent) {
    if (ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent)) {
      const { moduleSpecifier: specifier } = parent;
      return specifier !== undefined && ts.isStringLiteralLike(specifier) ? specifier.text : undefined;
    }
    if (ts.isStatement(parent)) return undefined;
  }
  return undefined;
}

function evaluateDeclaration(machine: Machine, symbol: ts.Symbol): Abstract {
  const { ts } = machine.project;
  const node = symbol.valueDeclaration ?? symbol.declarations?.[0];
  const { scope } = machine.globals;
  if (node === undefined) return unknown(`what ${symbol.name} is`);
  if (ts.isFunctionDeclaration(node)) {
    const implementation = symbol.declarations?.find(
      (one): one is ts.FunctionDeclaration => ts.isFunctionDeclaration(one) && one.body !== undefined,
    );
    return { kind: 'function', node: (implementation ?? node) as FunctionNode, scope, self: null };
  }
  if (ts.isClassDeclaration(node)) return { kind: 'class', node, scope };
  if (ts.isVariableDeclaration(node)) {
    const declared = node.initializer === undefined ? undefinedValue : machine.evaluate(node.initializer, scope);
    const isOpen = (constantOf(declared) ?? null) !== null && isReassigned(machine.project, symbol);
    if (isOpen) return fromOutside(`what ${symbol.name} is at that time`);
    return declared.kind === 'undefined' ? (machine.ofType(node.type, scope) ?? declared) : declared;
  }
  if (ts.isExportAssignment(node)) return machine.evaluate(node.expression, scope);
  if (ts.isBinaryExpression(node)) return machine.evaluate(node.right, scope);
  // `exports.pay = ...`
  if (ts.isPropertyAccessExpression(node) && ts.isBinaryExpression(node.parent)) {
    return machine.evaluate(node.parent.right, scope);
  }
  if (ts.isEnumMember(node))
    return node.initializer === undefined ? constant(node.name.getText()) : machine.evaluate(node.initializer, scope);
  if (ts.isEnumDeclaration(node)) {
    const cells = node.members.map((member): [string, Cell] => [
      member.name.getText(),
      {
        value:
          member.initializer === undefined
            ? constant(member.name.getText())
            : machine.evaluate(member.initializer, scope),
      },
    ]);
    return { kind: 'object', properties: new Map(cells), of: null, rest: null };
  }
  if (ts.isBindingElement(node)) return evaluateBinding(machine, node, symbol);
  if (ts.isShorthandPropertyAssignment(node)) return evaluateIdentifier(machine, node.name, scope);
  if (ts.isPropertyAssignment(node)) return machine.evaluate(node.initializer, scope);
  if (ts.isParameter(node)) return machine.ofType(node.type, scope) ?? plain({ kind: 'argument', name: symbol.name });
  return unknown(`what ${symbol.name} is`);
}

/** `const { pool } = require('./db')` of a file. */
function evaluateBinding(machine: Machine, node: ts.BindingElement, symbol: ts.Symbol): Abstract {
  const { ts } = machine.project;
  let pattern: ts.Node = node;
  while (!ts.isVariableDeclaration(pattern) && !ts.isSourceFile(pattern)) pattern = pattern.parent;
  if (!ts.isVariableDeclaration(pattern) || pattern.initializer === undefined) return unknown(`what ${symbol.name} is`);
  const scope = new Scope(machine.globals.scope);
  machine.bind(pattern.name, machine.evaluate(pattern.initializer, scope), scope);
  return scope.find(symbol)?.value ?? unknown(`what ${symbol.name} is`);
}

/** A member of a file's exports. */
export function exportOf(machine: Machine, fileName: string, name: string): Abstract {
  const { ts, checker, files } = machine.project;
  const file = files.find((one) => one.fileName === fileName);
  const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
  const exported = module?.exports;
  const symbol =
    exported?.get(ts.escapeLeadingUnderscores(name)) ??
    (module === undefined ? undefined : checker.getExportsOfModule(module).find((one) => one.name === name));
  if (symbol !== undefined) return evaluateSymbol(machine, symbol);
  const whole = exported?.get(ts.InternalSymbolName.ExportEquals);
  if (whole !== undefined) return machine.member(evaluateSymbol(machine, whole), name, file as ts.Node);
  return name === 'default' && exported !== undefined
    ? { kind: 'external', module: '#file', path: [fileName] }
    : undefinedValue;
}

/** All exports of a file, as an object: `{ ...schema }` of `import * as schema`. */
export function exportsOf(machine: Machine, fileName: string): ObjectValue {
  const { checker, files } = machine.project;
  const file = files.find((one) => one.fileName === fileName);
  const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
  const symbols = module === undefined ? [] : checker.getExportsOfModule(module);
  const cells = symbols.map((symbol): [string, Cell] => [
    symbol.name,
    new LazyCell(() => evaluateSymbol(machine, symbol)),
  ]);
  return { kind: 'object', properties: new Map(cells), of: null, rest: null };
}

/** What `module.exports = value` gives, where a file has it. */
export function wholeExport(machine: Machine, fileName: string): Abstract | undefined {
  const { ts, checker, files } = machine.project;
  const file = files.find((one) => one.fileName === fileName);
  const whole =
    file === undefined
      ? undefined
      : checker.getSymbolAtLocation(file)?.exports?.get(ts.InternalSymbolName.ExportEquals);
  return whole === undefined ? undefined : evaluateSymbol(machine, whole);
}
