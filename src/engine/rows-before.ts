/** What a scan that stopped has looked at: for a recorder, which asks of rows that the scan did not return. */
import { assert } from '../base/assert.ts';
import type { AccessPath, IndexShape, KeptCondition, Row, TableShape } from '../sql/storage.ts';
import type { SqlValue } from '../sql/value.ts';
import { boundsOf, type IndexPath } from './index-tree.ts';

/** The rows that stand before `stop` in the scan's range. One with the same key does not count: its place is not known. */
export function rowsBefore(shape: IndexShape, path: IndexPath, stop: Row): KeptCondition {
  const { isAbove, isBelow } = boundsOf(path, shape.compare);
  const end = shape.keyOf(stop.values as SqlValue[]);
  return {
    text: () => `${path.isDescending ? 'after' : 'before'} (${end?.map(String).join(', ')}) in ${shape.name}`,
    holds: (values) => {
      const key = shape.keyOf(values);
      if (key === null || end === null || isAbove(key) || isBelow(key)) return false;
      const order = shape.compare(key, end);
      return path.isDescending ? order > 0 : order < 0;
    },
  };
}

const none: KeptCondition = { text: () => 'none', holds: () => false };

/** The same in PostgreSQL: a scan of the heap stops at a place that says nothing of the rows' values. */
export function rowsUpTo({ shape }: { readonly shape: TableShape }, path: AccessPath, stop: Row): KeptCondition {
  if (path.kind === 'all') return none;
  const index = shape.indexes.find(({ id }) => id === path.index);
  assert(index !== undefined, `index ${path.index} is one of ${shape.name}`);
  return rowsBefore(index, path, stop);
}
