/**
 * Joins of two tables that two indexes give in the order of the same column. Each is read as far as the other needs it: where one ends, the rest of
 * the other is not read, which SIREAD locks show. After `ExecMergeJoin` in PostgreSQL's nodeMergejoin.c.
 */
import { comparatorOf, engineRules, type Row } from '../model/index.ts';
import type { Frame } from '../expression.ts';
import type { Index, Table } from '../catalog/relation.ts';
import { wholeIndex } from './access.ts';
import { allOf, type Conjunct } from './conjunct.ts';
import { type Cursor, generated, type Source } from './cursor.ts';
import type { RangeItem } from './namespace.ts';
import type { Planning } from './planning.ts';
import { rowCondition } from './row-condition.ts';
import { tableSource } from './source.ts';

type Comparator = ReturnType<typeof comparatorOf>;
type Value = Parameters<Comparator>[0];

interface Side {
  readonly item: RangeItem;
  readonly table: Table;
  readonly cell: number;
  readonly index: Index;
}

export interface Merge {
  readonly outer: Side;
  readonly inner: Side;
  readonly compare: Comparator;
}

/** The way to merge two tables, the first one read first; `null`: no indexes have the columns that are compared, or the server has no such joins. */
export function mergeOf(
  outer: RangeItem,
  inner: RangeItem,
  conjuncts: readonly Conjunct[],
  { dialect }: Planning,
): Merge | null {
  if (!engineRules[dialect].mergesJoins) return null;
  for (const { comparisons } of conjuncts)
    for (const { kind, row, cell, type, values } of comparisons) {
      const [value] = values;
      if (kind !== '=' || row !== outer.row || value?.column?.row !== inner.row || value.type.oid !== type.oid)
        continue;
      const sides = [sideOf(outer, cell), sideOf(inner, value.column.cell)] as const;
      if (sides[0] !== null && sides[1] !== null)
        return { outer: sides[0], inner: sides[1], compare: comparatorOf(type, dialect) };
    }
  return null;
}

function sideOf(item: RangeItem, cell: number): Side | null {
  const { table } = item;
  const index = table?.indexes.find(({ predicate, parts }) => predicate === null && parts[0]?.cell === cell);
  return cell < 0 || table === null || index === undefined ? null : { item, table, cell, index };
}

export function mergeSource(
  { outer, inner, compare }: Merge,
  conjuncts: readonly Conjunct[],
  planning: Planning,
): Source {
  const ofOne = ({ item }: Side): Conjunct[] =>
    conjuncts.filter(({ uses }) => [...uses].every((used) => used === item.row));
  const scanOf = (side: Side): Source => {
    planning.steps.push({ nodeType: 'Merge Join', relation: side.item.name });
    const condition = rowCondition(side.item, ofOne(side), planning);
    return tableSource(side.table.id, side.item.row, wholeIndex(side.index).paths, condition);
  };
  const [first, second] = [scanOf(outer), scanOf(inner)];
  const filter = allOf(conjuncts);
  return generated(function* merge(frame) {
    const [left, right] = [new OrderedSide(frame, outer, first(frame)), new OrderedSide(frame, inner, second(frame))];
    try {
      for (const _ of merged(left, right, compare)) if (filter === null || filter(frame)) yield undefined;
    } finally {
      left.cursor.close();
      right.cursor.close();
    }
  });
}

/** One side: its row under the cursor, and the value that it is ordered by. */
class OrderedSide {
  readonly cursor: Cursor;
  readonly #frame: Frame;
  readonly #side: Side;
  row: Row | null = null;
  value: Value = 0;

  constructor(frame: Frame, side: Side, cursor: Cursor) {
    this.#frame = frame;
    this.#side = side;
    this.cursor = cursor;
    cursor.start();
  }

  /** @returns false at the end, and at the first NULL: they come last, and equal nothing */
  next(): boolean {
    if (!this.cursor.next()) return false;
    const row = this.#frame.rows[this.#side.item.row] ?? null;
    const value = row?.values[this.#side.cell];
    const known = row !== null && value === undefined ? row.load(row, this.#side.cell) : (value ?? null);
    if (known === null) return false;
    this.row = row;
    this.value = known;
    return true;
  }

  place(row: Row | null): void {
    this.#frame.rows[this.#side.item.row] = row;
  }
}

/** The frame has one pair with equal values after the other. */
function* merged(outer: OrderedSide, inner: OrderedSide, compare: Merge['compare']): Iterable<undefined> {
  if (!outer.next() || !inner.next()) return;
  for (;;) {
    const order = compare(outer.value, inner.value);
    if (order < 0 && !outer.next()) return;
    if (order > 0 && !inner.next()) return;
    if (order !== 0) continue;
    const { value } = outer;
    const equals: (Row | null)[] = [];
    let hasNext = true;
    while (hasNext && compare(value, inner.value) === 0) {
      equals.push(inner.row);
      yield undefined;
      hasNext = inner.next();
    }
    for (;;) {
      if (!outer.next()) return;
      if (compare(outer.value, value) !== 0) break;
      for (const row of equals) {
        inner.place(row);
        yield undefined;
      }
    }
    if (!hasNext) return;
    inner.place(inner.row);
  }
}
