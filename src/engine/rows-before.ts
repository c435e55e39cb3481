/** What a scan that stopped has looked at: for a recorder, which asks of rows that the scan did not return. */
import { assert } from '../base/index.ts';
import type { AccessPath, IndexShape, KeptCondition, Row, TableShape, SqlValue } from '../sql/model/index.ts';
import { boundsOf, type IndexPath, type KeyBounds } from './index-tree.ts';

/** The rows that stand before `stop` in the scan's range. One with the same key does not count: its place is not known. */
export function rowsBefore(shape: IndexShape, path: IndexPath, stop: Row): KeptCondition {
  return new RowsBefore(shape, path, shape.keyOf(stop.values as SqlValue[]));
}

/** Many are kept: what it needs of the path is computed when it is asked. */
class RowsBefore implements KeptCondition {
  readonly #shape: IndexShape;
  readonly #path: IndexPath;
  readonly #end: readonly SqlValue[] | null;
  #bounds: KeyBounds | null = null;

  constructor(shape: IndexShape, path: IndexPath, end: readonly SqlValue[] | null) {
    this.#shape = shape;
    this.#path = path;
    this.#end = end;
  }

  text(): string {
    const end = this.#end?.map(String).join(', ');
    return `${this.#path.isDescending ? 'after' : 'before'} (${end}) in ${this.#shape.name}`;
  }

  holds(values: readonly SqlValue[]): boolean {
    const { keyOf, compare } = this.#shape;
    const key = keyOf(values);
    if (key === null || this.#end === null) return false;
    const { isAbove, isBelow } = (this.#bounds ??= boundsOf(this.#path, compare));
    if (isAbove(key) || isBelow(key)) return false;
    const order = compare(key, this.#end);
    return this.#path.isDescending ? order > 0 : order < 0;
  }
}

const none: KeptCondition = { text: () => 'none', holds: () => false };

/** The same in PostgreSQL: a scan of the heap stops at a place that says nothing of the rows' values. */
export function rowsUpTo({ shape }: { readonly shape: TableShape }, path: AccessPath, stop: Row): KeptCondition {
  if (path.kind === 'all') return none;
  const index = shape.indexes.find(({ id }) => id === path.index);
  assert(index !== undefined, `index ${path.index} is one of ${shape.name}`);
  return rowsBefore(index, path, stop);
}
