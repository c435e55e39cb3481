/** Calls: functions of the sources are run in place, drivers do what they do, and all others are functions of their arguments. */
import type ts from 'typescript';
import {
  type Abstract,
  type ClassValue,
  type External,
  type FunctionValue,
  fromOutside,
  LazyCell,
  type Native,
  never,
  type ObjectValue,
  plain,
  Scope,
  undefinedValue,
  unknown,
} from './abstract-value.ts';
import { functionsIn, runSometime } from './run-sometime.ts';
import { throwUnlessHolds } from './assertions.ts';
import { callKnown } from './known-functions.ts';
import { calledName } from './called-name.ts';
import { oneLine } from './expressions.ts';
import { lineage } from './lineage.ts';
import { type Completion, type Frame, normalCompletion, type Machine, type Returned } from './machine.ts';
import { bindParameters, onPaths, result, returnNow } from './statements.ts';
import { joined } from './control.ts';
import { startsAsSql } from './sql-text.ts';
import { choose, constantOf, valueOf } from './value-arithmetic.ts';
import { computedFrom, readsBehind } from './conditions.ts';
import type { Value } from '../application.ts';

const depthMax = 60;

/** Eight clauses of a statement that each depend on a condition of their own. */
export const pathsMax = 256;

/** Choices within choices share their sides. */
const paths = new WeakMap<Abstract, number>();

/** How often a call of it runs. */
function pathsOf(callee: Abstract): number {
  if (callee.kind !== 'choice') return 1;
  const count = paths.get(callee) ?? pathsOf(callee.ifTrue) + pathsOf(callee.ifFalse);
  paths.set(callee, count);
  return count;
}

export function call(machine: Machine, callee: Abstract, args: readonly Abstract[], at: ts.Node): Abstract {
  switch (callee.kind) {
    case 'function':
      return invoke(machine, callee, args, at);
    case 'native':
      return callee.call?.(args, at) ?? opaqueCall(machine, callee, args, at);
    case 'external': {
      const known = machine.external(callee);
      if (known !== callee) return call(machine, known, args, at);
      const given = callKnown(machine, callee, args, at);
      if (given !== undefined) return given;
      if (isUnused(machine, at)) throwUnlessHolds(machine, callee, args, calledName(machine, at));
      return opaqueCall(machine, callee, args, at);
    }
    case 'choice': {
      if (pathsOf(callee) > pathsMax) {
        machine.notUnderstood(at, `too many paths: ${calledName(machine, at)} differs on more than ${pathsMax} paths`);
        return unknown('what a call on too many paths gives');
      }
      let [a, b]: [Abstract, Abstract] = [never, never];
      machine.fork(
        callee.condition,
        () => ((a = call(machine, callee.ifTrue, args, at)), normalCompletion),
        () => ((b = call(machine, callee.ifFalse, args, at)), normalCompletion),
      );
      return choose(callee.condition, a, b);
    }
    default:
      return opaqueCall(machine, callee, args, at);
  }
}

/** Is it a statement by itself, awaited or not? */
function isUnused({ project: { ts } }: Machine, at: ts.Node): boolean {
  const whole = ts.isAwaitExpression(at.parent) ? at.parent : at;
  return ts.isExpressionStatement(whole.parent);
}

export function invoke(machine: Machine, fn: FunctionValue, args: readonly Abstract[], at: ts.Node): Abstract {
  const { node } = fn;
  if (node.body === undefined) return opaqueCall(machine, fn, args, at);
  const depth = machine.frames.filter((frame) => frame.fn?.node === node).length;
  if (depth > 1 || machine.frames.length > depthMax) {
    if (reachesDatabase(args)) machine.notUnderstood(at, 'a function that calls itself');
    return unknown('what a recursive call gives');
  }
  machine.called.add(node);
  const scope = new Scope(fn.scope, fn.self);
  const { emitter } = machine;
  const before = emitter.mark();
  const isHelper = args.some((arg) => arg.kind === 'function' || startsAsSql(String(constantOf(arg) ?? '')));
  const frame = {
    fn,
    isHelper,
    call: at,
    pathLength: before.path.length,
    returns: [] as Returned[],
    depth: machine.memory.depth,
  };
  const outer = machine.frames;
  machine.frames = [...outer, frame];
  bindParameters(machine, node, args, scope);
  const { body } = node;
  const { result: ran, writes } = machine.memory.during(() =>
    emitter.thrownBy(machine.handlers.length, () => {
      const completion = runBody(machine, body, scope);
      if (completion.end === 'none') returnNow(machine, undefinedValue);
    }),
  );
  machine.frames = outer;
  writeReturned(machine, frame, writes);
  // What it yields is not followed.
  if ('asteriskToken' in node && node.asteriskToken !== undefined) {
    emitter.continueAfter(before);
    return unknown('what a generator yields');
  }
  emitter.continueAfter(before);
  // What follows the call runs only where it did not throw.
  emitter.unless(ran.thrown);
  return onPaths(frame.returns, frame.pathLength, ({ value }) => value, choose) ?? never;
}

/** Behind a function, variables have what each path gave them on which it returned. @param all that it wrote, where it did not */
function writeReturned({ memory }: Machine, { returns, pathLength }: Frame, all: Returned['writes']): void {
  for (const cell of new Set([all, ...returns.map(({ writes }) => writes)].flatMap((one) => [...one.keys()]))) {
    const on = ({ writes }: Pick<Returned, 'writes'>): unknown => (writes.has(cell) ? writes.get(cell) : cell.value);
    const value = returns.length === 0 ? on({ writes: all }) : onPaths(returns, pathLength, on, joined);
    if (value !== cell.value) memory.write(cell, value);
  }
}

function runBody(machine: Machine, body: ts.ConciseBody, scope: Scope): Completion {
  if (machine.project.ts.isBlock(body)) return machine.block(body.statements, scope);
  const value = result(machine, machine.evaluate(body, scope), body);
  if (value.kind === 'never') return { end: 'throw', ended: [] };
  returnNow(machine, value);
  return { end: 'return', ended: [] };
}

/** A function outside the sources: of its arguments nothing is known any more but that it may call the functions among them. */
function opaqueCall(machine: Machine, callee: Abstract, args: readonly Abstract[], at: ts.Node): Abstract {
  const name = calledName(machine, at);
  const functions = args.flatMap((arg) => functionsIn(arg));
  const isListed = reachesDatabase(args) || machine.passesHandle(callee, args, at);
  if (isListed) machine.notUnderstood(at, `a database handle is passed to ${name}, which is not in the sources`);
  const given = givenTo(machine, callee, args);
  if (functions.length > 0 && callee.kind === 'external')
    return { ...callee, path: [...callee.path, '()'], made: [...(callee.made ?? []), ...functions], given, isListed };
  for (const fn of functions) runSometime(machine, fn, { reason: `how often ${name} calls its function`, given }, at);
  if (callee.kind === 'external')
    return { kind: 'external', module: callee.module, path: [...callee.path, '()'], given, isListed };
  return functions.length > 0 ? unknown(`what ${name} returns`) : plain(computedFrom(`what ${name} returns`, given));
}

/** What code outside the sources got in this unit, here and in earlier calls: a cache gives it again. */
function givenTo(machine: Machine, callee: Abstract, args: readonly Abstract[]): readonly Value[] {
  const module = callee.kind === 'external' ? callee.module : null;
  const before = machine.given.get(module) ?? [];
  const values = args.map(valueOf);
  if (module === null) machine.shown.push(...values);
  const now = [...(callee.kind === 'external' ? (callee.given ?? []) : [valueOf(callee)]), ...values];
  const all = readsBehind([...before, ...now]);
  const given = all ?? [{ kind: 'unknown', reason: 'what other code was given' } as const];
  machine.given.set(module, given);
  return given;
}

function reachesDatabase(args: readonly Abstract[]): boolean {
  return args.some((arg) => arg.kind === 'native' && arg.isHandle);
}

export function construct(machine: Machine, callee: Abstract, args: readonly Abstract[], at: ts.Node): Abstract {
  const model = callee.kind === 'class' ? modelOfClass(machine, callee) : callee;
  if (model?.kind === 'native' && model.construct !== undefined) return model.construct(args, at);
  if (callee.kind === 'class') return newInstance(machine, callee, args, at);
  if (callee.kind === 'external' && callee.module === '' && callee.path[0] === 'Promise')
    return newPromise(machine, args, at);
  if (callee.kind === 'external' && callee.module === '') return newBuiltIn(callee, args, at);
  return opaqueCall(machine, callee, args, at);
}

function newBuiltIn(callee: External, args: readonly Abstract[], at: ts.Node): Abstract {
  const [name] = callee.path;
  const [first] = args;
  if (name === 'Date') return first ?? fromOutside('the time');
  if ((name === 'Set' || name === 'Array') && first?.kind === 'array') return first;
  // A Map, a Set: what is put in is not followed.
  return unknown(`what \`${oneLine(at.getText())}\` gives`);
}

/** `new Promise((resolve, reject) => ...)`: what it resolves to. */
function newPromise(machine: Machine, args: readonly Abstract[], at: ts.Node): Abstract {
  const [fn] = args;
  if (fn?.kind !== 'function') return unknown('what a promise gives');
  const cell = { value: unknown('what a promise gives') };
  const resolve: Native = {
    kind: 'native',
    title: 'resolve',
    isHandle: false,
    call: ([value]) => (machine.memory.write(cell, value ?? undefinedValue), undefinedValue),
  };
  const reject: Native = { kind: 'native', title: 'reject', isHandle: false, call: () => (machine.raise(), never) };
  const ended = machine.invoke(fn, [resolve, reject], at);
  return ended.kind === 'never' ? ended : cell.value;
}

/** The one object of a class that a container injects. */
export function injectedInstance(machine: Machine, type: ClassValue, at: ts.Node): ObjectValue {
  const { instances } = machine.globals;
  const instance = instances.get(type.node) ?? newInstance(machine, type, [], at);
  instances.set(type.node, instance);
  return instance;
}

/** Objects that are being made: classes whose constructors take each other are given them. */
const unfinished = new WeakMap<Machine, Map<ts.Node, ObjectValue>>();

/** An object of a class of the sources: fields, then the constructor. */
function newInstance(machine: Machine, type: ClassValue, args: readonly Abstract[], at: ts.Node): ObjectValue {
  const making = unfinished.get(machine) ?? new Map<ts.Node, ObjectValue>();
  unfinished.set(machine, making);
  const known = args.length === 0 ? making.get(type.node) : undefined;
  if (known !== undefined) return known;
  const instance: ObjectValue = {
    kind: 'object',
    properties: new Map(),
    of: type,
    rest: inheritedFromOutside(machine, type, at) ?? inheritedMembers(machine, type),
  };
  if (machine.frames.length > depthMax) return instance;
  const before = making.get(type.node);
  making.set(type.node, instance);
  try {
    return initialized(machine, type, instance, args, at);
  } finally {
    if (before === undefined) making.delete(type.node);
    else making.set(type.node, before);
  }
}

function initialized(
  machine: Machine,
  type: ClassValue,
  instance: ObjectValue,
  args: readonly Abstract[],
  at: ts.Node,
): ObjectValue {
  const { ts } = machine.project;
  for (const one of lineage(machine, type).toReversed()) {
    const scope = new Scope(one.scope, instance);
    for (const member of one.node.members) {
      if (!ts.isPropertyDeclaration(member) || hasStatic(machine, member)) continue;
      const { initializer } = member;
      // Entities name each other: what a declared type stands for is made where it is used.
      const cell =
        initializer === undefined
          ? new LazyCell(() => declaredValue(machine, one, member, scope))
          : { value: machine.evaluate(initializer, scope) };
      instance.properties.set(member.name.getText(), cell);
    }
    const constructor = one.node.members.find(
      (member): member is ts.ConstructorDeclaration => ts.isConstructorDeclaration(member) && member.body !== undefined,
    );
    if (constructor === undefined) continue;
    const inner = new Scope(one.scope, instance);
    bindParameters(machine, constructor, injected(machine, constructor, args, one.scope), inner);
    for (const { name, modifiers } of constructor.parameters) {
      if ((modifiers ?? []).length === 0 || !ts.isIdentifier(name)) continue;
      instance.properties.set(name.text, { value: machine.evaluate(name, inner) });
    }
    invoke(
      machine,
      { kind: 'function', node: constructor, scope: one.scope, self: instance },
      injected(machine, constructor, args, one.scope),
      at,
    );
  }
  return instance;
}

/** Nothing, where the type is a row's class: only the program sets it. Other code may have set one of a service. */
function declaredValue(
  machine: Machine,
  owner: ClassValue,
  { name, type }: ts.PropertyDeclaration,
  scope: Scope,
): Abstract {
  const value = machine.ofType(type, scope);
  const isRow = value?.kind === 'object' && value.of !== null && isRowClass(machine, value.of);
  if (isRow && !isRowClass(machine, owner)) return unknown(`what ${name.getText()} is`);
  return value === undefined || isRow ? undefinedValue : value;
}

export function isRowClass(machine: Machine, { node }: ClassValue): boolean {
  const { ts } = machine.project;
  return (
    node.members.every((member) => ts.isPropertyDeclaration(member)) ||
    (ts.getDecorators(node) ?? []).some(({ expression }) =>
      /^(?:Entity|ViewEntity|ChildEntity|Table)\b/.test(expression.getText()),
    )
  );
}

/** What a container passes: an instance of each parameter's class. */
function injected(
  machine: Machine,
  node: ts.ConstructorDeclaration,
  args: readonly Abstract[],
  scope: Scope,
): readonly Abstract[] {
  if (args.length > 0) return args;
  return node.parameters.map(
    ({ type, initializer }) =>
      machine.ofType(type, scope) ?? (initializer === undefined ? fromOutside('what is injected') : undefinedValue),
  );
}

/** Of a class of a driver: `class PrismaService extends PrismaClient`, `class Users extends Repository<User>`. */
function inheritedFromOutside(machine: Machine, type: ClassValue, at: ts.Node): Abstract | null {
  const parent = outsideParent(machine, type);
  if (parent === undefined) return null;
  const made = machine.ofType(parent.node, type.scope) ?? machine.construct(parent.external, [], at);
  return made.kind === 'native' ? made : null;
}

/** Of another class outside the sources nothing is known. */
function inheritedMembers(machine: Machine, type: ClassValue): Abstract | null {
  const parent = outsideParent(machine, type);
  const isLibrary = parent !== undefined && parent.external.module !== '';
  return isLibrary ? fromOutside(`what ${oneLine(parent.node.getText())} has`) : null;
}

/** The class outside the sources that a class extends, itself or through others. */
function outsideParent(
  machine: Machine,
  type: ClassValue,
): { readonly node: ts.ExpressionWithTypeArguments; readonly external: External } | undefined {
  const { ts } = machine.project;
  const first = lineage(machine, type).at(-1) ?? type;
  const node = first.node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
  const value = node === undefined ? undefined : machine.evaluate(node.expression, first.scope);
  return node !== undefined && value?.kind === 'external' ? { node, external: value } : undefined;
}

/** What the static members of a model's class are: `class Account extends Model`. */
export function modelOfClass(machine: Machine, type: ClassValue): Abstract | undefined {
  const parent = outsideParent(machine, type);
  return parent === undefined ? undefined : machine.modelOf(parent.external, type);
}

function hasStatic(machine: Machine, member: ts.ClassElement): boolean {
  const { ts } = machine.project;
  return (
    ts.canHaveModifiers(member) &&
    (ts.getModifiers(member) ?? []).some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword)
  );
}

/** A method, accessor or field of an object's class; of a class itself, what is static. */
export function classMember(
  machine: Machine,
  type: ClassValue,
  name: string,
  self: Abstract,
  isStatic: boolean,
  at: ts.Node,
): Abstract | undefined {
  const { ts } = machine.project;
  for (const one of lineage(machine, type)) {
    for (const member of one.node.members) {
      if (member.name?.getText() !== name || hasStatic(machine, member) !== isStatic) continue;
      if (ts.isMethodDeclaration(member) && member.body !== undefined)
        return { kind: 'function', node: member, scope: one.scope, self };
      if (ts.isGetAccessorDeclaration(member))
        return invoke(machine, { kind: 'function', node: member, scope: one.scope, self }, [], at);
      if (ts.isPropertyDeclaration(member) && isStatic)
        return member.initializer === undefined
          ? undefinedValue
          : machine.evaluate(member.initializer, new Scope(one.scope, self));
    }
  }
  return undefined;
}
