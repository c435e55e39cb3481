/** What happened, as a history: keys are `table/primary key/column`, `table/primary key` for existence or for the whole row. */
import { type History, INITIAL, type Key, type Operation, type Value } from '../../history/index.ts';
import type { ConstrainingLevel } from '../../isolation/index.ts';
import { historyOf, visibleOf } from '../../mockdb/index.ts';
import type { SqlValue } from '../../sql/model/index.ts';
import type { Writer } from './version.ts';
import { jsonValue, type Held } from './held.ts';
import type { StoredRow, Cell } from './table.ts';
import type { Transaction } from './transaction.ts';

/** Committed and aborted transactions in the order in which they began; every read names its writer. */
export function cellHistory(
  all: readonly Transaction[],
  sessionNames: readonly string[],
  level: ConstrainingLevel,
): History {
  const visible = visibleOf(all);
  const indexOf = new Map<Writer, number>(visible.map((t, i) => [t, i]));
  const keys = new KeyNames();
  const operations = ({ own }: Transaction): Operation[] =>
    own.operations((writer) => indexOf.get(writer) ?? INITIAL, keys.of, valueIn);
  return { ...historyOf(visible, operations, level, sessionNames), initial: keys.initial };
}

class KeyNames {
  readonly initial = new Map<Key, Value>();
  readonly #cells = new Map<Cell, Key>();
  readonly #rows = new Map<StoredRow, string>();

  readonly of = (cell: Cell): Key => {
    let key = this.#cells.get(cell);
    if (key !== undefined) return key;
    let row = this.#rows.get(cell.row);
    if (row === undefined) this.#rows.set(cell.row, (row = cell.row.name));
    key = cell.slot === 0 ? row : `${row}/${cell.row.table.shape.columns[cell.slot - 1] as string}`;
    this.#cells.set(cell, key);
    const initial = valueIn(cell, cell.initial);
    if (initial !== null) this.initial.set(key, initial);
    return key;
  };
}

function valueIn(cell: Cell, held: Held): Value {
  const { table } = cell.row;
  if (table.granularity === 'cell' || held === null) return jsonValue(held);
  const values = held as readonly SqlValue[];
  return Object.fromEntries(table.shape.columns.map((column, i) => [column, jsonValue(values[i] ?? null)]));
}
