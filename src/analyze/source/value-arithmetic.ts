/** From abstract values to the values and conditions of an application, in one form for equal things. */
import type { Value } from '../application.ts';
import type { Abstract } from './abstract-value.ts';

export const isTrue: Value = { kind: 'constant', value: true };
const zero: Value = { kind: 'constant', value: 0 };

export function expression(operator: string, ...operands: readonly Value[]): Value {
  return { kind: 'expression', operator, operands };
}

export function same(a: unknown, b: unknown): boolean {
  return a === b || (hasNoUnknown(a) && hasNoUnknown(b) && JSON.stringify(a) === JSON.stringify(b));
}

function hasNoUnknown(value: unknown): boolean {
  const { kind, operands } = value as { kind?: string; operands?: readonly unknown[] };
  return kind !== 'unknown' && (operands ?? []).every(hasNoUnknown);
}

/** What a statement's parameter is. */
export function valueOf(abstract: Abstract): Value {
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
      return expression('list', ...abstract.elements.value.map(valueOf));
    case 'object':
      return expression('object', ...[...abstract.properties.values()].map((cell) => valueOf(cell.value)));
    case 'choice':
      return expression('if', abstract.condition, valueOf(abstract.ifTrue), valueOf(abstract.ifFalse));
    case 'external':
      return { kind: 'unknown', reason: `something of ${abstract.module}` };
    case 'native':
      return { kind: 'unknown', reason: abstract.title };
    case 'function':
    case 'class':
      return { kind: 'unknown', reason: 'a function' };
  }
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
    case 'choice': {
      const [ifTrue, ifFalse] = [truthOf(abstract.ifTrue), truthOf(abstract.ifFalse)];
      return either(allOf([abstract.condition, ifTrue]), allOf([not(abstract.condition), ifFalse]));
    }
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

const opposite: Readonly<Record<string, string>> = { '=': '<>', '<>': '=', '<': '>=', '>=': '<', '>': '<=', '<=': '>' };

export function not(condition: Value): Value {
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
    return expression('and', all, next);
  }, isTrue);
}

export function either(a: Value, b: Value): Value {
  if (isConstant(a, true) || isConstant(b, false)) return a;
  if (isConstant(b, true) || isConstant(a, false)) return b;
  return expression('or', a, b);
}

export function isConstant(value: Value, expected: boolean): boolean {
  return value.kind === 'constant' && value.value === expected;
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
  return { kind: 'choice', condition, ifTrue, ifFalse };
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
