/** Functions that give rows: generate_series, unnest, the elements of JSON. The planner puts them into FROM or beside a SELECT list. */
import type { Node } from '@pgsql/types';
import type { Expression, Frame, Scope } from '../expression.ts';
import type { Execution } from '../execution.ts';
import {
  compareNumerics,
  addNumerics,
  numericOf,
  type Numeric,
  SqlError,
  types,
  type SqlType,
  isJsonObject,
  jsonDocument,
  parseJson,
  sortedKeys,
  intervalLength,
  type Interval,
  type JsonDocument,
  type SqlArray,
  type SqlValue,
} from '../model/index.ts';
import { unknownFunction } from './call.ts';
import { canCast } from './cast-rules.ts';
import { compileExpression } from './compile.ts';
import { namesOf, positionOf } from './compiler.ts';
import { splitText } from './array-functions.ts';
import { coerce, commonType, settleParameter } from './coerce.ts';
import { charactersOf } from './text-functions.ts';
import { jsonPartText, nodeSource, nodeText } from './json-operators.ts';
import { isSetReturning, type SetReturningName } from './function-names.ts';
import { eachMatch, withRegex } from './regex.ts';
import { addToTimestamp } from './time-operators.ts';
import { chargeFor, SPLIT_FACTOR, textBytes } from './value-bytes.ts';

export interface SetReturning {
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
  readonly rows: (frame: Frame) => Iterable<readonly SqlValue[]>;
}

/** `undefined`: no function of ours that gives rows. @throws SqlError 42883 wrong types, and what the arguments throw */
export function setReturning(call: Node, scope: Scope): SetReturning | undefined {
  if (!('FuncCall' in call)) return undefined;
  const name = (namesOf(call.FuncCall.funcname).at(-1) ?? '').toLowerCase();
  if (!isSetReturning(name)) return undefined;
  const make = makers[name];
  const operands = (call.FuncCall.args ?? []).map((node) => compileExpression(node, scope));
  const made = make(operands, scope, name);
  if (made === undefined) throw unknownFunction(name, operands, 'none', scope, positionOf(call.FuncCall.location));
  return made;
}

type Make = (operands: readonly Expression[], scope: Scope, name: string) => SetReturning | undefined;

const makers: Readonly<Record<SetReturningName, Make>> = {
  generate_series: series,
  generate_subscripts: subscripts,
  unnest,
  json_array_elements: (operands, scope, name) => ofJson(operands, scope, name, types.json, 'value', arrayElements),
  json_array_elements_text: (operands, scope, name) => ofJson(operands, scope, name, types.text, 'value', arrayTexts),
  jsonb_array_elements: (operands, scope, name) =>
    ofJson(operands, scope, name, types.jsonb, 'value', documentElements),
  jsonb_array_elements_text: (operands, scope, name) =>
    ofJson(operands, scope, name, types.text, 'value', documentTexts),
  json_object_keys: (operands, scope, name) => ofJson(operands, scope, name, types.text, name, objectKeys),
  jsonb_object_keys: (operands, scope, name) => ofJson(operands, scope, name, types.text, name, documentKeys),
  json_each: (operands, scope, name) => ofPairs(operands, scope, name, types.json),
  json_each_text: (operands, scope, name) => ofPairs(operands, scope, name, types.text),
  jsonb_each: (operands, scope, name) => ofPairs(operands, scope, name, types.jsonb),
  jsonb_each_text: (operands, scope, name) => ofPairs(operands, scope, name, types.text),
  string_to_table: splitTable,
  regexp_split_to_table: regexTable,
  regexp_matches: regexMatches,
  // Nothing is partitioned here.
  pg_partition_ancestors: (operands, _scope, name) =>
    operands.length === 1 ? strictly(name, types.regclass, [], () => []) : undefined,
};

/** No rows where an argument is NULL. */
function strictly(
  name: string,
  type: SqlType,
  operands: readonly Expression[],
  make: (...values: never[]) => Iterable<SqlValue>,
): SetReturning {
  return {
    columns: [{ name, type }],
    *rows(frame) {
      const values = operands.map(({ evaluate }) => evaluate(frame));
      if (values.includes(null)) return;
      for (const value of values) chargeFor(frame.execution.budget, textBytes(value) * SPLIT_FACTOR);
      for (const value of make(...(values as never[]))) yield [value];
    },
  };
}

function series(operands: readonly Expression[], scope: Scope, name: string): SetReturning | undefined {
  if (operands.length < 2 || operands.length > 3) return undefined;
  const [first, second, third] = operands;
  if (first === undefined || second === undefined) return undefined;
  if (third !== undefined && isTime(first.type, second.type)) return timeSeries([first, second, third], scope, name);
  const common = commonType(
    operands.map(({ type }) => type),
    'generate_series',
    scope.dialect,
  );
  const type =
    common.name === 'int2' ? types.int4 : operands.every((each) => each.type.name === 'unknown') ? types.int4 : common;
  if (!['int4', 'int8', 'numeric'].includes(type.name)) return undefined;
  const settled = operands.map((each) => coerce(each, type, -1, 'implicit', scope));
  if (type.name === 'numeric') {
    return strictly(name, type, settled, (from: Numeric, to: Numeric, step: Numeric = numericOf(1)) =>
      numericSeries(from, to, step),
    );
  }
  const one = type.name === 'int8' ? 1n : 1;
  return strictly(name, type, settled, (from: number, to: number, step: number = one as number) =>
    wholeSeries(from, to, step),
  );
}

/** Numbers or bigints: the closures take both. */
function* wholeSeries(from: number, to: number, step: number): Iterable<number> {
  if (!step) throw new SqlError('22023', 'step size cannot equal zero');
  for (let at = from; step > 0 ? at <= to : at >= to; at += step) yield at;
}

function* numericSeries(from: Numeric, to: Numeric, step: Numeric): Iterable<Numeric> {
  if (step.value.isZero()) throw new SqlError('22023', 'step size cannot equal zero');
  const sign = step.value.isNegative() ? -1 : 1;
  for (let at = from; compareNumerics(at, to) * sign <= 0; at = addNumerics(at, step)) yield at;
}

function isTime(a: SqlType, b: SqlType): boolean {
  return [a, b].some(({ name }) => name === 'date' || name === 'timestamp' || name === 'timestamptz');
}

function timeSeries(operands: readonly [Expression, Expression, Expression], scope: Scope, name: string): SetReturning {
  const [first, second, step] = operands;
  const isZoned = [first.type, second.type].some(({ name: each }) => each === 'timestamptz' || each === 'date');
  const type = isZoned ? types.timestamptz : types.timestamp;
  const [from, to] = [coerce(first, type, -1, 'implicit', scope), coerce(second, type, -1, 'implicit', scope)];
  return strictly(name, type, [from, to, coerce(step, types.interval, -1, 'implicit', scope)], instants);
}

function* instants(from: bigint, to: bigint, step: Interval): Iterable<bigint> {
  const length = intervalLength(step);
  if (length === 0n) throw new SqlError('22023', 'step size cannot equal zero');
  for (let at = from; length > 0n ? at <= to : at >= to; at = addToTimestamp(at, step)) yield at;
}

function subscripts([array, dimension]: readonly Expression[], scope: Scope, name: string): SetReturning | undefined {
  if (array?.type.element === undefined || dimension === undefined) return undefined;
  return strictly(
    name,
    types.int4,
    [array, coerce(dimension, types.int4, -1, 'implicit', scope)],
    (value: SqlArray, number: number) => (number === 1 ? value.elements.map((_, i) => i + 1) : []),
  );
}

/** Several arrays stand side by side; the shorter ones end in NULLs. */
function unnest(operands: readonly Expression[], _scope: Scope, name: string): SetReturning | undefined {
  const elements = operands.map(({ type }) => type.element);
  if (operands.length === 0 || elements.includes(undefined)) return undefined;
  return {
    columns: elements.map((type) => ({ name, type: type ?? types.text })),
    *rows(frame) {
      const arrays = operands.map(({ evaluate }) => (evaluate(frame) as SqlArray | null)?.elements ?? []);
      const length = Math.max(...arrays.map((array) => array.length));
      for (let i = 0; i < length; i += 1) yield arrays.map((array) => array[i] ?? null);
    },
  };
}

function jsonOperand([operand, ...others]: readonly Expression[], scope: Scope, name: string): Expression | undefined {
  const type = name.startsWith('jsonb') ? types.jsonb : types.json;
  if (operand === undefined || others.length > 0 || !canCast(operand.type, type, 'implicit', scope.dialect))
    return undefined;
  return coerce(operand, type, -1, 'implicit', scope);
}

function ofJson(
  operands: readonly Expression[],
  scope: Scope,
  name: string,
  type: SqlType,
  column: string,
  make: (value: never) => Iterable<SqlValue>,
): SetReturning | undefined {
  const operand = jsonOperand(operands, scope, name);
  return operand === undefined ? undefined : strictly(column, type, [operand], make);
}

function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new SqlError('22023', `cannot extract elements from ${isJsonObject(value) ? 'an object' : 'a scalar'}`);
}

function documentElements({ value }: JsonDocument): SqlValue[] {
  return itemsOf(value).map(jsonDocument);
}

function documentTexts({ value }: JsonDocument): SqlValue[] {
  return itemsOf(value).map(jsonPartText);
}

function nodesOfArray(text: string): ReturnType<typeof parseJson>[] {
  const { value } = parseJson(text);
  if (typeof value === 'object' && value !== null && value.kind === 'array') return [...value.items];
  const isObject = typeof value === 'object' && value !== null && value.kind === 'object';
  throw new SqlError(
    '22023',
    isObject ? 'cannot call json_array_elements on a non-array' : 'cannot call json_array_elements on a scalar',
  );
}

function arrayElements(text: string): SqlValue[] {
  return nodesOfArray(text).map((node) => nodeSource(text, node));
}

function arrayTexts(text: string): SqlValue[] {
  return nodesOfArray(text).map((node) => nodeText(text, node));
}

function membersOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (isJsonObject(value)) return value;
  throw new SqlError('22023', `cannot call ${name} on ${Array.isArray(value) ? 'an array' : 'a scalar'}`);
}

function documentKeys({ value }: JsonDocument): string[] {
  return sortedKeys(membersOf(value, 'jsonb_object_keys'));
}

function nodeMembers(text: string, name: string): readonly (readonly [string, ReturnType<typeof parseJson>])[] {
  const { value } = parseJson(text);
  if (typeof value === 'object' && value !== null && value.kind === 'object') return value.members;
  throw new SqlError('22023', `cannot call ${name} on a non-object`);
}

function objectKeys(text: string): string[] {
  return nodeMembers(text, 'json_object_keys').map(([key]) => key);
}

function ofPairs(operands: readonly Expression[], scope: Scope, name: string, type: SqlType): SetReturning | undefined {
  const operand = jsonOperand(operands, scope, name);
  if (operand === undefined) return undefined;
  return {
    columns: [
      { name: 'key', type: types.text },
      { name: 'value', type },
    ],
    *rows(frame) {
      const value = operand.evaluate(frame);
      if (value === null) return;
      yield* typeof value === 'string'
        ? textPairs(value, name, type)
        : documentPairs(value as JsonDocument, name, type);
    },
  };
}

function textPairs(text: string, name: string, type: SqlType): SqlValue[][] {
  const show = type.name === 'text' ? nodeText : nodeSource;
  return nodeMembers(text, name).map(([key, node]) => [key, show(text, node)]);
}

function documentPairs({ value }: JsonDocument, name: string, type: SqlType): SqlValue[][] {
  const members = membersOf(value, name);
  return sortedKeys(members).map((key) => [
    key,
    type.name === 'text' ? jsonPartText(members[key]) : jsonDocument(members[key]),
  ]);
}

function texts(operands: readonly Expression[], scope: Scope): Expression[] {
  return operands.map((each) => coerce(settleParameter(each, types.text, scope), types.text, -1, 'implicit', scope));
}

function splitTable(operands: readonly Expression[], scope: Scope, name: string): SetReturning | undefined {
  if (operands.length < 2 || operands.length > 3) return undefined;
  const given = texts(operands, scope);
  return {
    columns: [{ name, type: types.text }],
    *rows(frame) {
      const [text = null, separator = null, nullText = null] = given.map(({ evaluate }) => evaluate(frame));
      chargeFor(frame.execution.budget, textBytes(text) * SPLIT_FACTOR);
      const parts = splitText(text as string | null, separator as string | null, nullText as string | null);
      for (const part of parts ?? []) yield [part];
    },
  };
}

function regexTable(operands: readonly Expression[], scope: Scope, name: string): SetReturning | undefined {
  return ofRegex(operands, scope, name, types.text, (execution, text, pattern, flags) =>
    pattern === '' ? charactersOf(text) : withRegex(execution, text, [pattern, flags], (regex) => text.split(regex)),
  );
}

function regexMatches(operands: readonly Expression[], scope: Scope, name: string): SetReturning | undefined {
  const type: SqlType = { name: 'array', oid: 1009, element: types.text };
  return ofRegex(operands, scope, name, type, function* matches(execution, text, pattern, flags) {
    for (const match of eachMatch(execution, text, pattern, flags)) {
      yield {
        kind: 'array' as const,
        elements: match.length > 1 ? match.slice(1).map((group) => (group as string | undefined) ?? null) : [match[0]],
      };
      if (!flags.includes('g')) return;
    }
  });
}

function ofRegex(
  operands: readonly Expression[],
  scope: Scope,
  name: string,
  type: SqlType,
  make: (execution: Execution, text: string, pattern: string, flags: string) => Iterable<SqlValue>,
): SetReturning | undefined {
  if (operands.length < 2 || operands.length > 3) return undefined;
  const given = texts(operands, scope);
  return {
    columns: [{ name, type }],
    *rows(frame) {
      const values = given.map(({ evaluate }) => evaluate(frame));
      if (values.includes(null)) return;
      // They have been cast to text.
      const [text = '', pattern = '', flags = ''] = values as string[];
      chargeFor(frame.execution.budget, textBytes(text) * SPLIT_FACTOR);
      for (const value of make(frame.execution, text, pattern, flags)) yield [value];
    },
  };
}
