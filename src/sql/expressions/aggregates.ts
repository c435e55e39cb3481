/** Aggregate functions over values: what they start with, how a row is added, what comes out. PostgreSQL manual, 9.21. */
import {
  comparatorOf,
  type Dialect,
  addNumerics,
  divideNumerics,
  divideToScale,
  multiplyNumerics,
  numericOf,
  subtractNumerics,
  type Numeric,
  rowKey,
  SqlError,
  types,
  type SqlType,
  type TypeName,
  addIntervals,
  divideInterval,
  type Interval,
  type SqlValue,
} from '../model/index.ts';
import { aggregate } from './aggregate-function.ts';
import type { Accumulator, AggregateFunction } from './aggregate-function.ts';
import { collecting, groupConcat } from './collecting-aggregates.ts';
import { folding, integerNames, summingExactly } from './folding.ts';
import { deviation, varianceOfFloats, varianceOfNumerics } from './statistics.ts';
import type { Sample } from './statistics.ts';

type Present = Exclude<SqlValue, null>;

export const aggregateNames: ReadonlySet<string> = new Set(
  'count sum avg min max bool_and bool_or every string_agg array_agg json_agg jsonb_agg json_object_agg jsonb_object_agg bit_and bit_or bit_xor stddev stddev_samp stddev_pop variance var_samp var_pop any_value'.split(
    ' ',
  ),
);

export const mysqlAggregateNames: ReadonlySet<string> = new Set(
  'count sum avg min max group_concat json_arrayagg json_objectagg bit_and bit_or bit_xor std stddev stddev_samp stddev_pop variance var_samp var_pop any_value'.split(
    ' ',
  ),
);

/** `undefined`: there is none of this name for these types. `count(*)` has no arguments. */
export function aggregateFunction(
  name: string,
  given: readonly SqlType[],
  dialect: Dialect,
): AggregateFunction | undefined {
  const [first] = given;
  if (name === 'count') return given.length > 1 && !aggregateRules[dialect].countsSeveral ? undefined : counting(given);
  if (first === undefined) return undefined;
  return (
    aggregateRules[dialect].own(name, given) ??
    numberAggregate(name, first, dialect) ??
    chosenAggregate(name, first, dialect) ??
    collecting(name, given)
  );
}

function counting(given: readonly SqlType[]): AggregateFunction {
  return { ...aggregate(types.int8, given, () => new Count()), isCount: true };
}

class Count implements Accumulator {
  #count = 0;

  add(values: readonly SqlValue[]): void {
    for (let i = 0; i < values.length; i++) if (values[i] === null) return;
    this.#count += 1;
  }

  finish(): SqlValue {
    return BigInt(this.#count);
  }
}

function numberAggregate(name: string, type: SqlType, dialect: Dialect): AggregateFunction | undefined {
  switch (name) {
    case 'sum':
      return aggregateRules[dialect].sum(type);
    case 'avg':
      return aggregateRules[dialect].average(type);
    case 'std':
    case 'stddev':
    case 'stddev_samp':
    case 'stddev_pop':
    case 'variance':
    case 'var_samp':
    case 'var_pop':
      return spreading(name, type, aggregateRules[dialect]);
    case 'bit_and':
    case 'bit_or':
    case 'bit_xor':
      return aggregateRules[dialect].bits(name, type);
    default:
      return undefined;
  }
}

/** By the type of the argument. */
type ByType = { readonly [Name in TypeName]?: (type: SqlType) => AggregateFunction };

const exactSum = summingExactly((sum) => sum);
const wholeSum = folding(
  (x: number) => BigInt(x),
  (sum: bigint, x) => sum + BigInt(x),
  checkWhole,
);
const bigintSum = folding(
  (x: bigint) => x,
  (sum: bigint, x) => sum + x,
  (sum) => numericOf(sum),
);
const realSum = folding(
  (x: number) => x,
  (sum: number, x) => checkFloat(Math.fround(sum + x), sum, x),
);
const addDoubles = (sum: number, x: number): number => checkFloat(sum + x, sum, x);
const doubleSum = folding((x: number) => x, addDoubles);
const doubleAverage = folding(
  (x: number) => x,
  addDoubles,
  (sum, count) => sum / count,
);
const intervalSum = folding((x: Interval) => x, addIntervals);
const intervalAverage = folding((x: Interval) => x, addIntervals, divideInterval);

const postgresSums: ByType = {
  int2: (type) => aggregate(types.int8, [type], wholeSum),
  int4: (type) => aggregate(types.int8, [type], wholeSum),
  int8: (type) => aggregate(types.numeric, [type], bigintSum),
  numeric: (type) => aggregate(type, [type], exactSum),
  float4: (type) => aggregate(type, [type], realSum),
  float8: () => aggregate(types.float8, [types.float8], doubleSum),
  unknown: () => aggregate(types.float8, [types.float8], doubleSum),
  interval: (type) => aggregate(type, [type], intervalSum),
};

const exactly = (type: SqlType): AggregateFunction =>
  aggregate(
    types.numeric,
    [type],
    summingExactly((sum, count) => divideNumerics(sum, numericOf(count))),
  );
const asDoubles = (): AggregateFunction => aggregate(types.float8, [types.float8], doubleAverage);

const postgresAverages: ByType = {
  int2: exactly,
  int4: exactly,
  int8: exactly,
  numeric: exactly,
  float4: asDoubles,
  float8: asDoubles,
  unknown: asDoubles,
  interval: (type) => aggregate(type, [type], intervalAverage),
};

function checkWhole(sum: bigint): bigint {
  if (BigInt.asIntN(64, sum) !== sum) throw new SqlError('22003', 'bigint out of range');
  return sum;
}

function checkFloat(sum: number, before: number, added: number): number {
  if (!Number.isFinite(sum) && Number.isFinite(before) && Number.isFinite(added)) {
    throw new SqlError('22003', 'value out of range: overflow');
  }
  return sum;
}

/** MySQL adds exact numbers exactly, all else as doubles. */
function mysqlSum({ name }: SqlType): AggregateFunction {
  if (integerNames.has(name) || name === 'numeric') return aggregate(types.numeric, [types.numeric], exactSum);
  return aggregate(types.float8, [types.float8], summingDoubles());
}

function mysqlAverage({ name }: SqlType): AggregateFunction {
  if (integerNames.has(name) || name === 'numeric') {
    const finish = (sum: Numeric, count: number): Numeric => divideToScale(sum, numericOf(count), sum.scale + 4);
    return aggregate(types.numeric, [types.numeric], summingExactly(finish));
  }
  return aggregate(
    types.float8,
    [types.float8],
    summingDoubles((sum, count) => sum / count),
  );
}

/** MySQL does not look whether a sum is finite. */
function summingDoubles(finish?: (sum: number, count: number) => number): () => Accumulator {
  return folding(
    (x: number) => x,
    (sum: number, x) => sum + x,
    finish,
  );
}

/** Variance and standard deviation, of a sample or of all. */
function spreading(
  name: string,
  type: SqlType,
  { spreadsOfAll, spreadsAsFloats }: AggregateRules,
): AggregateFunction | undefined {
  const plainIsAll = spreadsOfAll && (name === 'std' || name === 'stddev' || name === 'variance');
  const sample: Sample = name.endsWith('_pop') || plainIsAll ? 'all' : 'sample';
  const isDeviation = name.startsWith('std');
  if (spreadsAsFloats || type.name === 'float4' || type.name === 'float8' || type.name === 'unknown') {
    return aggregate(types.float8, [types.float8], () => varianceOfFloats(sample, isDeviation));
  }
  const isExact = integerNames.has(type.name) || type.name === 'numeric';
  if (!isExact || type.name === 'bool') return undefined;
  return aggregate(types.numeric, [types.numeric], () => exactSpread(sample, isDeviation));
}

function exactSpread(sample: Sample, isDeviation: boolean): Accumulator {
  let count = 0n;
  let sum = numericOf(0);
  let squares = numericOf(0);
  return {
    add: (values) => {
      const value = values[0] ?? null;
      if (value === null) return;
      const number = value as Numeric;
      count += 1n;
      sum = addNumerics(sum, number);
      squares = addNumerics(squares, multiplyNumerics(number, number));
    },
    finish: () => {
      const spread = subtractNumerics(multiplyNumerics(numericOf(count), squares), multiplyNumerics(sum, sum));
      const variance = varianceOfNumerics(spread, count, sample);
      return variance === null || !isDeviation ? variance : deviation(variance);
    },
  };
}

function combining(name: string, type: SqlType): AggregateFunction | undefined {
  if (!['int2', 'int4', 'int8'].includes(type.name)) return undefined;
  // The closures take bigints as they take numbers.
  const combine: Readonly<Record<string, (a: number, b: number) => number>> = {
    bit_and: (a, b) => a & b,
    bit_or: (a, b) => a | b,
    bit_xor: (a, b) => a ^ b,
  };
  const apply = combine[name];
  if (apply === undefined) return undefined;
  return aggregate(
    type,
    [type],
    folding(
      (x: number) => x,
      (state: number, x) => apply(state, x),
    ),
  );
}

const allBits = (1n << 64n) - 1n;

/** MySQL: 64 bits without a sign, and of no rows what changes nothing. */
function combiningBits(name: string): AggregateFunction {
  const start = name === 'bit_and' ? allBits : 0n;
  const combine = (a: bigint, b: bigint): bigint => (name === 'bit_and' ? a & b : name === 'bit_or' ? a | b : a ^ b);
  return aggregate(types.uint8, [types.int8], () => {
    let state = start;
    return {
      add: (values) => {
        const value = values[0] ?? null;
        if (value !== null) state = combine(state, BigInt.asUintN(64, value as bigint));
      },
      finish: () => state,
    };
  });
}

const unordered: ReadonlySet<string> = new Set([
  'bool',
  'json',
  'jsonb',
  'uuid',
  'bytea',
  'record',
  'void',
  'xid',
  'regclass',
  'regtype',
  'regnamespace',
  'regrole',
]);

interface AggregateRules {
  /** `count(a, b)`: rows in which none is NULL. */
  readonly countsSeveral: boolean;
  readonly own: (name: string, given: readonly SqlType[]) => AggregateFunction | undefined;
  readonly sum: (type: SqlType) => AggregateFunction | undefined;
  readonly average: (type: SqlType) => AggregateFunction | undefined;
  readonly bits: (name: string, type: SqlType) => AggregateFunction | undefined;
  /** `stddev` and `variance` are of all rows. Otherwise of a sample. */
  readonly spreadsOfAll: boolean;
  readonly spreadsAsFloats: boolean;
  /** Types without min and max. */
  readonly unordered: ReadonlySet<string>;
  /** Types whose min and max are those of their texts. */
  readonly orderedAsText: ReadonlySet<string>;
}

const aggregateRules: Readonly<Record<Dialect, AggregateRules>> = {
  postgres: {
    countsSeveral: false,
    own: () => undefined,
    sum: (type) => postgresSums[type.name]?.(type),
    average: (type) => postgresAverages[type.name]?.(type),
    bits: combining,
    spreadsOfAll: false,
    spreadsAsFloats: false,
    unordered,
    orderedAsText: new Set(['varchar', 'unknown', 'name']),
  },
  mysql: {
    countsSeveral: true,
    own: groupConcat,
    sum: mysqlSum,
    average: mysqlAverage,
    bits: combiningBits,
    spreadsOfAll: true,
    spreadsAsFloats: true,
    unordered: new Set(),
    // Not in the order of its labels: Item_sum_min and Item_sum_max compare an ENUM as a text.
    orderedAsText: new Set(['varchar', 'unknown', 'name', 'enum']),
  },
};

function chosenAggregate(name: string, type: SqlType, dialect: Dialect): AggregateFunction | undefined {
  const shown = aggregateRules[dialect].orderedAsText.has(type.name) ? types.text : type;
  switch (name) {
    case 'min':
    case 'max': {
      if (aggregateRules[dialect].unordered.has(type.name)) return undefined;
      const compare = comparatorOf(shown, dialect);
      const sign = name === 'min' ? -1 : 1;
      return aggregate(
        shown,
        [shown],
        folding(
          (x: Present) => x,
          (best: Present, x) => (compare(x, best) * sign > 0 ? x : best),
        ),
      );
    }
    case 'any_value':
      return aggregate(
        shown,
        [shown],
        folding(
          (x: Present) => x,
          (first: Present) => first,
        ),
      );
    case 'bool_and':
    case 'every':
    case 'bool_or': {
      if (type.name !== 'bool' && type.name !== 'unknown') return undefined;
      const isAnd = name !== 'bool_or';
      return aggregate(
        types.bool,
        [types.bool],
        folding(
          (x: boolean) => x,
          (state: boolean, x) => (isAnd ? state && x : state || x),
        ),
      );
    }
    default:
      return undefined;
  }
}

/** Counts equal rows once. For DISTINCT. */
export function distinctly(inner: Accumulator, given: readonly SqlType[], dialect: Dialect): Accumulator {
  const seen = new Set<string>();
  return {
    add: (values) => {
      const key = rowKey(values, given, dialect);
      if (seen.has(key)) return;
      seen.add(key);
      inner.add(values);
    },
    finish: () => inner.finish(),
  };
}
