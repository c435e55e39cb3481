/** Tables and statements of the tests of what rows a statement is about. */
import { expect } from 'vitest';
import { type RecordedSchema, schemaOf, type SchemaRow } from './schema.ts';
import { planStatement } from './plan-statement.ts';
import { rowsOfStatement, type StatementResult, type StatementRows } from './statement-rows.ts';
import { PlanCache } from './plan-cache.ts';

export const column = (table: string, name: string, type: string, more: SchemaRow = {}): SchemaRow => ({
  table_schema: 'public',
  table_name: table,
  column_name: name,
  data_type: type,
  numeric_scale: null,
  collation_name: null,
  has_default: 0,
  is_auto: 0,
  is_current: 1,
  key_position: null,
  uniques: 0,
  ...more,
});

const tables = [
  column('accounts', 'id', 'integer', { key_position: 1 }),
  column('accounts', 'owner', 'text'),
  column('accounts', 'balance', 'numeric', { numeric_scale: 2 }),
  column('stock', 'w', 'integer', { key_position: 1 }),
  column('stock', 'item', 'character varying', { key_position: 2 }),
  column('stock', 'n', 'bigint', { has_default: 1 }),
  column('notes', 'text', 'text'),
  column('partition', 'id', 'integer', { key_position: 1, is_shared: 1 }),
];
export const postgres = schemaOf('postgres', tables);
export const mysql = schemaOf('mysql', [
  ...tables.map((row): SchemaRow => ({ ...row, data_type: row['data_type'] === 'integer' ? 'int' : row['data_type'] })),
  column('jobs', 'id', 'bigint', { key_position: 1, is_auto: 1, has_default: 1 }),
  column('jobs', 'name', 'varchar', { collation_name: 'utf8mb4_general_ci' }),
  column('words', 'word', 'varchar', { key_position: 1, collation_name: 'utf8mb4_general_ci' }),
  column('words', 'n', 'int'),
  column('noted', 'id', 'int', { key_position: 1, has_effects: 1 }),
  column('customers', 'id', 'int', {
    key_position: 1,
    delete_effects: 'public.orders',
    update_effects: 'public.orders|elsewhere.unknown',
  }),
  column('customers', 'name', 'int'),
  column('orders', 'id', 'int', { key_position: 1, delete_effects: 'public.items' }),
  column('items', 'id', 'int', { key_position: 1 }),
  column('computed', 'id', 'int', { key_position: 1 }),
  column('computed', 'n', 'int'),
  column('computed', 'twice', 'int', { has_default: 1, is_computed: 1 }),
  column('cased', 'word', 'varchar', { key_position: 1, collation_name: 'latin1_general_cs' }),
  column('spaced', 'word', 'varchar', { key_position: 1, collation_name: 'utf8mb4_bin' }),
]);

export interface Case {
  readonly schema?: RecordedSchema;
  readonly parameters?: readonly unknown[];
  readonly rows?: readonly Readonly<Record<string, unknown>>[];
  readonly columns?: readonly string[];
  readonly affected?: number;
  readonly countsMatched?: boolean;
  readonly insertId?: bigint;
  readonly warnings?: number;
}

export function rowsOf(sql: string, given: Case): StatementRows {
  const { rows = [], columns = Object.keys(rows[0] ?? {}), affected = null } = given;
  const result: StatementResult = {
    columns,
    rowCount: rows.length,
    cell: (row, at) => rows[row]?.[columns[at] as string],
    isByName: true,
    affected,
    countsMatched: given.countsMatched ?? true,
    insertId: given.insertId ?? 0n,
    warnings: given.warnings ?? 0,
  };
  const schema = given.schema ?? postgres;
  const plan = planStatement(sql, schema);
  if (plan.kind !== 'select' && plan.kind !== 'insert' && plan.kind !== 'update' && plan.kind !== 'delete')
    throw new Error(`${sql}: ${JSON.stringify(plan)}`);
  const found = rowsOfStatement(plan, given.parameters ?? [], result);
  // Constants taken out of the text change nothing.
  const shaped = new PlanCache(schema).lookup(sql, given.parameters ?? []);
  if (shaped.plan.kind !== plan.kind) throw new Error(`${sql}: ${shaped.plan.kind}`);
  expect(rowsOfStatement(shaped.plan, shaped.parameters, result)).toEqual(found);
  return found;
}

/** Only what is there. */
export function short({ reads, writes, unknown, predicates, lock, opaque, tables: anywhere }: StatementRows): object {
  return {
    ...(reads.length > 0 ? { reads } : {}),
    ...(writes.length > 0 ? { writes } : {}),
    ...(unknown.length > 0 ? { unknown } : {}),
    ...(predicates.length > 0 ? { predicates } : {}),
    ...(lock === null ? {} : { lock }),
    ...(opaque === null ? {} : { opaque }),
    ...(anywhere === undefined ? {} : { tables: anywhere }),
  };
}
