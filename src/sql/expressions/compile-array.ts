/** `ARRAY[...]`, `a[i]`, `a[from:to]`, `(record).field`, `document['key']`. */
import type { A_ArrayExpr, A_Indices, A_Indirection, Node } from '@pgsql/types';
import type { Expression, Frame } from '../expression.ts';
import {
  notSupported,
  SqlError,
  typeTitle,
  arrayOf,
  types,
  type SqlType,
  type JsonDocument,
  type SqlArray,
  type SqlValue,
} from '../model/index.ts';
import { positionOf } from './compiler.ts';
import type { Compiler } from './compiler.ts';
import { coerce, commonType } from './coerce.ts';
import { jsonMember } from './json-access.ts';

export function compileArray({ elements = [], location }: A_ArrayExpr, compiler: Compiler): Expression {
  if (elements.length === 0) {
    throw new SqlError('42P18', 'cannot determine type of empty array', {
      position: positionOf(location),
      hint: 'Explicitly cast to the desired type, for example ARRAY[]::integer[].',
    });
  }
  const parts = elements.map((each) => compiler.compile(each));
  const element = commonType(
    parts.map(({ type }) => type),
    'ARRAY',
    compiler.scope.dialect,
  );
  return gathered(
    parts.map((part) => coerce(part, element, -1, 'implicit', compiler.scope)),
    element,
  );
}

/** `ARRAY[...]::type[]`: the elements are cast one by one, so that an empty one has a type too. */
export function compileElements(elements: readonly Node[], element: SqlType, compiler: Compiler): Expression {
  if (elements.some((each) => 'A_ArrayExpr' in each)) throw notSupported('an array of more than one dimension');
  const parts = elements.map((each) => coerce(compiler.compile(each), element, -1, 'explicit', compiler.scope));
  return gathered(parts, element);
}

function gathered(parts: readonly Expression[], element: SqlType): Expression {
  if (element.name === 'array') throw notSupported('an array of more than one dimension');
  return {
    type: arrayOf(element),
    modifier: -1,
    isRowFree: parts.every(({ isRowFree }) => isRowFree),
    evaluate: (frame): SqlArray => ({ kind: 'array', elements: parts.map(({ evaluate }) => evaluate(frame)) }),
  };
}

export function compileIndirection({ arg, indirection = [] }: A_Indirection, compiler: Compiler): Expression {
  if (arg === undefined) throw notSupported('this subscript');
  return indirection.reduce((base: Expression, step: Node) => {
    if ('A_Indices' in step) return subscript(base, step.A_Indices, compiler);
    if ('String' in step) return field(base, step.String.sval ?? '');
    throw notSupported('expansion of a record with .*');
  }, compiler.compile(arg));
}

function field(base: Expression, name: string): Expression {
  const index = base.type.fields?.findIndex((each) => each.name === name) ?? -1;
  const found = base.type.fields?.[index];
  if (found === undefined) {
    const what = base.type.name === 'record' ? 'record data type' : `data type ${typeTitle(base.type)}`;
    throw new SqlError('42703', `column "${name}" not found in ${what}`);
  }
  return derived(base, found.type, (value) => (value as SqlArray).elements[index] ?? null);
}

function derived(
  base: Expression,
  type: SqlType,
  take: (value: SqlValue, frame: Frame) => SqlValue,
  others: readonly Expression[] = [],
): Expression {
  return {
    type,
    modifier: -1,
    isRowFree: [base, ...others].every(({ isRowFree }) => isRowFree),
    evaluate: (frame) => {
      const value = base.evaluate(frame);
      return value === null ? null : take(value, frame);
    },
  };
}

function subscript(base: Expression, { is_slice, lidx, uidx }: A_Indices, compiler: Compiler): Expression {
  if (base.type.name === 'jsonb' && is_slice !== true && uidx !== undefined) return jsonSubscript(base, uidx, compiler);
  const { element } = base.type;
  if (element === undefined) {
    throw new SqlError(
      '42804',
      `cannot subscript type ${typeTitle(base.type)} because it does not support subscripting`,
    );
  }
  const index = (node: Node): Expression =>
    coerce(compiler.compile(node), types.int4, -1, 'assignment', compiler.scope);
  const upper = uidx === undefined ? undefined : index(uidx);
  if (is_slice !== true && upper !== undefined) {
    return derived(base, element, (value, frame) => elementAt(value as SqlArray, upper.evaluate(frame)), [upper]);
  }
  const lower = lidx === undefined ? undefined : index(lidx);
  const bounds = [lower, upper].filter((each) => each !== undefined);
  return derived(base, base.type, (value, frame) => slice(value as SqlArray, lower, upper, frame), bounds);
}

function elementAt({ elements }: SqlArray, index: SqlValue): SqlValue {
  return index === null ? null : (elements[Number(index) - 1] ?? null);
}

function slice(
  { elements }: SqlArray,
  lower: Expression | undefined,
  upper: Expression | undefined,
  frame: Frame,
): SqlValue {
  const from = lower === undefined ? 1 : lower.evaluate(frame);
  const to = upper === undefined ? elements.length : upper.evaluate(frame);
  if (from === null || to === null) return null;
  return { kind: 'array', elements: elements.slice(Math.max(0, Number(from) - 1), Math.max(0, Number(to))) };
}

function jsonSubscript(base: Expression, node: Node, compiler: Compiler): Expression {
  const raw = compiler.compile(node);
  const index = coerce(raw, raw.type.name === 'int4' ? types.int4 : types.text, -1, 'implicit', compiler.scope);
  const take = (value: SqlValue, frame: Frame): SqlValue => {
    const key = index.evaluate(frame);
    if (key === null) return null;
    const member = jsonMember((value as JsonDocument).value, typeof key === 'number' ? String(key) : (key as string));
    return member === undefined ? null : { kind: 'json', value: member };
  };
  return derived(base, types.jsonb, take, [index]);
}
