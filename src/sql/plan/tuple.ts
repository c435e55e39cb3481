/** Rows between FROM and the client: projected, sorted, made distinct, limited. */
import type { Expression, Frame } from '../expression.ts';
import { types, type SqlValue } from '../model/index.ts';
import type { From } from './from.ts';
import { newFrame, type PlannedQuery, type Values } from './query.ts';
import { FirstTuples, keptRowsMax } from './first-tuples.ts';
import { ProjectedRows } from './projected-rows.ts';
import { type CompareKeys, type Limit, limited, rowsNeeded, type SortOrder } from './sort.ts';
import { type Cursor, forEachRow, hasRow, rowsOf, type Source } from './cursor.ts';
import { inStep } from './in-step.ts';
import type { Target } from './target.ts';

/** A row on its way to the client: what it shows, and what it is sorted by. */
export interface Tuple {
  readonly values: Values;
  readonly keys: readonly SqlValue[];
  /** The rows that it was made of, where they are locked later. */
  readonly rows: Frame['rows'] | null;
  readonly computed: Frame['computed'];
}

export interface SelectPlan {
  readonly from: From;
  readonly source: Source;
  /** The same rows in order of the sort keys, where scans keep the order of their index; `null`: there is no such scan. */
  readonly ordered: Source | null;
  readonly rowCount: () => number;
  readonly targets: readonly Target[];
  readonly sortKeys: readonly Expression[];
  readonly sortOrders: readonly SortOrder[];
  readonly compare: CompareKeys | null;
  readonly distinct: Distinct | null;
  readonly limit: Limit | null;
}

export interface Distinct {
  /** Of what has been sorted already: the first with each key stays. */
  readonly keyOf: (tuple: Tuple) => string;
}

/** Neither sorted nor made distinct, and one row for each of the source. */
function isPlain({ targets, compare, distinct, sortKeys }: SelectPlan): boolean {
  return (
    compare === null && distinct === null && sortKeys.length === 0 && targets.every(({ sets }) => sets.length === 0)
  );
}

export function rowTest(plan: SelectPlan): PlannedQuery['hasRow'] {
  if (plan.limit !== null || !isPlain(plan)) return null;
  // One for each frame around: EXISTS asks for every row of it.
  const opened = new WeakMap<Frame, Cursor>();
  return (outer, running) => {
    const known = outer === null ? undefined : opened.get(outer);
    const cursor = known ?? plan.source(newFrame(plan.rowCount(), running, outer));
    if (outer !== null && known === undefined) opened.set(outer, cursor);
    return hasRow(cursor);
  };
}

export function selectedRows(plan: SelectPlan): PlannedQuery['rows'] {
  const { targets, limit } = plan;
  if (isPlain(plan)) {
    const evaluators = targets.map(({ expression }) => expression.evaluate);
    return (outer, running) =>
      new ProjectedRows(plan.source, evaluators, limit, newFrame(plan.rowCount(), running, outer));
  }
  const { ordered } = plan;
  const late = lateTargets(plan);
  const evaluators = targets.map(({ expression }) => expression.evaluate);
  return (outer, running) => {
    const frame = newFrame(plan.rowCount(), running, outer);
    if (ordered !== null && running.view.scansInOrder === true)
      return new ProjectedRows(ordered, evaluators, limit, frame);
    return late.size > 0 ? lateRows(plan, late, frame) : firstRows(plan, frame);
  };
}

function* firstRows(plan: SelectPlan, frame: Frame): Iterable<Values> {
  for (const { values } of limited(firstTuples(plan, frame, false), plan.limit, frame)) yield values;
}

/** Volatile targets that nothing is sorted by are for the rows that are left, in their order: planner.c, `make_sort_input_target`. */
function lateTargets({ targets, compare, distinct, sortKeys }: SelectPlan): ReadonlySet<Target> {
  if (compare === null || distinct !== null || targets.some(({ sets }) => sets.length > 0)) return new Set();
  return new Set(targets.filter(({ expression }) => expression.isVolatile === true && !sortKeys.includes(expression)));
}

function* lateRows(plan: SelectPlan, late: ReadonlySet<Target>, frame: Frame): Iterable<Values> {
  const { targets, limit } = plan;
  const early = targets.map((target) => (late.has(target) ? { ...target, expression: notYet } : target));
  for (const { values, rows, computed } of limited(
    firstTuples({ ...plan, targets: early }, frame, true),
    limit,
    frame,
  )) {
    const own = { ...frame, rows: rows ?? frame.rows, computed };
    yield targets.map((target, i) => (late.has(target) ? target.expression.evaluate(own) : (values[i] ?? null)));
  }
}

const notYet: Expression = { type: types.text, modifier: -1, isRowFree: false, evaluate: () => null };

/** Sorted and made distinct, at least as many as LIMIT leaves. */
function firstTuples(plan: SelectPlan, frame: Frame, keepsRows: boolean): Iterable<Tuple> {
  const { compare, distinct, limit, targets } = plan;
  const isOnePerRow = targets.every(({ sets }) => sets.length === 0);
  if (compare === null || distinct !== null || !isOnePerRow) return sortedTuples(plan, frame, keepsRows);
  const needed = limit === null ? Infinity : rowsNeeded(limit, frame);
  if (needed < 1 || needed > keptRowsMax) return allSorted(plan, compare, frame, keepsRows);
  const first = new FirstTuples<Tuple>(compare, needed);
  eachTuple(plan, frame, (values, keys) => {
    if (first.isAmong(keys)) first.add(tupleOf(values, keys, frame, keepsRows));
  });
  return first.inOrder();
}

function allSorted(plan: SelectPlan, compare: CompareKeys, frame: Frame, keepsRows: boolean): Iterable<Tuple> {
  const tuples: Tuple[] = [];
  eachTuple(plan, frame, (values, keys) => tuples.push(tupleOf(values, keys, frame, keepsRows)));
  return tuples.toSorted((a, b) => compare(a.keys, b.keys));
}

/** Every row is evaluated as a whole, whether LIMIT leaves it or not: an error in it is the statement's. For targets without sets. */
function eachTuple(
  { source, targets, sortKeys }: SelectPlan,
  frame: Frame,
  take: (values: Values, keys: readonly SqlValue[]) => void,
): void {
  const evaluators = targets.map(({ expression }) => expression.evaluate);
  const keyEvaluators = sortKeys.map(({ evaluate }) => evaluate);
  forEachRow(source, frame, () => {
    const values = evaluators.map((evaluate) => evaluate(frame));
    take(
      values,
      keyEvaluators.map((evaluate) => evaluate(frame)),
    );
  });
}

const noValues: readonly never[] = [];

function tupleOf(values: Values, keys: readonly SqlValue[], frame: Frame, keepsRows: boolean): Tuple {
  return {
    values,
    keys,
    rows: keepsRows ? [...frame.rows] : null,
    computed: keepsRows ? [...frame.computed] : (noValues as readonly SqlValue[] as SqlValue[]),
  };
}

/** Sorted and made distinct, before LIMIT. */
export function sortedTuples(plan: SelectPlan, frame: Frame, keepsRows: boolean): Iterable<Tuple> {
  const { compare, distinct } = plan;
  let tuples: Iterable<Tuple> = tuplesOf(plan, frame, keepsRows);
  if (compare !== null) tuples = [...tuples].toSorted((a, b) => compare(a.keys, b.keys));
  return distinct === null ? tuples : firstOfEach(tuples, distinct);
}

function* tuplesOf(plan: SelectPlan, frame: Frame, keepsRows: boolean): Iterable<Tuple> {
  for (const _ of rowsOf(plan.source, frame)) {
    for (const values of expanded(plan.targets, frame)) {
      yield {
        values,
        keys: plan.sortKeys.map((key) => keyValue(key, plan.targets, values, frame)),
        rows: keepsRows ? [...frame.rows] : null,
        computed: keepsRows ? [...frame.computed] : [],
      };
    }
  }
}

/** What a set-returning target is sorted by is known from the row only. */
function keyValue(key: Expression, targets: readonly Target[], values: Values, frame: Frame): SqlValue {
  const at = targets.findIndex(({ expression, sets }) => sets.length > 0 && expression === key);
  return at >= 0 ? (values[at] ?? null) : key.evaluate(frame);
}

/** Set-returning functions in the select list go in step; the shorter are filled up with NULL. */
export function* expanded(targets: readonly Target[], frame: Frame): Iterable<Values> {
  if (targets.every(({ sets }) => sets.length === 0)) {
    yield targets.map(({ expression }) => expression.evaluate(frame));
    return;
  }
  const { budget } = frame.execution;
  const slots = targets.flatMap(({ sets }) => sets);
  for (const step of inStep(slots.map(({ set }) => set.rows(frame)))) {
    budget?.checkInterrupt();
    for (const [at, slot] of slots.entries()) {
      const row = step[at] ?? null;
      slot.value = row === null ? null : slot.set.columns.length > 1 ? record(row) : (row[0] ?? null);
    }
    yield targets.map(({ expression }) => expression.evaluate(frame));
  }
}

function record(elements: readonly SqlValue[]): SqlValue {
  return { kind: 'array', elements };
}

function* firstOfEach(tuples: Iterable<Tuple>, { keyOf }: Distinct): Iterable<Tuple> {
  const seen = new Set<string>();
  for (const tuple of tuples) {
    const key = keyOf(tuple);
    if (seen.has(key)) continue;
    seen.add(key);
    yield tuple;
  }
}
