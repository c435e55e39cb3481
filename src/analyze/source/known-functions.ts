/** Functions that the language, Node and web frameworks give. */
import type ts from 'typescript';
import {
  type Abstract,
  arrayOf,
  constant,
  type External,
  fromOutside,
  plain,
  undefinedValue,
} from './abstract-value.ts';
import { setAnyProperty, setProperty } from './attached.ts';
import { objectIn } from './builders/entity.ts';
import { functionsIn, runSometime } from './run-sometime.ts';
import type { Machine } from './machine.ts';
import { valueOf, constantOf } from './value-arithmetic.ts';
import { computedFrom, expression } from './conditions.ts';

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
      ? fromOutside('a random value')
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
      return fromOutside('the time');
    case 'Math.random':
    case 'crypto.randomUUID':
      return fromOutside('a random value');
    case 'Object.keys':
      return first?.kind === 'object' && first.rest === null
        ? arrayOf([...first.properties.keys()].map(constant))
        : partsOfObject("the names of an object's properties", first);
    case 'Object.values':
      return first?.kind === 'object' && first.rest === null
        ? arrayOf([...first.properties.values()].map((cell) => cell.value))
        : partsOfObject('the values of an object', first);
    case 'Object.entries':
      return first?.kind === 'object' && first.rest === null
        ? arrayOf([...first.properties].map(([key, cell]) => arrayOf([constant(key), cell.value])))
        : partsOfObject('the entries of an object', first);
    case 'Object.assign':
      return assignAll(machine, args, at);
    case 'Boolean':
      return first;
    case 'Array.isArray':
      return first?.kind === 'array' || first?.kind === 'rows'
        ? constant(true)
        : partsOfObject('whether a value is a list', first);
    case 'setTimeout':
    case 'setImmediate':
    case 'setInterval':
    case 'queueMicrotask':
    case 'process.nextTick':
      for (const fn of args.flatMap((arg) => functionsIn(arg)))
        runSometime(machine, fn, { reason: `how often ${name} calls its function`, given: [] }, at);
      return fromOutside('a timer');
    default:
      return isPure(name) ? plain(expression(name.replace(/^Math\./, ''), ...args.map(valueOf))) : undefined;
  }
}

function partsOfObject(reason: string, object: Abstract | undefined): Abstract {
  return plain(computedFrom(reason, object === undefined ? [] : [valueOf(object)]));
}

/** The target with the properties of the others; unknown where those are not known. */
function assignAll(machine: Machine, [target, ...sources]: readonly Abstract[], at: ts.Node): Abstract {
  if (target === undefined) return undefinedValue;
  let areKnown = target.kind !== 'value';
  for (const source of sources) {
    const given = objectIn(source);
    for (const [name, { value }] of given?.properties ?? []) setProperty(machine, target, name, value, at);
    if (given?.rest === null) continue;
    setAnyProperty(machine, target, given?.rest ?? source, at);
    areKnown = false;
  }
  return areKnown ? target : plain(computedFrom('what Object.assign gives', [target, ...sources].map(valueOf)));
}

function isPure(name: string): boolean {
  return /^(?:Math\.\w+|JSON\.(?:stringify|parse)|Number\.is\w+|isNaN|encodeURIComponent|Intl\..*)$/.test(name);
}
