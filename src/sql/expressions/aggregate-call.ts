/** Aggregate calls: arguments, DISTINCT, FILTER and ORDER BY, compiled; what a group accumulates. */
import type { FuncCall, Node, SortBy } from '@pgsql/types';
import {
  comparatorOf,
  type Dialect,
  engineRules,
  expressionRules,
  notSupported,
  SqlError,
  types,
  type SqlType,
  type SqlValue,
} from '../model/index.ts';
import type { Expression, Frame, Scope } from '../expression.ts';
import { aggregateFunction, aggregateNames, distinctly, mysqlAggregateNames } from './aggregates.ts';
import type { Accumulator, AggregateFunction } from './aggregate-function.ts';
import { unknownFunction } from './call.ts';
import { AccumulatingGroups, CountingGroups, type GroupStates, SeparateGroups } from './group-states.ts';
import { valuesReader } from './values-reader.ts';
import { compileExpression } from './compile.ts';
import { timeDigits } from './compile-logic.ts';
import { namesOf, positionOf } from './compiler.ts';
import { coerce, coerceToBoolean, settleParameter } from './coerce.ts';
import { arithmeticType, isTemporal } from './mysql-values.ts';

export interface Aggregate {
  readonly type: SqlType;
  readonly modifier: number;
  /** As `Expression.isUnsigned`. */
  readonly isUnsigned: boolean;
  readonly start: () => AggregateState;
  /** Of all groups of a query. */
  readonly startGroups: () => GroupStates;
  /** MIN or MAX of a plain column: one row is enough, the first or last by that column. */
  readonly extreme: Extreme | null;
}

export interface Extreme {
  readonly row: number;
  readonly cell: number;
  readonly isGreatest: boolean;
}

/** One group's, or one window's. */
export interface AggregateState {
  /** The frame's rows are those of a row of the group. @returns false where FILTER leaves it out */
  add(frame: Frame): boolean;
  /** More rows may be added afterwards. */
  result(frame: Frame): SqlValue;
}

/** Is it the name of an aggregate, of either dialect? */
export function isAggregate(call: FuncCall): boolean {
  const name = functionName(call);
  return aggregateNames.has(name) || mysqlAggregateNames.has(name);
}

function functionName(call: FuncCall): string {
  return (namesOf(call.funcname).at(-1) ?? '').toLowerCase();
}

interface SortKey {
  readonly expression: Expression;
  readonly isDescending: boolean;
  readonly nullsFirst: boolean;
}

/** @throws SqlError 42883 no aggregate for these types; what its arguments throw */
export function aggregateOf(call: FuncCall, scope: Scope): Aggregate {
  const name = functionName(call);
  const position = positionOf(call.location);
  if (call.agg_within_group === true) throw notSupported('WITHIN GROUP', position);
  if (call.func_variadic === true) throw notSupported('VARIADIC', position);
  const raw = (call.args ?? []).map((node) => asSummand(name, compileExpression(node, scope), scope));
  const isCountAll = call.agg_star === true;
  if (isCountAll !== (raw.length === 0)) throw unknownFunction(name, raw, 'none', scope, position);
  const found = aggregateFunction(
    name,
    raw.map(({ type }) => type),
    scope.dialect,
  );
  if (found === undefined) throw unknownFunction(name, raw, 'none', scope, position);
  const operands = raw.map((each, i) => {
    const wanted = found.argumentTypes[i] ?? types.text;
    const typed = settleParameter(each, wanted, scope);
    return wanted.name === 'record'
      ? typed
      : coerce(typed, wanted, -1, expressionRules[scope.dialect].convertsAll ? 'explicit' : 'implicit', scope);
  });
  const filter =
    call.agg_filter === undefined
      ? undefined
      : coerceToBoolean(compileExpression(call.agg_filter, scope), 'FILTER', scope);
  const keys = sortKeys(call, raw, scope);
  return {
    type: found.type,
    modifier: extremeDigits(name, operands[0], scope.dialect),
    isUnsigned: (name === 'min' || name === 'max') && raw[0]?.isUnsigned === true,
    extreme: filter === undefined ? extremeOf(name, raw[0]) : null,
    ...starterOf({ found, operands, filter, keys, isDistinct: call.agg_distinct === true, scope }),
  };
}

/** MySQL adds up times as the exact numbers that they are, and labels of an ENUM as their places. */
function asSummand(name: string, operand: Expression, scope: Scope): Expression {
  const hasNumber = isTemporal(operand.type) || operand.type.name === 'enum';
  if (!expressionRules[scope.dialect].convertsAll || !hasNumber || (name !== 'sum' && name !== 'avg')) return operand;
  return coerce(operand, arithmeticType(operand), -1, 'explicit', scope);
}

/** MySQL's greatest and least moments have the digits of the second of all. */
function extremeDigits(name: string, operand: Expression | undefined, dialect: Dialect): number {
  return operand !== undefined && (name === 'min' || name === 'max') ? timeDigits([operand], dialect) : -1;
}

function extremeOf(name: string, argument: Expression | undefined): Extreme | null {
  if ((name !== 'min' && name !== 'max') || argument?.column === undefined) return null;
  return { ...argument.column, isGreatest: name === 'max' };
}

function sortKeys(call: FuncCall, operands: readonly Expression[], scope: Scope): SortKey[] {
  return (call.agg_order ?? []).flatMap((node) =>
    'SortBy' in node ? [sortKey(node.SortBy, call.args ?? [], operands, scope)] : [],
  );
}

function sortKey(
  { node, sortby_dir, sortby_nulls }: SortBy,
  args: readonly Node[],
  operands: readonly Expression[],
  scope: Scope,
): SortKey {
  if (node === undefined) throw notSupported('this ORDER BY');
  const same = args.findIndex((each) => JSON.stringify(each) === JSON.stringify(node));
  const expression = settleParameter(operands[same] ?? compileExpression(node, scope), types.text, scope);
  const isDescending = sortby_dir === 'SORTBY_DESC';
  const byDefault = isDescending !== engineRules[scope.dialect].nullsAreSmallest;
  const nullsFirst = sortby_nulls === 'SORTBY_NULLS_FIRST' || (sortby_nulls !== 'SORTBY_NULLS_LAST' && byDefault);
  return { expression, isDescending, nullsFirst };
}

interface Plan {
  readonly found: AggregateFunction;
  readonly operands: readonly Expression[];
  readonly filter: Expression | undefined;
  readonly keys: readonly SortKey[];
  readonly isDistinct: boolean;
  readonly scope: Scope;
}

type ReadValues = (frame: Frame) => readonly SqlValue[];
type Filter = (frame: Frame) => boolean;

function starterOf(plan: Plan): Pick<Aggregate, 'start' | 'startGroups'> {
  const { found, operands, filter, keys, isDistinct } = plan;
  const values = valuesReader(operands);
  const isIn = filter === undefined ? null : (frame: Frame): boolean => filter.evaluate(frame) === true;
  if (keys.length > 0 || isDistinct) {
    const start = (): Sorting => new Sorting(plan, values, isIn);
    return { start, startGroups: () => new SeparateGroups(start) };
  }
  return {
    start: () => new Adding(found.start(), values, isIn),
    startGroups: () =>
      found.isCount === true ? new CountingGroups(operands, isIn) : new AccumulatingGroups(found.start, values, isIn),
  };
}

/** Of a window. */
class Adding implements AggregateState {
  readonly #accumulator: Accumulator;
  readonly #values: ReadValues;
  readonly #isIn: Filter | null;

  constructor(accumulator: Accumulator, values: ReadValues, isIn: Filter | null) {
    this.#accumulator = accumulator;
    this.#values = values;
    this.#isIn = isIn;
  }

  add(frame: Frame): boolean {
    if (this.#isIn !== null && !this.#isIn(frame)) return false;
    this.#accumulator.add(this.#values(frame));
    return true;
  }

  result(): SqlValue {
    return this.#accumulator.finish();
  }
}

/** DISTINCT without ORDER BY goes in order too: PostgreSQL sorts to find what is equal, and array_agg shows it. */
class Sorting implements AggregateState {
  readonly #plan: Plan;
  readonly #values: ReadValues;
  readonly #isIn: Filter | null;
  readonly #kept: Kept[] = [];

  constructor(plan: Plan, values: ReadValues, isIn: Filter | null) {
    this.#plan = plan;
    this.#values = values;
    this.#isIn = isIn;
  }

  add(frame: Frame): boolean {
    if (this.#isIn !== null && !this.#isIn(frame)) return false;
    const keys = this.#plan.keys.map(({ expression }) => expression.evaluate(frame));
    this.#kept.push({ values: this.#values(frame), keys });
    return true;
  }

  result(): SqlValue {
    const accumulator = accumulatorOf(this.#plan);
    for (const row of this.#kept.toSorted(comparison(this.#plan))) accumulator.add(row.values);
    return accumulator.finish();
  }
}

function accumulatorOf({ found, isDistinct, operands, scope }: Plan): Accumulator {
  const accumulator = found.start();
  const given = operands.map(({ type }) => type);
  return isDistinct ? distinctly(accumulator, given, scope.dialect) : accumulator;
}

type Kept = { readonly values: readonly SqlValue[]; readonly keys: readonly SqlValue[] };

function comparison({ keys, operands, isDistinct, scope }: Plan): (a: Kept, b: Kept) => number {
  const byKeys = keys.map((key, i) => order(key, (row: Kept) => row.keys[i] ?? null, scope));
  const byValues =
    isDistinct && keys.length === 0 && expressionRules[scope.dialect].distinctIsOrdered
      ? operands
          .filter(({ type }) => type.name !== 'json' && type.name !== 'record')
          .map((expression, i) =>
            order({ expression, isDescending: false, nullsFirst: false }, (row: Kept) => row.values[i] ?? null, scope),
          )
      : [];
  const all = [...byKeys, ...byValues];
  return (a, b) => {
    for (const compare of all) {
      const result = compare(a, b);
      if (result !== 0) return result;
    }
    return 0;
  };
}

function order(
  { expression, isDescending, nullsFirst }: SortKey,
  take: (row: Kept) => SqlValue,
  scope: Scope,
): (a: Kept, b: Kept) => number {
  if (expression.type.name === 'json') {
    throw new SqlError('42883', 'could not identify an ordering operator for type json');
  }
  const compare = comparatorOf(expression.type, scope.dialect);
  return (first, second) => {
    const [a, b] = [take(first), take(second)];
    if (a === null || b === null) return a === b ? 0 : (a === null) === nullsFirst ? -1 : 1;
    return isDescending ? compare(b, a) : compare(a, b);
  };
}
