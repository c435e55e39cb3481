/** Properties and methods of values. */
import type ts from 'typescript';
import type { Value } from '../application.ts';
import {
  type Abstract,
  type ClassValue,
  constant,
  fromOutside,
  native,
  never,
  plain,
  undefinedValue,
  unknown,
} from './abstract-value.ts';
import { propertiesAddedTo } from './added-properties.ts';
import { withFewForms } from './builders/chain.ts';
import { classMember, modelOfClass } from './calls.ts';
import { listMember, listMemberOfPaths } from './lists.ts';
import { mappedList } from './mapped-list.ts';
import { normalCompletion, type Machine } from './machine.ts';
import { exportOf, wholeExport } from './names.ts';
import { request } from './request-name.ts';
import { choose, concatenate, isNothing, valueOf } from './value-arithmetic.ts';
import { does } from './tidy-steps.ts';
import { computedFrom, expression } from './conditions.ts';
import { attachedTo, setProperty, withAttached } from './attached.ts';

/** Of the sides that choices within choices share. */
type Sides = Map<Abstract, Abstract>;

export function member(
  machine: Machine,
  object: Abstract,
  name: string,
  at: ts.Node,
  sides: Sides = new Map(),
): Abstract {
  const promise = promiseMember(machine, object, name, at);
  if (promise !== undefined) return promise;
  const attached = attachedTo(machine, object, name);
  if (attached !== undefined) return attached;
  const found = ownMember(machine, object, name, at, sides);
  return object.kind === 'object' || object.kind === 'choice' ? found : withAttached(machine, found, name);
}

function memberOfSide(machine: Machine, side: Abstract, name: string, at: ts.Node, sides: Sides): Abstract {
  const known = sides.get(side);
  if (known !== undefined) return known;
  machine.lookAtSide();
  const found = member(machine, side, name, at, sides);
  sides.set(side, found);
  return found;
}

function ownMember(machine: Machine, object: Abstract, name: string, at: ts.Node, sides: Sides): Abstract {
  switch (object.kind) {
    case 'never':
    case 'undefined':
      return object.kind === 'never' ? never : undefinedValue;
    case 'value':
      return (
        machine.outsideMember(name) ??
        (mappedList(object) === undefined ? undefined : listMember(machine, object, name, at)) ??
        valueMember(machine, object.value, name, at)
      );
    case 'row':
      return plain({ kind: 'column', statement: object.statement, column: name, row: 'first' });
    case 'rows':
    case 'array':
      return listMember(machine, object, name, at) ?? undefinedValue;
    case 'object': {
      const cell = object.properties.get(name);
      if (cell !== undefined) return cell.value;
      const inherited = object.of === null ? undefined : classMember(machine, object.of, name, object, false, at);
      return inherited ?? (object.rest === null ? undefinedValue : memberOfSide(machine, object.rest, name, at, sides));
    }
    case 'class':
      return classMember(machine, object, name, object, true, at) ?? inheritedStatic(machine, object, name, at);
    case 'function':
      return functionMember(machine, object, name) ?? unknown(`the property ${name} of a function`);
    case 'external': {
      if (object.module === '#file') return wholeMember(machine, object.path[0] ?? '', name, at);
      const known = machine.external(object);
      if (known !== object) return machine.member(known, name, at);
      const given = object.path.includes('()') ? machine.outsideMember(name) : undefined;
      if (given !== undefined) return given;
      return machine.external({ ...object, path: [...object.path, name] });
    }
    case 'native':
      return (
        propertiesAddedTo(object).get(name)?.value ??
        object.member?.(name, at) ??
        unknown(`\`${name}\` of ${object.title}`)
      );
    case 'choice': {
      if (isNothing(object.ifTrue)) return memberOfSide(machine, object.ifFalse, name, at, sides);
      if (isNothing(object.ifFalse)) return memberOfSide(machine, object.ifTrue, name, at, sides);
      const few = withFewForms(object);
      if (few !== object) return machine.member(few, name, at);
      const ofRows = listMemberOfPaths(machine, object, name, at);
      if (ofRows !== undefined) return ofRows;
      return choose(
        object.condition,
        memberOfSide(machine, object.ifTrue, name, at, sides),
        memberOfSide(machine, object.ifFalse, name, at, sides),
      );
    }
  }
}

/** Of a class that extends one of a driver: `Account.findOne(...)`. */
function inheritedStatic(machine: Machine, type: ClassValue, name: string, at: ts.Node): Abstract {
  const model = modelOfClass(machine, type);
  return model === undefined ? undefinedValue : machine.member(model, name, at);
}

function wholeMember(machine: Machine, file: string, name: string, at: ts.Node): Abstract {
  const whole = wholeExport(machine, file);
  // A file that exports what it imports from itself, through others.
  const isItself = whole?.kind === 'external' && whole.module === '#file' && whole.path[0] === file;
  if (isItself) return unknown(`what ${name} is`);
  return whole === undefined ? exportOf(machine, file, name) : machine.member(whole, name, at);
}

/** `then`, `catch` and `finally` of anything: promises are their values. */
function promiseMember(machine: Machine, object: Abstract, name: string, at: ts.Node): Abstract | undefined {
  if (object.kind === 'object' && object.properties.has(name)) return undefined;
  if (object.kind === 'native' && object.hasOwnThen === true) return undefined;
  switch (name) {
    case 'then':
      return native(name, ([fn]) => {
        const value = machine.settle(object, at);
        return fn === undefined || value.kind === 'never' ? value : machine.settle(machine.call(fn, [value], at), at);
      });
    case 'catch':
      return native(name, ([fn]) => {
        const value = machine.settle(object, at);
        if (fn !== undefined) onError(machine, fn, at);
        return value;
      });
    case 'finally':
      return native(name, ([fn]) => {
        const value = machine.settle(object, at);
        if (fn !== undefined) machine.call(fn, [], at);
        return value;
      });
    default:
      return undefined;
  }
}

function onError(machine: Machine, fn: Abstract, at: ts.Node): void {
  const run = () => machine.memory.during(() => machine.call(fn, [unknown('an error')], at));
  if (!machine.emitter.apart(run).steps.some(does)) return;
  const condition: Value = { kind: 'unknown', reason: 'whether the database reports an error' };
  machine.fork(
    condition,
    () => (run(), normalCompletion),
    () => normalCompletion,
  );
}

function functionMember(machine: Machine, fn: Abstract, name: string): Abstract | undefined {
  switch (name) {
    case 'call':
      return native(name, ([, ...args], at) => machine.call(fn, args, at));
    case 'apply':
      return native(name, ([, list], at) => machine.call(fn, list?.kind === 'array' ? list.elements.value : [], at));
    case 'bind':
      return native(name, ([, ...first]) => native(name, (rest, at) => machine.call(fn, [...first, ...rest], at)));
    default:
      return undefined;
  }
}

/** Conversions: as a parameter of SQL they are the same value. */
const conversions =
  /^(?:toString|valueOf|toNumber|toISOString|getTime|toJSON|toFixed|parse|parseAsync|validate|validateSync|valid|json|body|text)$/;

/** `schema.parse(x)` */
const takesValue = /^(?:parse|validate)/;

function valueMember(machine: Machine, value: Value, name: string, at: ts.Node): Abstract {
  if (value.kind === 'constant' && typeof value.value === 'string') return textMember(value.value, name, at);
  if (isCalled(machine, at)) return methodOf(machine, value, name, at);
  switch (value.kind) {
    case 'argument':
      return plain({ kind: 'argument', name: argumentName(value.name, name) });
    case 'element':
      return value.field === null
        ? plain({ ...value, field: name })
        : plain({ ...value, field: `${value.field}.${name}` });
    case 'unknown':
      return plain(value);
    case 'constant':
      return undefinedValue;
    case 'row-count':
    case 'rows':
    case 'column':
    case 'expression':
      return plain(expression(`.${name}`, value));
  }
}

function isCalled(machine: Machine, at: ts.Node): boolean {
  const { ts } = machine.project;
  return ts.isCallExpression(at.parent) && at.parent.expression === at;
}

function argumentName(object: string, name: string): string {
  if (object === request) return /^(?:req|request|raw)$/.test(name) ? request : name;
  return `${object}.${name}`;
}

function methodOf(machine: Machine, value: Value, name: string, at: ts.Node): Abstract {
  const list = listMember(machine, plain(value), name, at);
  if (list !== undefined) return list;
  if (value.kind === 'argument') {
    const whole: Readonly<Record<string, string>> = { json: 'body', formData: 'body', parseBody: 'body' };
    const name2 = whole[name];
    if (/(?:^|[.#])(?:request|req)$/.test(value.name) && name2 !== undefined)
      return native(name, (args) => {
        // Hono's context is named so, too: `context.json(...)` is its response.
        machine.shown.push(...args.map(valueOf));
        return plain({ kind: 'argument', name: name2 });
      });
    if (value.name === request && /^(?:param|query|header|get)$/.test(name)) {
      const all = plain({ kind: 'argument', name });
      return native(name, ([key], called) =>
        key === undefined ? all : machine.member(all, String(keyOf(key)), called),
      );
    }
    // Hono's context.
    if (value.name === request && name === 'set')
      return native(name, ([key, given = undefinedValue]) => {
        for (const all of ['get', 'var'])
          setProperty(machine, plain({ kind: 'argument', name: all }), String(keyOf(key ?? undefinedValue)), given, at);
        return undefinedValue;
      });
  }
  if (conversions.test(name))
    return native(name, (args) => {
      if (value.kind === 'unknown' && takesValue.test(name)) return args[0] ?? plain(value);
      // `response.json(...)`
      machine.shown.push(...args.map(valueOf));
      return plain(value);
    });
  return plain(value.kind === 'unknown' ? value : computedFrom(`what ${name} returns`, [value]));
}

function keyOf(abstract: Abstract): unknown {
  const value = valueOf(abstract);
  return value.kind === 'constant' ? value.value : '?';
}

function textMember(text: string, name: string, at: ts.Node): Abstract {
  switch (name) {
    case 'length':
      return constant(text.length);
    case 'trim':
      return native(name, () => constant(text.trim()));
    case 'toLowerCase':
      return native(name, () => constant(text.toLowerCase()));
    case 'toUpperCase':
      return native(name, () => constant(text.toUpperCase()));
    case 'concat':
      return native(name, (args) => concatenate([constant(text), ...args]));
    case 'toString':
      return native(name, () => constant(text));
    case 'repeat':
      return native(name, ([count]) => {
        const times = count === undefined ? undefined : keyOf(count);
        return typeof times === 'number' && times >= 0 && times <= 100
          ? constant(text.repeat(times))
          : fromOutside('a repeated text');
      });
    default:
      return fromOutside(`what \`${at.getText()}\` gives`);
  }
}
