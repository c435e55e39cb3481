/**
 * Frames of windows: which rows of its partition a row's function sees. PostgreSQL manual, 4.2.8; `update_frameheadpos` and
 * `update_frametailpos` of nodeWindowAgg.c.
 */
import type { Node, WindowDef } from '@pgsql/types';
import { comparatorOf, SqlError, typeTitle, type SqlType, types, type SqlValue } from '../model/index.ts';
import { applyOperator, coerce, compileExpression } from '../expressions/index.ts';
import type { Expression, Frame } from '../expression.ts';
import type { QueryScope } from './scope.ts';
import type { SortOrder } from './sort.ts';

/** A partition in its order, with the peers of each row. */
export interface Ordered {
  readonly length: number;
  /** Of row i: the first of its peers, and the position after the last. */
  readonly peersStart: readonly number[];
  readonly peersEnd: readonly number[];
  /** Makes the frame's row that of row i. */
  readonly visit: (i: number) => void;
}

export type Exclusion = 'none' | 'current row' | 'group' | 'ties';

export interface WindowFrame {
  readonly exclusion: Exclusion;
  /** The bounds for the rows of one partition: the first row, and the position after the last. */
  readonly boundsIn: (partition: Ordered, frame: Frame) => (i: number) => readonly [start: number, end: number];
}

// nodes/parsenodes.h, FRAMEOPTION_*
const bits = {
  rows: 0x00004,
  groups: 0x00008,
  startUnbounded: 0x00020,
  endUnbounded: 0x00100,
  startCurrent: 0x00200,
  endCurrent: 0x00400,
  startPreceding: 0x00800,
  endPreceding: 0x01000,
  excludeCurrentRow: 0x08000,
  excludeGroup: 0x10000,
  excludeTies: 0x20000,
} as const;

type Mode = 'rows' | 'range' | 'groups';
type Side = 'start' | 'end';

/** Where one side of the frame of row i is, in one partition. */
type Place = (i: number) => number;
type PlaceIn = (partition: Ordered, frame: Frame) => Place;

/** The one key that RANGE with an offset counts from. */
export interface WindowOrder {
  readonly keys: readonly Expression[];
  readonly orders: readonly SortOrder[];
}

/** @throws SqlError 42P20 RANGE with an offset needs one key, GROUPS any; 0A000, 42883 no offset of this type */
export function planFrame(
  { frameOptions = 0, startOffset, endOffset, location = 0 }: WindowDef,
  order: WindowOrder,
  scope: QueryScope,
): WindowFrame {
  const has = (bit: number): boolean => (frameOptions & bit) !== 0;
  const mode: Mode = has(bits.rows) ? 'rows' : has(bits.groups) ? 'groups' : 'range';
  const position = location + 1;
  if (mode === 'groups' && order.keys.length === 0)
    throw new SqlError('42P20', 'GROUPS mode requires an ORDER BY clause', { position });
  const startOf = sideOf('start', mode, has(bits.startCurrent), has(bits.startPreceding), startOffset, order, scope);
  const endOf = sideOf('end', mode, has(bits.endCurrent), has(bits.endPreceding), endOffset, order, scope);
  return {
    exclusion: has(bits.excludeCurrentRow)
      ? 'current row'
      : has(bits.excludeGroup)
        ? 'group'
        : has(bits.excludeTies)
          ? 'ties'
          : 'none',
    boundsIn(partition, frame) {
      const start = has(bits.startUnbounded) ? () => 0 : startOf(partition, frame);
      const end = has(bits.endUnbounded) ? () => partition.length : endOf(partition, frame);
      return (i) => {
        const first = start(i);
        return [first, Math.max(first, end(i))];
      };
    },
  };
}

function sideOf(
  side: Side,
  mode: Mode,
  isCurrent: boolean,
  isPreceding: boolean,
  offset: Node | undefined,
  order: WindowOrder,
  scope: QueryScope,
): PlaceIn {
  if (isCurrent || offset === undefined) return currentPlace(side, mode);
  if (mode === 'range') return rangePlace(side, isPreceding, offset, order, scope);
  const count = coerce(compileOffset(offset, types.int8, mode, scope), types.int8, -1, 'assignment', scope);
  const place = mode === 'rows' ? rowsPlace : groupsPlace;
  return (partition, frame) => place(side, Number(offsetValue(count, side, frame)) * (isPreceding ? -1 : 1), partition);
}

function currentPlace(side: Side, mode: Mode): PlaceIn {
  if (mode === 'rows') return () => (i) => (side === 'start' ? i : i + 1);
  return ({ peersStart, peersEnd }) =>
    (i) =>
      (side === 'start' ? peersStart[i] : peersEnd[i]) ?? 0;
}

/** The same for every row. @throws SqlError 22004, 22013 */
function offsetValue(offset: Expression, side: Side, frame: Frame): Exclude<SqlValue, null> {
  const name = `frame ${side === 'start' ? 'starting' : 'ending'} offset`;
  const value = offset.evaluate(frame);
  if (value === null) throw new SqlError('22004', `${name} must not be null`);
  if (typeof value === 'bigint' && value < 0n) throw new SqlError('22013', `${name} must not be negative`);
  return value;
}

function rowsPlace(side: Side, by: number, { length }: Ordered): Place {
  return (i) => clamped(side === 'start' ? i + by : i + by + 1, length);
}

function groupsPlace(side: Side, by: number, { length, peersStart, peersEnd }: Ordered): Place {
  const starts = peersStart.filter((start, i) => start === i);
  const numbers: number[] = [];
  for (const [number, start] of starts.entries()) {
    const end = peersEnd[start] ?? length;
    for (let i = start; i < end; i++) numbers.push(number);
  }
  return (i) => {
    const group = (numbers[i] ?? 0) + by;
    if (group < 0) return 0;
    const start = starts[group];
    if (start === undefined) return length;
    return side === 'start' ? start : (peersEnd[start] ?? length);
  };
}

function clamped(place: number, length: number): number {
  return Math.max(0, Math.min(place, length));
}

/** RANGE with an offset: rows whose key is not further than that from the key of the row. NULLs have their peers alone. */
function rangePlace(
  side: Side,
  isPreceding: boolean,
  offset: Node,
  { keys, orders }: WindowOrder,
  scope: QueryScope,
): PlaceIn {
  const [given, another] = keys;
  const [order] = orders;
  if (given === undefined || order === undefined || another !== undefined) {
    throw new SqlError('42P20', 'RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column');
  }
  const { key, distance } = rangeOperands(given, offset, scope);
  // Before a row in descending order are the larger keys.
  const operator = isPreceding === order.isDescending ? '+' : '-';
  const limit = applyOperator(operator, [key, distance], scope, 0);
  const comparable = coerce(key, limit.type, -1, 'implicit', scope);
  const compare = comparatorOf(limit.type, scope.dialect);
  const sign = order.isDescending ? -1 : 1;
  return (partition, frame) => {
    const step = offsetValue(distance, side, frame);
    if (isNegative(step, distance.type))
      throw new SqlError('22013', 'invalid preceding or following size in window function');
    const values: SqlValue[] = [];
    for (let i = 0; i < partition.length; i++) {
      partition.visit(i);
      values.push(comparable.evaluate(frame));
    }
    return (i) => {
      if (values[i] === null) return (side === 'start' ? partition.peersStart[i] : partition.peersEnd[i]) ?? 0;
      partition.visit(i);
      const bound = limit.evaluate(frame);
      if (bound === null) return 0;
      // Both infinite with opposite effects, as `in_range` of floats has it: every row is in the frame up to here.
      const isOpen = isInfinite(step) && isInfinite(values[i] ?? null) && isNotANumber(bound);
      const isBefore = (value: SqlValue): boolean => {
        if (value === null) return order.nullsFirst;
        if (isOpen) return isNotANumber(value) ? order.isDescending : side === 'end';
        const difference = sign * compare(value, bound);
        return side === 'start' ? difference < 0 : difference <= 0;
      };
      return countBefore(values, isBefore);
    };
  };
}

/** Whole numbers are compared as numerics, which have no end. */
function rangeOperands(key: Expression, offset: Node, scope: QueryScope): { key: Expression; distance: Expression } {
  const isTime = ['date', 'time', 'timestamp', 'timestamptz', 'interval'].includes(key.type.name);
  const wanted = isTime ? types.interval : key.type;
  const distance = compileOffset(offset, wanted, 'range', scope);
  const typed = distance.type.name === 'unknown' ? coerce(distance, wanted, -1, 'implicit', scope) : distance;
  if (!canCountFrom(key.type, typed.type, wanted)) {
    const of = `column type ${typeTitle(key.type)} and offset type ${typeTitle(typed.type)}`;
    throw new SqlError('0A000', `RANGE with offset PRECEDING/FOLLOWING is not supported for ${of}`);
  }
  if (!isExact(key.type) || !isExact(typed.type)) return { key, distance: typed };
  const exact = (each: Expression): Expression => coerce(each, types.numeric, -1, 'implicit', scope);
  return { key: exact(key), distance: exact(typed) };
}

const exactNames = new Set<string>(['int2', 'int4', 'int8', 'uint8', 'numeric']);

function isExact({ name }: SqlType): boolean {
  return exactNames.has(name);
}

/** PostgreSQL's `in_range` functions; MySQL's numbers mix. */
function canCountFrom(key: SqlType, distance: SqlType, wanted: SqlType): boolean {
  if (wanted.name === 'interval') return distance.name === 'interval';
  const isFloat = ({ name }: SqlType): boolean => name === 'float4' || name === 'float8';
  return (isExact(key) || isFloat(key)) && (isExact(distance) || isFloat(distance));
}

/** @throws SqlError 42P10 it depends on the row */
function compileOffset(offset: Node, wanted: SqlType, mode: Mode, scope: QueryScope): Expression {
  const { result, uses } = scope.tracked(() => compileExpression(offset, scope, wanted));
  if (uses.size > 0) throw new SqlError('42P10', `argument of ${mode.toUpperCase()} must not contain variables`);
  return result;
}

function isNegative(value: SqlValue, type: SqlType): boolean {
  if (type.name === 'numeric')
    return (value as { value: { isNegative(): boolean; isZero(): boolean } }).value.isNegative();
  if (typeof value === 'number' || typeof value === 'bigint') return value < 0;
  return false;
}

function isInfinite(value: SqlValue): boolean {
  return isOf(value, (number) => !Number.isFinite(number) && !Number.isNaN(number));
}

function isNotANumber(value: SqlValue): boolean {
  return isOf(value, Number.isNaN);
}

function isOf(value: SqlValue, holds: (number: number) => boolean): boolean {
  if (typeof value === 'number') return holds(value);
  return typeof value === 'object' && value !== null && 'scale' in value && holds(Number(value.value));
}

/** How many values at the beginning are before: they are in order. */
function countBefore(values: readonly SqlValue[], isBefore: (value: SqlValue) => boolean): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(values[middle] ?? null)) low = middle + 1;
    else high = middle;
  }
  return low;
}
