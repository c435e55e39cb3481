/** From abstract values to the values and conditions of an application. */
import type { Value } from '../application.ts';
import type { Abstract, Choice, External } from './abstract-value.ts';
import { bounded, isTrue, zero, expression, same, not, allOf, either, isConstant, computedFrom } from './conditions.ts';

/** What a statement's parameter is. */
export function valueOf(abstract: Abstract): Value {
  return valueWithin(abstract, new Map());
}

/** Lists, objects and choices that one value holds; `null`: the value is inside of this one. */
type Parts = Map<Abstract, Value | null>;

/** Each of them once: they may share others, and an object may hold itself. */
function valueWithin(abstract: Abstract, parts: Parts): Value {
  if (abstract.kind !== 'array' && abstract.kind !== 'object' && abstract.kind !== 'choice')
    return partValue(abstract, parts);
  const known = parts.get(abstract);
  if (known === null) return { kind: 'unknown', reason: 'an object that holds itself' };
  if (known !== undefined) return known;
  parts.set(abstract, null);
  const value = partValue(abstract, parts);
  parts.set(abstract, value);
  return value;
}

function partValue(abstract: Abstract, parts: Parts): Value {
  switch (abstract.kind) {
    case 'value':
      return abstract.value;
    case 'undefined':
    case 'never':
      return { kind: 'constant', value: null };
    case 'rows':
      return { kind: 'rows', statement: abstract.statement };
    case 'row':
      return expression('first', { kind: 'rows', statement: abstract.statement });
    case 'array':
      return expression('list', ...abstract.elements.value.map((one) => valueWithin(one, parts)));
    case 'object':
      // Objects of classes may refer to each other.
      if (abstract.of !== null)
        return { kind: 'unknown', reason: `an object of ${abstract.of.node.name?.text ?? 'a class'}` };
      return expression(
        'object',
        ...[...abstract.properties.values()].map((cell) => valueWithin(cell.value, parts)),
        ...(abstract.rest === null ? [] : [valueWithin(abstract.rest, parts)]),
      );
    case 'choice':
      return valueOfChoice(abstract, parts);
    case 'external':
      return externalValue(abstract);
    case 'native':
      return { kind: 'unknown', reason: abstract.title };
    case 'function':
    case 'class':
      return { kind: 'unknown', reason: 'a function' };
  }
}

/** Of choices within choices, which share their sides: without sharing their values would double with each. */
const values = new WeakMap<Choice, Value>();

/** The functions of the sources that it was made with may have given it what they read. */
function externalValue({ module, given = [], made = [] }: External): Value {
  const reason = `something of ${module}`;
  return made.length > 0 ? { kind: 'unknown', reason } : computedFrom(reason, given);
}

function valueOfChoice(choice: Choice, parts: Parts): Value {
  const known = values.get(choice);
  if (known !== undefined) return known;
  const sides = [valueWithin(choice.ifTrue, parts), valueWithin(choice.ifFalse, parts)];
  const value = bounded(expression('if', choice.condition, ...sides), 'a long choice');
  if ([choice.ifTrue, choice.ifFalse].every(isFixed)) values.set(choice, value);
  return value;
}

/** Nothing that the program does later changes its value: lists and objects have cells. */
function isFixed(abstract: Abstract): boolean {
  if (abstract.kind === 'choice') return values.has(abstract);
  return abstract.kind !== 'array' && (abstract.kind !== 'object' || abstract.of !== null);
}

/** Its truth value in JavaScript. */
export function truthOf(abstract: Abstract): Value {
  switch (abstract.kind) {
    case 'value':
      return truthOfValue(abstract.value);
    case 'undefined':
      return { kind: 'constant', value: false };
    case 'row':
      return expression('<>', { kind: 'row-count', statement: abstract.statement }, zero);
    case 'choice':
      return truthOfChoice(abstract);
    case 'never':
    case 'object':
    case 'array':
    case 'function':
    case 'class':
    case 'rows':
    case 'native':
      return isTrue;
    case 'external':
      return abstract.module === '' || abstract.path.includes('()') ? valueOf(abstract) : isTrue;
  }
}

/** Of choices within choices, which share their sides. */
const truths = new WeakMap<Choice, Value>();

function truthOfChoice(choice: Choice): Value {
  const { condition } = choice;
  const truth =
    truths.get(choice) ??
    either(allOf([condition, truthOf(choice.ifTrue)]), allOf([not(condition), truthOf(choice.ifFalse)]));
  truths.set(choice, truth);
  return truth;
}

function truthOfValue(value: Value): Value {
  switch (value.kind) {
    case 'constant':
      return { kind: 'constant', value: Boolean(value.value) };
    case 'row-count':
      return expression('<>', value, zero);
    default:
      return value;
  }
}

/** Where both sides are the same, that; where one side says that there is no row, the row, which is NULL then anyway. */
export function choose(condition: Value, ifTrue: Abstract, ifFalse: Abstract): Abstract {
  if (isConstant(condition, true)) return ifTrue;
  if (isConstant(condition, false)) return ifFalse;
  if (ifTrue === ifFalse || ifTrue.kind === 'never') return ifFalse;
  if (ifFalse.kind === 'never') return ifTrue;
  if (ifTrue.kind === 'value' && ifFalse.kind === 'value' && same(ifTrue.value, ifFalse.value)) return ifTrue;
  if (ifTrue.kind === 'undefined' && ifFalse.kind === 'undefined') return ifTrue;
  if (ifFalse.kind === 'row' && isNothing(ifTrue) && same(condition, not(truthOf(ifFalse)))) return ifFalse;
  if (ifTrue.kind === 'row' && isNothing(ifFalse) && same(condition, truthOf(ifTrue))) return ifTrue;
  return shortened({ kind: 'choice', condition, ifTrue, ifFalse });
}

/** Paths of a choice between values, beyond which it is one value that depends on all of them. */
const pathsMax = 256;

/** Of choices between values only, which share their sides; infinite where an end is anything else. */
const pathsOfValues = new WeakMap<Choice, number>();

function shortened(choice: Choice): Abstract {
  const paths = pathsIn(choice.ifTrue) + pathsIn(choice.ifFalse);
  pathsOfValues.set(choice, paths);
  return paths > pathsMax && paths < Infinity ? { kind: 'value', value: valueOf(choice) } : choice;
}

function pathsIn(side: Abstract): number {
  if (side.kind === 'choice') return pathsOfValues.get(side) ?? Infinity;
  return side.kind === 'value' || side.kind === 'undefined' ? 1 : Infinity;
}

/** That the value is an end for which `test` holds. Of choices within choices, which share their sides. @param isLeftOut sides that the value is not */
export function conditionWhere(
  value: Abstract,
  test: (end: Abstract) => boolean,
  isLeftOut: (side: Abstract) => boolean,
): Value {
  const known = new Map<Abstract, Value>();
  const within = (part: Abstract): Value => {
    if (part.kind !== 'choice') return { kind: 'constant', value: test(part) };
    const found = known.get(part) ?? inChoice(part);
    known.set(part, found);
    return found;
  };
  const inChoice = ({ condition, ifTrue, ifFalse }: Choice): Value => {
    if (isLeftOut(ifFalse)) return within(ifTrue);
    if (isLeftOut(ifTrue)) return within(ifFalse);
    return either(allOf([condition, within(ifTrue)]), allOf([not(condition), within(ifFalse)]));
  };
  return within(value);
}

export function isNothing(abstract: Abstract): boolean {
  return (
    abstract.kind === 'undefined' ||
    (abstract.kind === 'value' && abstract.value.kind === 'constant' && abstract.value.value === null)
  );
}

/** The constant, or `undefined` where it is none. */
export function constantOf(abstract: Abstract | undefined): string | number | boolean | null | undefined {
  return abstract?.kind === 'value' && abstract.value.kind === 'constant' ? abstract.value.value : undefined;
}

/** `a || b || ...` as its pieces, adjacent constants joined. */
export function concatenate(parts: readonly Abstract[]): Abstract {
  const pieces: Value[] = [];
  for (const part of parts.flatMap(piecesOf)) {
    const last = pieces.at(-1);
    if (last?.kind === 'constant' && part.kind === 'constant') {
      pieces[pieces.length - 1] = { kind: 'constant', value: `${last.value}${part.value}` };
    } else if (part.kind === 'constant') pieces.push({ kind: 'constant', value: String(part.value) });
    else pieces.push(part);
  }
  const [first] = pieces;
  if (first === undefined) return { kind: 'value', value: { kind: 'constant', value: '' } };
  return { kind: 'value', value: pieces.length === 1 ? first : expression('||', ...pieces) };
}

function piecesOf(abstract: Abstract): readonly Value[] {
  const value = valueOf(abstract);
  return value.kind === 'expression' && value.operator === '||' ? value.operands : [value];
}
