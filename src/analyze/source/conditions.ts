/** Values and conditions of an application, in one form for equal things. */
import { createHash } from 'node:crypto';
import type { UnknownValue, Value } from '../application.ts';

export const isTrue: Value = { kind: 'constant', value: true };

export const zero: Value = { kind: 'constant', value: 0 };

export function expression(operator: string, ...operands: readonly Value[]): Value {
  return { kind: 'expression', operator, operands };
}

export function same(a: Value, b: Value): boolean {
  if (a === b) return true;
  const key = keyOf(a);
  return key !== null && key === keyOf(b);
}

const keys = new WeakMap<Value, string | null>();

/** Equal for equal values; `null` where a part is not known, so that it is equal to itself only. */
export function keyOf(value: Value): string | null {
  let key = keys.get(value);
  if (key === undefined) {
    key = newKey(value);
    keys.set(value, key);
  }
  return key;
}

/** Long ones as their digest: parts that conditions share would be written once for each condition. */
function newKey(value: Value): string | null {
  if (value.kind === 'unknown') return null;
  if (value.kind !== 'expression') return JSON.stringify(value);
  const operands = value.operands.map(keyOf);
  if (operands.includes(null)) return null;
  const text = JSON.stringify([value.operator, ...operands]);
  return text.length <= digestLength ? text : createHash('sha256').update(text).digest('base64');
}

/** Characters. */
const digestLength = 200;

const opposite: Readonly<Record<string, string>> = { '=': '<>', '<>': '=', '<': '>=', '>=': '<', '>': '<=', '<=': '>' };

const negations = new WeakMap<Value, Value>();

/** The same object each time, so that its key is made once. */
export function not(condition: Value): Value {
  let negation = negations.get(condition);
  if (negation === undefined) {
    negation = negated(condition);
    negations.set(condition, negation);
    if (!negations.has(negation)) negations.set(negation, condition);
  }
  return negation;
}

function negated(condition: Value): Value {
  if (condition.kind === 'constant') return { kind: 'constant', value: !condition.value };
  if (condition.kind === 'expression') {
    const operator = opposite[condition.operator];
    if (operator !== undefined) return { ...condition, operator };
    const [first, second] = condition.operands;
    if (condition.operator === 'not' && first !== undefined) return first;
    if (first !== undefined && second !== undefined) {
      if (condition.operator === 'and') return expression('or', not(first), not(second));
      if (condition.operator === 'or') return expression('and', not(first), not(second));
    }
  }
  return expression('not', condition);
}

export function allOf(conditions: readonly Value[]): Value {
  return conditions.reduce((all, next) => {
    if (isConstant(all, false) || isConstant(next, true)) return all;
    if (isConstant(next, false) || isConstant(all, true)) return next;
    return bounded(expression('and', all, next), longCondition);
  }, isTrue);
}

export function either(a: Value, b: Value): Value {
  if (isConstant(a, true) || isConstant(b, false)) return a;
  if (isConstant(b, true) || isConstant(a, false)) return b;
  return bounded(expression('or', a, b), longCondition);
}

const longCondition = 'a long condition';

/** Values in a condition or a choice. A longer one decides nothing that the analysis could use, and each choice of paths would double it. */
const sizeMax = 100;
const sizes = new WeakMap<Value, number>();

function sizeOf(value: Value): number {
  let size = sizes.get(value);
  if (size === undefined) {
    size = value.kind === 'expression' ? value.operands.reduce((sum, operand) => sum + sizeOf(operand), 1) : 1;
    sizes.set(value, size);
  }
  return size;
}

/** A long expression as a function of its parts, of which nothing is known but what it depends on. */
export function bounded(value: Value, operator: string): Value {
  if (sizeOf(value) <= sizeMax) return value;
  const all = leaves([value]);
  const key = all.length > sizeMax ? null : keyOf(value);
  const name: Value = key === null ? computedFrom(operator, all) : { kind: 'constant', value: key };
  if (all.length > sizeMax) return name;
  const parts = new Map(all.map((leaf) => [keyOf(leaf), leaf]));
  parts.delete(null);
  return expression(operator, name, ...parts.values());
}

/** What is not constant. Conditions share their parts: each is looked at once. */
function leaves(values: readonly Value[]): readonly Value[] {
  const [seen, found] = [new Set<Value>(), [] as Value[]];
  const visit = (value: Value): void => {
    if (seen.has(value)) return;
    seen.add(value);
    if (value.kind === 'expression') value.operands.forEach(visit);
    else if (value.kind !== 'constant') found.push(value);
  };
  values.forEach(visit);
  return found;
}

/** What of the database such values are computed from; `undefined`: it may be anything, or too much to tell. */
export function readsBehind(values: readonly Value[]): readonly Value[] | undefined {
  const found = new Map<string | null, Value>();
  for (const leaf of leaves(values)) {
    if (leaf.kind === 'unknown') {
      if (leaf.from === undefined) return undefined;
      for (const one of leaf.from) found.set(keyOf(one), one);
    } else if (leaf.kind !== 'argument') found.set(keyOf(leaf), leaf);
  }
  return found.size > sizeMax ? undefined : [...found.values()];
}

/** Not known but for what it is computed from. */
export function computedFrom(reason: string, values: readonly Value[]): UnknownValue {
  const from = readsBehind(values);
  return { kind: 'unknown', reason, ...(from === undefined ? {} : { from }) };
}

export function isConstant(value: Value, expected: boolean): boolean {
  return value.kind === 'constant' && value.value === expected;
}

/** Two equal comparisons have equal forms: constants stand on the right. */
export function compare(operator: string, left: Value, right: Value): Value {
  if (left.kind === 'constant' && right.kind === 'constant') {
    const folded = foldComparison(operator, left.value, right.value);
    if (folded !== undefined) return { kind: 'constant', value: folded };
  }
  if (left.kind === 'constant' && right.kind !== 'constant')
    return compare(mirrored[operator] ?? operator, right, left);
  if (left.kind === 'row-count' && right.kind === 'constant') {
    if ((operator === '>' && right.value === 0) || (operator === '>=' && right.value === 1))
      return expression('<>', left, zero);
    if ((operator === '<' && right.value === 1) || (operator === '<=' && right.value === 0))
      return expression('=', left, zero);
  }
  return expression(operator, left, right);
}

const mirrored: Readonly<Record<string, string>> = { '<': '>', '>': '<', '<=': '>=', '>=': '<=' };

type Scalar = string | number | boolean | null;

function foldComparison(operator: string, left: Scalar, right: Scalar): boolean | undefined {
  if (operator === '=') return left === right;
  if (operator === '<>') return left !== right;
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
    default:
      return undefined;
  }
}
