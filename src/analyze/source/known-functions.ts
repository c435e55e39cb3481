/** Functions that the language, Node and web frameworks give. */
import type ts from 'typescript';
import {
  absent,
  type Abstract,
  arrayOf,
  constant,
  type External,
  plain,
  undefinedValue,
  unknown,
} from './abstract-value.ts';
import { objectIn } from './builders/entity.ts';
import { functionsIn, runSometime } from './run-sometime.ts';
import type { Machine } from './machine.ts';
import { valueOf, constantOf } from './value-arithmetic.ts';
import { expression } from './conditions.ts';

/** What the call gives; `undefined` where the function is not known. */
export function callKnown(
  machine: Machine,
  callee: External,
  args: readonly Abstract[],
  at: ts.Node,
): Abstract | undefined {
  const { module, path } = callee;
  const name = path.join('.');
  const [first] = args;
  // A container that keeps a value.
  if (module === 'awilix' && name === 'asValue') return first;
  if (module !== '')
    return /^(?:node:)?(?:crypto|uuid|nanoid|ulid|cuid|@paralleldrive\/cuid2)$/.test(module) &&
      /uuid|random|nanoid|^v\d$|ulid|createId|default/i.test(name)
      ? unknown('a random value')
      : undefined;
  if (path[0] === 'console') return undefinedValue;
  switch (name) {
    case 'Promise.all':
    case 'Promise.allSettled':
      return first?.kind === 'array'
        ? arrayOf(first.elements.value.map((one) => machine.settle(one, at)))
        : machine.settle(first ?? undefinedValue, at);
    case 'Promise.resolve':
    case 'Promise.race':
    case 'Promise.any':
    case 'Number':
    case 'BigInt':
    case 'String':
    case 'parseInt':
    case 'parseFloat':
    case 'Number.parseInt':
    case 'Number.parseFloat':
    case 'Object.freeze':
    case 'structuredClone':
    case 'Array.from':
      return name === 'String' && typeof constantOf(first) === 'number'
        ? constant(String(constantOf(first)))
        : (first ?? undefinedValue);
    case 'Promise.reject':
      return machine.raise().end === 'throw' ? { kind: 'never' } : { kind: 'never' };
    case 'Date.now':
    case 'performance.now':
      return unknown('the time');
    case 'Math.random':
    case 'crypto.randomUUID':
      return unknown('a random value');
    case 'Object.keys':
      return first?.kind === 'object' && first.rest === null
        ? arrayOf([...first.properties.keys()].map(constant))
        : unknown("the names of an object's properties");
    case 'Object.values':
      return first?.kind === 'object' && first.rest === null
        ? arrayOf([...first.properties.values()].map((cell) => cell.value))
        : unknown('the values of an object');
    case 'Object.entries':
      return first?.kind === 'object' && first.rest === null
        ? arrayOf([...first.properties].map(([key, cell]) => arrayOf([constant(key), cell.value])))
        : unknown('the entries of an object');
    case 'Object.assign':
      return assignAll(machine, args);
    case 'Boolean':
      return first;
    case 'Array.isArray':
      return first?.kind === 'array' || first?.kind === 'rows' ? constant(true) : unknown('whether a value is a list');
    case 'setTimeout':
    case 'setImmediate':
    case 'setInterval':
    case 'queueMicrotask':
    case 'process.nextTick':
      for (const fn of args.flatMap((arg) => functionsIn(arg)))
        runSometime(machine, fn, `how often ${name} calls its function`, at);
      return unknown('a timer');
    default:
      return isPure(name) ? plain(expression(name.replace(/^Math\./, ''), ...args.map(valueOf))) : undefined;
  }
}

/** The target with the properties of the others; unknown where those are not known. */
function assignAll(machine: Machine, [target, ...sources]: readonly Abstract[]): Abstract {
  const object = objectIn(target);
  if (object === undefined) return unknown('what Object.assign gives');
  for (const source of sources) {
    const given = objectIn(source);
    if (given === undefined || given.rest !== null) return unknown('what Object.assign gives');
    for (const [name, { value }] of given.properties) {
      const cell = object.properties.get(name) ?? { value: absent };
      object.properties.set(name, cell);
      machine.memory.write(cell, value);
    }
  }
  return target ?? undefinedValue;
}

function isPure(name: string): boolean {
  return /^(?:Math\.\w+|JSON\.(?:stringify|parse)|Number\.is\w+|isNaN|encodeURIComponent|Intl\..*)$/.test(name);
}
