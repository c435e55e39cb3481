/** Sources of the rows of tables, of what is not stored, and of joins by nested loops. */
import type { Frame } from '../expression.ts';
import type { AccessPath, Row, RowCondition, TableId, SqlValue } from '../model/index.ts';
import { type Cursor, type Filter, generated, rowsOf, type Source } from './cursor.ts';
import { runningOf } from '../execution.ts';

/** No FROM clause: one row without columns. */
export function single(filter: Filter): Source {
  return generated(function* once(frame) {
    if (filter === null || filter(frame)) yield undefined;
  });
}

export function tableSource(
  table: TableId,
  row: number,
  paths: (frame: Frame) => readonly AccessPath[],
  conditionIn: (frame: Frame) => RowCondition,
): Source {
  return (frame) => {
    const { view } = runningOf(frame);
    const condition = conditionIn(frame);
    const scan = view.scanner?.(table, condition) ?? ((path) => view.scan(table, path, condition));
    return new TableCursor(frame, row, paths, scan);
  };
}

const nothing: readonly never[] = [];

class TableCursor implements Cursor {
  readonly #frame: Frame;
  readonly #row: number;
  readonly #pathsIn: (frame: Frame) => readonly AccessPath[];
  readonly #scan: (path: AccessPath) => Iterable<Row>;
  #paths: readonly AccessPath[] = nothing;
  /** Paths that have been opened. */
  #opened = 0;
  /** What the last path gave, as a list or an iterator. */
  #list: readonly Row[] = nothing;
  #taken = 0;
  #iterator: Iterator<Row> | null = null;

  constructor(
    frame: Frame,
    row: number,
    pathsIn: (frame: Frame) => readonly AccessPath[],
    scan: (path: AccessPath) => Iterable<Row>,
  ) {
    this.#frame = frame;
    this.#row = row;
    this.#pathsIn = pathsIn;
    this.#scan = scan;
  }

  start(): void {
    this.#paths = this.#pathsIn(this.#frame);
    this.#opened = 0;
    this.#list = nothing;
    this.#taken = 0;
  }

  next(): boolean {
    for (;;) {
      if (this.#taken < this.#list.length) {
        this.#frame.rows[this.#row] = this.#list[this.#taken++] as Row;
        return true;
      }
      if (this.#iterator !== null) {
        const step = this.#iterator.next();
        if (step.done !== true) {
          this.#frame.rows[this.#row] = step.value;
          return true;
        }
        this.#iterator = null;
      }
      if (this.#opened >= this.#paths.length) return false;
      this.#open(this.#scan(this.#paths[this.#opened++] as AccessPath));
    }
  }

  /** One row or none, as most lookups of a join find, come as a list: no generator. */
  #open(found: Iterable<Row>): void {
    this.#taken = 0;
    if (Array.isArray(found)) this.#list = found as readonly Row[];
    else {
      this.#list = nothing;
      this.#iterator = found[Symbol.iterator]();
    }
  }

  close(): void {
    const iterator = this.#iterator;
    this.#iterator = null;
    this.#paths = nothing;
    this.#list = nothing;
    iterator?.return?.();
  }
}

/** Rows that are not stored: subqueries, functions, VALUES. */
export function rowsSource(row: number, list: (frame: Frame) => Iterable<Row>, filter: Filter): Source {
  return generated(function* each(frame) {
    const { budget } = frame.execution;
    const { rows } = frame;
    for (const found of list(frame)) {
      budget?.checkInterrupt();
      rows[row] = found;
      if (filter === null || filter(frame)) yield undefined;
    }
  });
}

/** For each row of `outer`, those of `inner`. */
export function nested(outer: Source, inner: Source): Source {
  return (frame) => new NestedCursor(outer(frame), inner(frame));
}

class NestedCursor implements Cursor {
  readonly #outer: Cursor;
  readonly #inner: Cursor;
  #isInside = false;

  constructor(outer: Cursor, inner: Cursor) {
    this.#outer = outer;
    this.#inner = inner;
  }

  start(): void {
    this.#isInside = false;
    this.#outer.start();
  }

  next(): boolean {
    for (;;) {
      if (this.#isInside && this.#inner.next()) return true;
      this.#isInside = this.#outer.next();
      if (!this.#isInside) return false;
      this.#inner.start();
    }
  }

  close(): void {
    closeBoth(this.#inner, this.#outer);
  }
}

/** A left join: where `inner` finds nothing, its rows are null. */
export function leftJoin(outer: Source, inner: Source, innerRows: readonly number[]): Source {
  return (frame) => new LeftCursor(frame, outer(frame), inner(frame), innerRows);
}

class LeftCursor implements Cursor {
  readonly #frame: Frame;
  readonly #outer: Cursor;
  readonly #inner: Cursor;
  readonly #innerRows: readonly number[];
  /** Of the outer row: has none been read, is its first partner looked for, or has one been found? */
  #state: 'before' | 'looking' | 'matched' = 'before';

  constructor(frame: Frame, outer: Cursor, inner: Cursor, innerRows: readonly number[]) {
    this.#frame = frame;
    this.#outer = outer;
    this.#inner = inner;
    this.#innerRows = innerRows;
  }

  start(): void {
    this.#state = 'before';
    this.#outer.start();
  }

  next(): boolean {
    for (;;) {
      if (this.#state !== 'before') {
        if (this.#inner.next()) {
          this.#state = 'matched';
          return true;
        }
        const isAlone = this.#state === 'looking';
        this.#state = 'before';
        if (isAlone) {
          for (const row of this.#innerRows) this.#frame.rows[row] = null;
          return true;
        }
      }
      if (!this.#outer.next()) return false;
      this.#state = 'looking';
      this.#inner.start();
    }
  }

  close(): void {
    closeBoth(this.#inner, this.#outer);
  }
}

function closeBoth(inner: Cursor, outer: Cursor): void {
  try {
    inner.close();
  } finally {
    outer.close();
  }
}

export interface FullJoinSides {
  readonly left: Source;
  readonly right: Source;
  readonly leftRows: readonly number[];
  readonly rightRows: readonly number[];
  readonly on: Filter;
}

export function fullJoin({ left, right, leftRows, rightRows, on }: FullJoinSides): Source {
  return generated(function* loop(frame) {
    const { rows } = frame;
    const rights: (Row | null)[][] = [];
    for (const _ of rowsOf(right, frame)) rights.push(rightRows.map((row) => rows[row] ?? null));
    const matched = new Set<(Row | null)[]>();
    for (const _ of rowsOf(left, frame)) {
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
  });
}

export function filtered(source: Source, filter: Filter): Source {
  return filter === null ? source : (frame) => new FilteredCursor(frame, source(frame), filter);
}

class FilteredCursor implements Cursor {
  readonly #frame: Frame;
  readonly #input: Cursor;
  readonly #filter: (frame: Frame) => boolean;

  constructor(frame: Frame, input: Cursor, filter: (frame: Frame) => boolean) {
    this.#frame = frame;
    this.#input = input;
    this.#filter = filter;
  }

  start(): void {
    this.#input.start();
  }

  next(): boolean {
    while (this.#input.next()) if (this.#filter(this.#frame)) return true;
    return false;
  }

  close(): void {
    this.#input.close();
  }
}

/** A row that is not stored. */
export function rowOf(values: readonly SqlValue[]): Row {
  return { table: 0, id: 0, values: values as SqlValue[], load: () => null };
}
