/** Object literals, with what is spread in them. */
import type ts from 'typescript';
import type { Value } from '../application.ts';
import {
  absent,
  type Abstract,
  type Cell,
  endsOf,
  type ObjectValue,
  type Scope,
  undefinedValue,
  unknown,
} from './abstract-value.ts';
import type { Machine } from './machine.ts';
import { makeFunction } from './make-function.ts';
import { evaluateIdentifier, exportsOf } from './names.ts';
import { choose, constantOf, isNothing } from './value-arithmetic.ts';

export function objectLiteral(machine: Machine, node: ts.ObjectLiteralExpression, scope: Scope): Abstract {
  const { ts } = machine.project;
  let object = newObject(new Map(), null);
  for (const property of node.properties) {
    if (ts.isSpreadAssignment(property)) {
      const member = (of: Abstract, name: string): Abstract => machine.member(of, name, property);
      const value = spreadValue(machine, property.expression, scope);
      object = withSpread({ before: object, member, known: new Map() }, value);
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

/** What is spread behind the properties of one object. */
interface Spread {
  readonly before: ObjectValue;
  readonly member: (of: Abstract, name: string) => Abstract;
  /** Of the sides that choices within choices share. */
  readonly known: Map<Abstract, ObjectValue>;
}

/** The object with what is spread behind its properties: one object, whatever the choices, so that many spreads do not multiply. */
function withSpread(spread: Spread, value: Abstract): ObjectValue {
  const { known } = spread;
  const found = known.get(value) ?? spreadBehind(spread, value);
  known.set(value, found);
  return found;
}

function spreadBehind(spread: Spread, value: Abstract): ObjectValue {
  const { before } = spread;
  if (isNothing(value) || value.kind === 'never' || constantOf(value) !== undefined) return before;
  if (value.kind === 'object') {
    const { properties, rest } = value.rest === null ? before : withSpread(spread, value.rest);
    const copied = [...value.properties].map(([name, { value: one }]): [string, Cell] => [name, { value: one }]);
    return newObject(new Map([...properties, ...copied]), rest);
  }
  if (value.kind === 'choice') {
    const [ifTrue, ifFalse] = [withSpread(spread, value.ifTrue), withSpread(spread, value.ifFalse)];
    return eitherObject(spread, value.condition, ifTrue, ifFalse);
  }
  return { ...before, rest: restBehind(before.rest, value) };
}

function restBehind(rest: Abstract | null, spread: Abstract): Abstract {
  const isNone = rest === null || [...endsOf(rest)].every(isNothing);
  return isNone ? spread : unknown('a field of several objects');
}

/** Both objects as one: what only one of them has is absent on the other's path, or a property of its rest. */
function eitherObject({ member }: Spread, condition: Value, a: ObjectValue, b: ObjectValue): ObjectValue {
  if (a === b) return a;
  const valueIn = ({ properties, rest }: ObjectValue, name: string): Abstract =>
    properties.get(name)?.value ?? (rest === null ? absent : member(rest, name));
  const names = new Set([...a.properties.keys(), ...b.properties.keys()]);
  const properties = [...names].map((name): [string, Cell] => [
    name,
    { value: choose(condition, valueIn(a, name), valueIn(b, name)) },
  ]);
  const rest = a.rest === b.rest ? a.rest : choose(condition, a.rest ?? absent, b.rest ?? absent);
  return newObject(new Map(properties), rest);
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
