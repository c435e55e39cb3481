/**
 * Properties that a program gives to objects of which the reader has only the origin: `req.account = row`, `res.locals.user = user`, `row.total = n`. Of a
 * request or a row, that property has the value then; of any other, what is read under the name may have been computed from it.
 */
import type ts from 'typescript';
import type { Value } from '../application.ts';
import { absent, type Abstract, type Cell, type Choice, endsOf, plain, Scope, unknown } from './abstract-value.ts';
import { propertiesAddedTo } from './added-properties.ts';
import { computedFrom, isConstant, readsBehind } from './conditions.ts';
import { lineage } from './lineage.ts';
import type { Machine } from './machine.ts';
import { choose, conditionWhere, isNothing, valueOf } from './value-arithmetic.ts';

/** The name of properties whose names are computed. */
export const anyName = '[]';

export function setProperty(machine: Machine, owner: Abstract, name: string, value: Abstract, at: ts.Node): void {
  switch (owner.kind) {
    case 'object':
      if (!runSetter(machine, owner, name, value, at)) write(machine, owner.properties, name, value, absent);
      return;
    case 'native':
      write(machine, propertiesAddedTo(owner), name, value, absent);
      return;
    case 'choice':
      // Sides that choices share are set once.
      for (const end of endsOf(owner)) {
        if (isNothing(end) || end.kind === 'never') continue;
        const isIt = conditionOfEnd(owner, end);
        const before = isConstant(isIt, true) ? value : machine.member(end, name, at);
        setProperty(machine, end, name, choose(isIt, value, before), at);
      }
      return;
    default: {
      // `context.body = { isSaved }`
      if (owner.kind === 'value') machine.shown.push(valueOf(value));
      const key = keyOf(owner, name);
      if (key !== null) write(machine, machine.attached, key, value, machine.member(owner, name, at));
      else if (readsBehind([valueOf(value)])?.length !== 0) {
        const before = machine.attached.get(name)?.value;
        write(machine, machine.attached, name, before === undefined ? value : merged(name, [before, value]), absent);
      }
    }
  }
}

/** That the value is this one of its ends. Where another side has no properties, it is. */
function conditionOfEnd(value: Choice, end: Abstract): Value {
  return conditionWhere(
    value,
    (one) => one === end,
    (side) => side !== end && hasNoProperties(side),
  );
}

function hasNoProperties({ kind }: Abstract): boolean {
  return kind === 'undefined' || kind === 'value';
}

function write(machine: Machine, cells: Map<string, Cell>, name: string, value: Abstract, before: Abstract): void {
  const cell = cells.get(name) ?? { value: before };
  cells.set(name, cell);
  machine.memory.write(cell, value);
}

/** `null`: another value may be the same object. */
function keyOf(owner: Abstract, name: string): string | null {
  if (owner.kind === 'row') return JSON.stringify(['row', owner.statement, name]);
  const isArgument = owner.kind === 'value' && owner.value.kind === 'argument';
  return isArgument ? JSON.stringify([valueOf(owner), name]) : null;
}

/** What the property is of a request or a row to which it was given. */
export function attachedTo(machine: Machine, owner: Abstract, name: string): Abstract | undefined {
  const key = machine.attached.size === 0 ? null : keyOf(owner, name);
  return key === null ? undefined : machine.attached.get(key)?.value;
}

/** What is read under the name of an object that may have been given it. */
export function withAttached(machine: Machine, found: Abstract, name: string): Abstract {
  const given = machine.attached.get(name)?.value;
  const isValue = found.kind === 'value' || found.kind === 'undefined' || found.kind === 'external';
  return given === undefined || given === absent || !isValue ? found : merged(name, [found, given]);
}

/** A value that may be any of those that the unit gave to objects. */
export function allAttached({ attached }: Machine, own: Abstract): Abstract {
  return attached.size === 0 ? own : merged('a parameter', [own, ...[...attached.values()].map(({ value }) => value)]);
}

function merged(name: string, values: readonly Abstract[]): Abstract {
  return plain(computedFrom(`what ${name} is`, values.map(valueOf)));
}

export function setElement(
  machine: Machine,
  list: Extract<Abstract, { kind: 'array' }>,
  index: unknown,
  value: Abstract,
): void {
  const elements = list.elements.value;
  const isKnown = Number.isInteger(index) && Number(index) >= 0 && Number(index) <= elements.length;
  const all = [...elements, value].map(valueOf);
  machine.memory.write(
    list.elements,
    isKnown
      ? elements.toSpliced(Number(index), 1, value)
      : [plain(computedFrom('an element of a list that changed', all))],
  );
}

/** Under a computed name: any property may be the one. */
export function setAnyProperty(machine: Machine, owner: Abstract, value: Abstract, at: ts.Node): void {
  if (owner.kind === 'array') setElement(machine, owner, undefined, value);
  else if (owner.kind === 'object') {
    const isOther = plain({ kind: 'unknown', reason: 'which property is set' });
    for (const cell of owner.properties.values())
      machine.memory.write(cell, choose(valueOf(isOther), value, cell.value));
    owner.rest = unknown('an object with computed names');
  } else if (owner.kind === 'choice') {
    for (const end of endsOf(owner)) setAnyProperty(machine, end, value, at);
  } else setProperty(machine, owner, anyName, value, at);
}

/** `set total(value)` of the object's class. */
function runSetter(
  machine: Machine,
  owner: Extract<Abstract, { kind: 'object' }>,
  name: string,
  value: Abstract,
  at: ts.Node,
): boolean {
  const { ts } = machine.project;
  if (owner.of === null) return false;
  for (const { node, scope } of lineage(machine, owner.of))
    for (const member of node.members)
      if (ts.isSetAccessorDeclaration(member) && member.name.getText() === name && member.body !== undefined) {
        machine.invoke({ kind: 'function', node: member, scope: new Scope(scope, owner), self: owner }, [value], at);
        return true;
      }
  return false;
}
