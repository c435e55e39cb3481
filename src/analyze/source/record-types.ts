/** An argument whose type says its fields: a DTO class, an interface, a row's type. */
import type ts from 'typescript';
import { type Abstract, objectOf } from './abstract-value.ts';
import type { Machine } from './machine.ts';

type Fields = ReadonlySet<string>;

/** The argument as an object of all fields of its type, also of those that a caller may leave out; `undefined` where the sources do not say them. */
export function recordOf(machine: Machine, value: Abstract, type: ts.TypeNode, at: ts.Node): Abstract | undefined {
  if (value.kind !== 'value' || value.value.kind !== 'argument') return undefined;
  const fields = fieldsOfType(machine, type, depthMax);
  if (fields === null || fields.size === 0) return undefined;
  return objectOf(Object.fromEntries([...fields].map((name) => [name, machine.member(value, name, at)])));
}

const depthMax = 6;

function fieldsOfType(machine: Machine, type: ts.TypeNode, depth: number): Fields | null {
  const { ts } = machine.project;
  if (depth === 0) return null;
  if (ts.isParenthesizedTypeNode(type)) return fieldsOfType(machine, type.type, depth);
  if (ts.isTypeLiteralNode(type)) return fieldsOfMembers(machine, type.members);
  if (ts.isIntersectionTypeNode(type)) return union(type.types.map((one) => fieldsOfType(machine, one, depth - 1)));
  if (!ts.isTypeReferenceNode(type)) return null;
  const [first, second] = type.typeArguments ?? [];
  if (first !== undefined && ts.isIdentifier(type.typeName)) {
    const inner = fieldsOfType(machine, first, depth - 1);
    return inner === null ? null : mapped(type.typeName.text, inner, namesIn(machine, second));
  }
  return fieldsOfName(machine, type.typeName, depth);
}

/** `Partial<T>`, `Omit<T, 'id'>`, and the functions of NestJS for classes. */
function mapped(utility: string, fields: Fields, names: Fields | null): Fields | null {
  if (/^(?:Partial|Required|Readonly|PartialType)$/.test(utility)) return fields;
  if (names === null) return null;
  if (/^(?:Omit|OmitType)$/.test(utility)) return new Set([...fields].filter((name) => !names.has(name)));
  return /^(?:Pick|PickType)$/.test(utility) ? names : null;
}

/** `'id' | 'name'`, `['id', 'name'] as const` */
function namesIn(machine: Machine, node: ts.Node | undefined): Fields | null {
  const { ts } = machine.project;
  if (node === undefined) return null;
  const names = new Set<string>();
  const visit = (one: ts.Node): void => {
    if (ts.isStringLiteralLike(one)) names.add(one.text);
    ts.forEachChild(one, visit);
  };
  visit(node);
  return names;
}

function fieldsOfName(machine: Machine, name: ts.Node, depth: number): Fields | null {
  const { ts, checker } = machine.project;
  let symbol = checker.getSymbolAtLocation(name);
  if (symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0) symbol = checker.getAliasedSymbol(symbol);
  const [declaration] = symbol?.declarations ?? [];
  if (declaration === undefined) return null;
  if (ts.isTypeAliasDeclaration(declaration)) return fieldsOfType(machine, declaration.type, depth - 1);
  if (!ts.isInterfaceDeclaration(declaration) && !ts.isClassDeclaration(declaration)) return null;
  const parents = (declaration.heritageClauses ?? []).flatMap(({ token, types }) =>
    token === ts.SyntaxKind.ExtendsKeyword
      ? types.map((one) => fieldsOfParent(machine, one.expression, depth - 1))
      : [],
  );
  return union([fieldsOfMembers(machine, declaration.members), ...parents]);
}

/** `extends CreateUser`, `extends PartialType(CreateUser)` */
function fieldsOfParent(machine: Machine, parent: ts.Expression, depth: number): Fields | null {
  const { ts } = machine.project;
  if (depth === 0) return null;
  if (!ts.isCallExpression(parent)) return fieldsOfName(machine, parent, depth);
  const name = parent.expression.getText();
  const [first, second] = parent.arguments;
  if (name === 'IntersectionType') return union(parent.arguments.map((one) => fieldsOfParent(machine, one, depth - 1)));
  const inner = first === undefined ? null : fieldsOfParent(machine, first, depth - 1);
  return inner === null ? null : mapped(name, inner, namesIn(machine, second));
}

/** `null` where an object has methods: it is more than its fields. */
function fieldsOfMembers(machine: Machine, members: readonly (ts.TypeElement | ts.ClassElement)[]): Fields | null {
  const { ts } = machine.project;
  const names = new Set<string>();
  for (const member of members) {
    if (ts.isConstructorDeclaration(member)) continue;
    if (!ts.isPropertySignature(member) && !ts.isPropertyDeclaration(member)) return null;
    const isStatic = (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Static) !== 0;
    if (!isStatic && (ts.isIdentifier(member.name) || ts.isStringLiteralLike(member.name))) names.add(member.name.text);
  }
  return names;
}

function union(all: readonly (Fields | null)[]): Fields | null {
  const known = all.flatMap((fields) => (fields === null ? [] : [fields]));
  return known.length === all.length ? new Set(known.flatMap((fields) => [...fields])) : null;
}
