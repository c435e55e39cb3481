/** Object literals, with what is spread in them. */
import type ts from 'typescript';
import { type Abstract, type Cell, type ObjectValue, type Scope, undefinedValue, unknown } from './abstract-value.ts';
import type { Machine } from './machine.ts';
import { makeFunction } from './make-function.ts';
import { evaluateIdentifier, exportsOf } from './names.ts';
import { choose, constantOf, isNothing } from './value-arithmetic.ts';

export function objectLiteral(machine: Machine, node: ts.ObjectLiteralExpression, scope: Scope): Abstract {
  const { ts } = machine.project;
  let object = newObject(new Map(), null);
  for (const property of node.properties) {
    if (ts.isSpreadAssignment(property)) {
      object = withSpread(object, spreadValue(machine, property.expression, scope));
      continue;
    }
    const { properties } = object;
    const name = propertyName(machine, property.name, scope);
    if (name === undefined) {
      object = { ...object, rest: unknown('an object with computed names') };
      continue;
    }
    if (ts.isPropertyAssignment(property))
      properties.set(name, { value: machine.evaluate(property.initializer, scope) });
    else if (ts.isShorthandPropertyAssignment(property))
      properties.set(name, { value: evaluateIdentifier(machine, property.name, scope) });
    else properties.set(name, { value: makeFunction(machine, property, scope) });
  }
  return object;
}

function newObject(properties: Map<string, Cell>, rest: Abstract | null): ObjectValue {
  return { kind: 'object', properties, of: null, rest };
}

/** `...(flag && { paid: true })` spreads nothing where the left side is false. */
function spreadValue(machine: Machine, node: ts.Expression, scope: Scope): Abstract {
  const { ts } = machine.project;
  let inner = node;
  while (ts.isParenthesizedExpression(inner)) inner = inner.expression;
  const value = machine.settle(machine.evaluate(inner, scope), inner);
  if (value.kind === 'external' && value.module === '#file') return exportsOf(machine, value.path[0] ?? '');
  const isGuarded = ts.isBinaryExpression(inner) && inner.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken;
  return isGuarded && value.kind === 'choice' ? { ...value, ifFalse: undefinedValue } : value;
}

/**
 * The object with what is spread behind its properties. Each side of a choice is an object with what stands before, so that no path loses it.
 * @param known of the sides that choices within choices share
 */
function withSpread(before: ObjectValue, spread: Abstract, known = new Map<Abstract, ObjectValue>()): ObjectValue {
  const found = known.get(spread) ?? spreadBehind(before, spread, known);
  known.set(spread, found);
  return found;
}

function spreadBehind(before: ObjectValue, spread: Abstract, known: Map<Abstract, ObjectValue>): ObjectValue {
  if (isNothing(spread) || spread.kind === 'never' || constantOf(spread) !== undefined) return before;
  if (spread.kind === 'object') {
    const { properties, rest } = spread.rest === null ? before : withSpread(before, spread.rest, known);
    const copied = [...spread.properties].map(([name, { value }]): [string, Cell] => [name, { value }]);
    return newObject(new Map([...properties, ...copied]), rest);
  }
  const { rest } = before;
  if (spread.kind === 'choice') {
    const [ifTrue, ifFalse] = [spread.ifTrue, spread.ifFalse].map((side) => withSpread(before, side, known));
    return newObject(new Map(), choose(spread.condition, ifTrue as ObjectValue, ifFalse as ObjectValue));
  }
  if (rest === null) return { ...before, rest: spread };
  if (rest.kind !== 'choice') return { ...before, rest: unknown('a field of several objects') };
  const [ifTrue, ifFalse] = [rest.ifTrue, rest.ifFalse].map((side) =>
    withSpread(withSpread(newObject(new Map(), null), side), spread),
  ) as [ObjectValue, ObjectValue];
  return { ...before, rest: choose(rest.condition, ifTrue, ifFalse) };
}

export function propertyName(machine: Machine, name: ts.PropertyName, scope: Scope): string | undefined {
  const { ts } = machine.project;
  if (ts.isComputedPropertyName(name)) {
    const value = constantOf(machine.evaluate(name.expression, scope));
    return value === undefined ? undefined : String(value);
  }
  return ts.isPrivateIdentifier(name) || ts.isIdentifier(name)
    ? name.text
    : name.getText().replaceAll(/^['"]|['"]$/g, '');
}
