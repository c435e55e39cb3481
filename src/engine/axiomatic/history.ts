/** What happened, as a history: keys are `table/primary key/column`, `table/primary key` for existence or for the whole row. */
import { defaultId, type History, INITIAL, type Key, type Value } from '../../history/index.ts';
import type { ConstrainingLevel } from '../../isolation/index.ts';
import type { SqlValue } from '../../sql/model/index.ts';
import type { Cell, Held, Writer } from './cell.ts';
import { jsonValue } from './json-value.ts';
import type { StoredRow } from './table.ts';
import type { Transaction } from './transaction.ts';

/** Committed and aborted transactions in the order in which they began; every read names its writer. */
export function historyOf(
  all: readonly Transaction[],
  sessionNames: readonly string[],
  level: ConstrainingLevel,
): History {
  const visible = all.filter(({ status }) => status === 'committed' || status === 'aborted');
  const indexOf = new Map<Writer, number>(visible.map((t, i) => [t, i]));
  const keys = new KeyNames();
  const sessions = [...new Set([...sessionNames.keys(), ...visible.map(({ session }) => session)])].toSorted(
    (a, b) => a - b,
  );
  const names = sessions.map((session) => sessionNames[session] ?? String(session));
  const positionOf = new Map(sessions.map((session, i) => [session, i]));
  const ordinals = sessions.map(() => 0);
  const transactions = visible.map((t) => {
    const session = positionOf.get(t.session) as number;
    const ordinal = ordinals[session] as number;
    ordinals[session] = ordinal + 1;
    return {
      id: defaultId(names[session] as string, ordinal),
      session,
      status: t.status === 'committed' ? ('committed' as const) : ('aborted' as const),
      operations: t.own.operations((writer) => indexOf.get(writer) ?? INITIAL, keys.of, valueIn),
      ...(t.level === level ? {} : { level: t.level }),
    };
  });
  return { sessions: names, transactions, initial: keys.initial };
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
