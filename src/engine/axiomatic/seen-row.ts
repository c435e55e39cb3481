/** A row as the store gives it to a statement. */
import { assert } from '../../base/index.ts';
import type { Row, TableId, Wait, Waiting, SqlValue } from '../../sql/model/index.ts';
import type { StoredRow } from './table.ts';

export class SeenRow implements Row {
  readonly stored: StoredRow;
  readonly values: (SqlValue | undefined)[];
  readonly load: (row: Row, column: number) => SqlValue;

  /** @param load reads the cells that `values` leaves open */
  constructor(stored: StoredRow, values: (SqlValue | undefined)[], load: Row['load'] = noLoad) {
    this.stored = stored;
    this.values = values;
    this.load = load;
  }

  get table(): TableId {
    return this.stored.table.shape.id;
  }

  get id(): number {
    return this.stored.id;
  }
}

function noLoad(): never {
  return assert(false, 'a whole row has all its values') as never;
}

export function ours(row: Row): SeenRow {
  assert(row instanceof SeenRow, 'a row comes from this store');
  return row;
}

/** What `take` says of a row; it may wait for what it does with it. */
export function* answer(taken: boolean | Waiting<boolean>): Waiting<boolean> {
  return typeof taken === 'boolean' ? taken : yield* taken;
}

/** A step that never waits. */
export function* atOnce<T>(act: () => T): Waiting<T> {
  yield* noWait;
  return act();
}

const noWait: readonly Wait[] = [];
