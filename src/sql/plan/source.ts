/**
 * Rows of a FROM clause as they come: a source sets the rows of the frame and yields once for each combination. The caller iterates at once and
 * calls the source again only after that.
 */
import type { Frame } from '../expression.ts';
import type { AccessPath, Row, RowCondition, StatementView, TableId } from '../storage.ts';
import type { SqlValue } from '../value.ts';
import { runningOf } from './planning.ts';

export type Source = (frame: Frame) => Iterable<undefined>;
export type Filter = ((frame: Frame) => boolean) | null;

/** No FROM clause: one row without columns. */
export function* single(frame: Frame, filter: Filter): Iterable<undefined> {
  if (filter === null || filter(frame)) yield undefined;
}

export function tableSource(
  table: TableId,
  row: number,
  paths: (frame: Frame) => readonly AccessPath[],
  conditionIn: (frame: Frame) => RowCondition,
): Source {
  return (frame) => {
    const { view } = runningOf(frame);
    const { rows } = frame;
    const condition = conditionIn(frame);
    const scans = paths(frame);
    const [path] = scans;
    if (path === undefined) return noRow;
    if (scans.length > 1) return eachOf(scanning(view, table, scans, condition), row, rows);
    const found = view.scan(table, path, condition);
    if (!Array.isArray(found) || found.length > 1) return eachOf(found, row, rows);
    // One row or none, as most lookups of a join find: no generator.
    const only = (found as readonly Row[])[0];
    if (only === undefined) return noRow;
    rows[row] = only;
    return oneRow;
  };
}

const noRow: readonly undefined[] = [];
const oneRow: readonly undefined[] = [undefined];

function* scanning(
  view: StatementView,
  table: TableId,
  paths: readonly AccessPath[],
  condition: RowCondition,
): Iterable<Row> {
  for (const path of paths) yield* view.scan(table, path, condition);
}

function* eachOf(found: Iterable<Row>, row: number, rows: Frame['rows']): Iterable<undefined> {
  for (const each of found) {
    rows[row] = each;
    yield undefined;
  }
}

/** Rows that are not stored: subqueries, functions, VALUES. */
export function rowsSource(row: number, rowsOf: (frame: Frame) => Iterable<Row>, filter: Filter): Source {
  return function* list(frame) {
    const { checkInterrupt } = frame.execution;
    const { rows } = frame;
    for (const each of rowsOf(frame)) {
      checkInterrupt?.();
      rows[row] = each;
      if (filter === null || filter(frame)) yield undefined;
    }
  };
}

/** For each row of `outer`, those of `inner`. */
export function nested(outer: Source, inner: Source): Source {
  return function* loop(frame) {
    for (const _ of outer(frame)) for (const match of inner(frame)) yield match;
  };
}

/** A left join: where `inner` finds nothing, its rows are null. */
export function leftJoin(outer: Source, inner: Source, innerRows: readonly number[]): Source {
  return function* loop(frame) {
    for (const _ of outer(frame)) {
      let isMatched = false;
      for (const match of inner(frame)) {
        isMatched = true;
        yield match;
      }
      if (isMatched) continue;
      for (const row of innerRows) frame.rows[row] = null;
      yield undefined;
    }
  };
}

export interface FullJoinSides {
  readonly left: Source;
  readonly right: Source;
  readonly leftRows: readonly number[];
  readonly rightRows: readonly number[];
  readonly on: Filter;
}

export function fullJoin({ left, right, leftRows, rightRows, on }: FullJoinSides): Source {
  return function* loop(frame) {
    const { rows } = frame;
    const rights: (Row | null)[][] = [];
    for (const _ of right(frame)) rights.push(rightRows.map((row) => rows[row] ?? null));
    const matched = new Set<(Row | null)[]>();
    for (const _ of left(frame)) {
      let isMatched = false;
      for (const each of rights) {
        for (const [i, row] of rightRows.entries()) rows[row] = each[i] ?? null;
        if (on !== null && !on(frame)) continue;
        isMatched = true;
        matched.add(each);
        yield undefined;
      }
      if (isMatched) continue;
      for (const row of rightRows) rows[row] = null;
      yield undefined;
    }
    for (const row of leftRows) rows[row] = null;
    for (const each of rights) {
      if (matched.has(each)) continue;
      for (const [i, row] of rightRows.entries()) rows[row] = each[i] ?? null;
      yield undefined;
    }
  };
}

export function filtered(source: Source, filter: Filter): Source {
  if (filter === null) return source;
  return function* keep(frame) {
    for (const _ of source(frame)) if (filter(frame)) yield undefined;
  };
}

export interface HashSide {
  readonly row: number;
  /** Sets the frame's row to each candidate. */
  readonly build: Source;
  /** `null`: NULL in the key, equal to nothing. */
  readonly buildKey: (frame: Frame) => string | null;
  readonly probeKey: (frame: Frame) => string | null;
  readonly filter: Filter;
}

/** The rows of a table by key: made once for each run of the query, looked into for each row of what stands before it. */
export function hashSource({ row, build, buildKey, probeKey, filter }: HashSide): Source {
  const tables = new WeakMap<Frame, Map<string, Row[]>>();
  return function* probe(frame) {
    let table = tables.get(frame);
    if (table === undefined) {
      table = hashTable(frame, row, build, buildKey);
      tables.set(frame, table);
    }
    const key = probeKey(frame);
    if (key === null) return;
    const { checkInterrupt } = frame.execution;
    for (const each of table.get(key) ?? []) {
      checkInterrupt?.();
      frame.rows[row] = each;
      if (filter === null || filter(frame)) yield undefined;
    }
  };
}

function hashTable(
  frame: Frame,
  row: number,
  build: Source,
  keyOf: (frame: Frame) => string | null,
): Map<string, Row[]> {
  const table = new Map<string, Row[]>();
  for (const _ of build(frame)) {
    const key = keyOf(frame);
    const found = frame.rows[row];
    if (key === null || found === null || found === undefined) continue;
    const rows = table.get(key);
    if (rows === undefined) table.set(key, [found]);
    else rows.push(found);
  }
  return table;
}

/** A row that is not stored. */
export function rowOf(values: readonly SqlValue[]): Row {
  return { table: 0, id: 0, values: values as SqlValue[], load: () => null };
}
