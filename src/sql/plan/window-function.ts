/** What functions compute over the rows of a partition. PostgreSQL manual, 9.22. */
import { type Aggregate, coerce } from '../expressions/index.ts';
import type { Expression, Frame } from '../expression.ts';
import { SqlError, type SqlType, types, type SqlValue } from '../model/index.ts';
import type { QueryScope } from './scope.ts';
import type { Ordered, WindowFrame } from './window-frame.ts';

/** A value for each row of a partition, in order. */
export type Compute = (partition: Ordered, window: WindowFrame, frame: Frame) => SqlValue[];

export interface WindowFunction {
  readonly type: SqlType;
  readonly compute: Compute;
}

/** An aggregate continues where the frame only grows at its end; else it starts again. */
export function overFrame(aggregate: Aggregate): Compute {
  return (partition, window, frame) => {
    const boundsOf = window.boundsIn(partition, frame);
    const { budget } = frame.execution;
    let state = aggregate.start();
    let [from, done] = [0, 0];
    return eachRow(partition, (i) => {
      const [start, end] = boundsOf(i);
      const isGrowing = window.exclusion === 'none' && start === from && end >= done;
      if (!isGrowing) {
        state = aggregate.start();
        [from, done] = [start, start];
      }
      for (; done < end; done++) {
        budget?.checkInterrupt();
        if (isExcluded(done, i, partition, window)) continue;
        partition.visit(done);
        state.add(frame);
      }
      return state.result(frame);
    });
  };
}

function eachRow({ length }: Ordered, valueOf: (i: number) => SqlValue): SqlValue[] {
  return Array.from({ length }, (_, i) => valueOf(i));
}

function isExcluded(row: number, current: number, partition: Ordered, { exclusion }: WindowFrame): boolean {
  if (exclusion === 'none') return false;
  if (exclusion === 'current row') return row === current;
  const isPeer = row >= (partition.peersStart[current] ?? 0) && row < (partition.peersEnd[current] ?? 0);
  return isPeer && (exclusion === 'group' || row !== current);
}

/** `undefined`: no window function of this name and number of arguments. */
export function windowFunction(
  name: string,
  args: readonly Expression[],
  scope: QueryScope,
): WindowFunction | undefined {
  const [first, second, third] = args;
  switch (name) {
    case 'row_number':
      return { type: types.int8, compute: (partition) => eachRow(partition, (i) => BigInt(i + 1)) };
    case 'rank':
      return { type: types.int8, compute: (partition) => eachRow(partition, (i) => BigInt(rankOf(partition, i))) };
    case 'dense_rank':
      return { type: types.int8, compute: denseRanks };
    case 'percent_rank':
      return {
        type: types.float8,
        compute: (partition) =>
          eachRow(partition, (i) => (partition.length < 2 ? 0 : (rankOf(partition, i) - 1) / (partition.length - 1))),
      };
    case 'cume_dist':
      return {
        type: types.float8,
        compute: (partition) => eachRow(partition, (i) => (partition.peersEnd[i] ?? 0) / partition.length),
      };
    case 'ntile':
      return first === undefined ? undefined : ntile(coerce(first, types.int4, -1, 'implicit', scope));
    case 'lag':
    case 'lead':
      return first === undefined ? undefined : shifted(first, second, third, name === 'lag' ? -1 : 1, scope);
    case 'first_value':
      return first === undefined ? undefined : { type: first.type, compute: nthOfFrame(first, () => 1) };
    case 'last_value':
      return first === undefined ? undefined : { type: first.type, compute: nthOfFrame(first, () => -1) };
    case 'nth_value': {
      if (first === undefined || second === undefined) return undefined;
      const count = coerce(second, types.int4, -1, 'implicit', scope);
      return {
        type: first.type,
        compute: nthOfFrame(first, (frame) => positiveCount(count, frame, 'nth_value', '22016')),
      };
    }
    default:
      return undefined;
  }
}

function rankOf({ peersStart }: Ordered, i: number): number {
  return (peersStart[i] ?? 0) + 1;
}

function denseRanks(partition: Ordered): SqlValue[] {
  let rank = 0n;
  return eachRow(partition, (i) => {
    if (partition.peersStart[i] === i) rank += 1n;
    return rank;
  });
}

/** @throws SqlError @param code of the error of a number that is not positive */
function positiveCount(count: Expression, frame: Frame, name: string, code: string): number | null {
  const value = count.evaluate(frame) as number | null;
  if (value !== null && value <= 0)
    throw new SqlError(code, `argument of ${name} must be greater than zero`, { mysqlNumber: 1210 });
  return value;
}

/** Parts of equal sizes, the first ones larger by one where that does not come out. The number of parts is that of the first row. */
function ntile(count: Expression): WindowFunction {
  return {
    type: types.int4,
    compute: (partition, _window, frame) => {
      partition.visit(0);
      const parts = positiveCount(count, frame, 'ntile', '22014');
      if (parts === null) return eachRow(partition, () => null);
      const size = Math.floor(partition.length / parts);
      const larger = partition.length % parts;
      const inLarger = larger * (size + 1);
      return eachRow(partition, (i) =>
        i < inLarger ? Math.floor(i / (size + 1)) + 1 : larger + Math.floor((i - inLarger) / size) + 1,
      );
    },
  };
}

function shifted(
  value: Expression,
  distance: Expression | undefined,
  fallback: Expression | undefined,
  direction: 1 | -1,
  scope: QueryScope,
): WindowFunction {
  const by = distance === undefined ? undefined : coerce(distance, types.int4, -1, 'implicit', scope);
  const otherwise = fallback === undefined ? undefined : coerce(fallback, value.type, -1, 'implicit', scope);
  const compute: Compute = (partition, _window, frame) =>
    eachRow(partition, (i) => {
      partition.visit(i);
      const steps = by === undefined ? 1 : (by.evaluate(frame) as number | null);
      if (steps === null) return null;
      const other = i + direction * steps;
      if (other < 0 || other >= partition.length) return otherwise?.evaluate(frame) ?? null;
      partition.visit(other);
      return value.evaluate(frame);
    });
  return { type: value.type, compute };
}

/** The value in the n-th row of the frame, from its end where n is negative. */
function nthOfFrame(value: Expression, nOf: (frame: Frame) => number | null): Compute {
  return (partition, window, frame) => {
    const boundsOf = window.boundsIn(partition, frame);
    return eachRow(partition, (i) => {
      partition.visit(i);
      const n = nOf(frame);
      if (n === null) return null;
      const [start, end] = boundsOf(i);
      const found = nthRow(n, start, end, (row) => isExcluded(row, i, partition, window));
      if (found === null) return null;
      partition.visit(found);
      return value.evaluate(frame);
    });
  };
}

function nthRow(n: number, start: number, end: number, isOut: (row: number) => boolean): number | null {
  const step = n < 0 ? -1 : 1;
  let left = Math.abs(n);
  for (let row = n < 0 ? end - 1 : start; row >= start && row < end; row += step) {
    if (isOut(row)) continue;
    left -= 1;
    if (left === 0) return row;
  }
  return null;
}
