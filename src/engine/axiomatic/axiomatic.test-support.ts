/** An axiomatic store with one table, and single-row statements on it. */
import { seeded } from '../../base/index.ts';
import { drawing, type Version } from '../../mockdb/index.ts';
import { cell, everyRow, type Row, type StorageTransaction, unrecorded } from '../../sql/model/storage.ts';
import type { SqlValue } from '../../sql/model/value.ts';
import { axiomaticStorage, type AxiomaticStorageOptions } from './storage.ts';
import { all, idIs, now, request, table } from '../engine.test-support.ts';

export const options = { isolation: 'serializable', isReadOnly: false } as const;

/** `t (id, u, v)` with these rows; reads see the newest write that they may, unless told. */
export function storeWith(
  rows: readonly SqlValue[][],
  more: Partial<AxiomaticStorageOptions> = {},
  strategy: (admissible: readonly Version[]) => number = () => 0,
) {
  const decisions = drawing({ chooser: seeded(1), strategy });
  const store = axiomaticStorage({ level: 'causal', decisions, ...more });
  store.createTable(table);
  const load = store.begin(9, options);
  for (const row of rows) now(load.statement().insert(table.id, row, 'share'));
  now(load.commit());
  store.start();
  return store;
}

export const oldest = (admissible: readonly Version[]): number => admissible.length - 1;

export function insert(t: StorageTransaction, ...values: SqlValue[]): string {
  return now(t.statement().insert(table.id, values, 'share')).kind;
}

/** `UPDATE t SET column = value WHERE id = id` */
export function update(t: StorageTransaction, id: number, column: number, value: SqlValue): number {
  const view = t.statement();
  const rows: Row[] = [];
  const matches = (row: Row): boolean => cell(row, 0) === id;
  now(view.lock(table.id, idIs(id), unrecorded(matches), request('no key update'), (row) => rows.push(row) > 0));
  const values: SqlValue[] = [];
  values[column] = value;
  for (const row of rows) now(view.update(row, values, [column]));
  return rows.length;
}

export function deleteRow(t: StorageTransaction, id: number): number {
  const view = t.statement();
  const rows = [...view.scan(table.id, idIs(id), everyRow)].filter((row) => cell(row, 0) === id);
  for (const row of rows) now(view.delete(row));
  return rows.length;
}

export function read(t: StorageTransaction, id: number, column: number): SqlValue | undefined {
  const [row] = [...t.statement().scan(table.id, idIs(id), everyRow)];
  return row === undefined ? undefined : cell(row, column);
}

/** `SELECT column FROM t` without a condition. */
export const readAll = (t: StorageTransaction, column: number): SqlValue[] =>
  [...t.statement().scan(table.id, all, everyRow)].map((row) => cell(row, column));
