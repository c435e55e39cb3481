/** CREATE TABLE and CREATE TABLE AS. */
import type { Constraint, CreateStmt, IntoClause, RangeVar, TableLikeClause } from '@pgsql/types';
import type { Column, OnCommit, Table } from '../catalog/relation.ts';
import { ensureTemporarySchema } from '../catalog/temporary.ts';
import { engineRules, isSameName, notSupported, SqlError, types } from '../model/index.ts';
import type { Planning } from '../plan/planning.ts';
import type { OutputColumn } from '../plan/query.ts';
import type { Changes } from './changes.ts';
import { defineColumn, ownSequence } from './column.ts';
import { withConstraint } from './constraint.ts';
import { isRelationTaken } from './names.ts';
import { shapeOf } from './table-shape.ts';
import type { Execution } from '../execution.ts';
import { temporarySchema } from '../catalog/name.ts';

/** `null`: it was there already and IF NOT EXISTS was said. @throws SqlError 42P07, 42701 */
export function createTable(
  statement: CreateStmt,
  planning: Planning,
  changes: Changes,
  execution: Execution,
): Table | null {
  const { relation = {}, tableElts = [], inhRelations, partspec, if_not_exists: ifNotExists = false } = statement;
  if (inhRelations !== undefined) throw notSupported('INHERITS');
  if (partspec !== undefined) throw notSupported('PARTITION BY');
  const empty = newTable(relation, statement.oncommit, ifNotExists, planning, changes, execution);
  if (empty === null) return null;
  const [like] = tableElts;
  if (like !== undefined && 'TableLikeClause' in like && engineRules[planning.dialect].likeIsWhole) {
    return putTable(copyOf(like.TableLikeClause, empty, planning, changes), planning, changes);
  }
  const columns: Column[] = [];
  const pending: { constraint: Constraint; column: Column | null }[] = [];
  for (const element of tableElts) {
    if ('ColumnDef' in element) {
      const place = { schema: empty.schema, table: empty.name, cell: columns.length };
      const { column, constraints } = defineColumn(element.ColumnDef, place, planning, changes);
      requireNewName(columns, column.name, planning);
      columns.push(column);
      pending.push(...constraints.map((constraint) => ({ constraint, column })));
    } else if ('Constraint' in element) pending.push({ constraint: element.Constraint, column: null });
    else if ('TableLikeClause' in element) {
      for (const column of columnsLike(element.TableLikeClause, planning)) {
        requireNewName(columns, column.name, planning);
        columns.push({ ...column, cell: columns.length });
      }
    } else throw notSupported('this part of CREATE TABLE');
  }
  let table: Table = { ...empty, columns, cells: columns.map(({ name }) => name) };
  for (const { constraint, column } of inOrder(pending)) table = withConstraint(table, constraint, column, planning);
  return putTable(table, planning, changes);
}

function requireNewName(columns: readonly Column[], name: string, { dialect }: Planning): void {
  if (columns.some((column) => isSameName(column.name, name, dialect)))
    throw new SqlError('42701', `column "${name}" specified more than once`);
}

/** PostgreSQL's `LIKE table`: names, types and NOT NULL; no default, key or check. @throws SqlError 42P01; 0A000: INCLUDING, views */
function columnsLike({ relation = {}, options = 0 }: TableLikeClause, planning: Planning): Column[] {
  if (options !== 0) throw notSupported('INCLUDING in CREATE TABLE');
  const source = planning.relation(relation);
  if (source.kind !== 'table') throw notSupported('LIKE of anything but a table');
  return source.columns.map(
    ({ name, type, modifier, isNotNull }): Column => ({ ...plainColumn, name, type, modifier, isNotNull }),
  );
}

const plainColumn = {
  cell: 0,
  default: null,
  generated: null,
  identity: null,
  sequence: null,
  mysqlType: null,
  onUpdate: null,
};

/** MySQL's CREATE TABLE ... LIKE: columns, keys and checks; neither rows nor foreign keys. Its AUTO_INCREMENT begins anew. */
function copyOf({ relation = {} }: TableLikeClause, empty: Table, planning: Planning, changes: Changes): Table {
  const source = planning.relation(relation);
  if (source.kind !== 'table') throw new SqlError('42809', `"${source.name}" is not BASE TABLE`, { mysqlNumber: 1347 });
  const { catalog } = planning;
  const columns = source.columns.map((column, cell): Column => {
    const place = { schema: empty.schema, table: empty.name, cell };
    if (column.sequence === null) return { ...column, cell };
    return { ...column, cell, sequence: ownSequence(column.name, column.type, undefined, place, planning, changes) };
  });
  const cellOf = (before: number): number => source.columns.findIndex(({ cell }) => cell === before);
  const indexes = source.indexes.map((index) => ({
    ...index,
    id: catalog.newId(),
    parts: index.parts.map((part) => (part.cell < 0 ? part : { ...part, cell: cellOf(part.cell) })),
  }));
  const checks = source.checks.map((check, i) => ({ ...check, name: `${empty.name}_chk_${i + 1}` }));
  return { ...empty, columns, cells: columns.map(({ name }) => name), indexes, checks };
}

/** Keys first: a foreign key may refer to the table itself. */
function inOrder<T extends { constraint: Constraint }>(pending: readonly T[]): T[] {
  const rank = ({ constraint: { contype } }: T): number =>
    contype === 'CONSTR_PRIMARY' ? 0 : contype === 'CONSTR_FOREIGN' ? 2 : 1;
  return pending.toSorted((a, b) => rank(a) - rank(b));
}

const onCommits: Readonly<Record<string, OnCommit>> = { ONCOMMIT_DROP: 'drop', ONCOMMIT_DELETE_ROWS: 'delete rows' };

function newTable(
  range: RangeVar,
  onCommit: string | undefined,
  ifNotExists: boolean,
  planning: Planning,
  changes: Changes,
  execution: Execution,
): Table | null {
  const isOwn = range.relpersistence === 't' || range.schemaname === 'pg_temp';
  if (!isOwn && onCommit !== undefined && onCommit !== 'ONCOMMIT_NOOP')
    throw new SqlError('42P16', 'ON COMMIT can only be used on temporary tables');
  const schema = isOwn ? ownSchema(planning, changes, execution) : planning.creationSchema(range.schemaname);
  const name = range.relname ?? '';
  if (isRelationTaken(planning, schema, name)) {
    if (!ifNotExists) throw new SqlError('42P07', `relation "${name}" already exists`);
    changes.notice('42P07', `relation "${name}" already exists, skipping`);
    return null;
  }
  const id = planning.catalog.newId();
  const empty = { columns: [], cells: [], indexes: [], checks: [], foreignKeys: [] };
  return { kind: 'table', id, schema, name, ...empty, onCommit: onCommits[onCommit ?? ''] ?? 'preserve rows' };
}

/** The session's schema of temporary relations, made where it is not yet. */
export function ownSchema({ catalog }: Planning, changes: Changes, { surroundings: { sessionId } }: Execution): string {
  const undo = ensureTemporarySchema(catalog, sessionId);
  if (undo !== null) changes.did(undo);
  return temporarySchema(sessionId);
}

function putTable(table: Table, planning: Planning, changes: Changes): Table {
  changes.did(planning.catalog.put(table));
  // What has been created in a transaction that is rolled back stays with the storage, out of everybody's reach: its rows may still be
  // in the transaction's list of what to take back.
  planning.catalog.storage.createTable(shapeOf(table, planning));
  return table;
}

/** The table that takes the rows of a query. */
export function createTableFor(
  { rel: range = {}, onCommit }: IntoClause,
  names: readonly string[],
  outputs: readonly OutputColumn[],
  ifNotExists: boolean,
  planning: Planning,
  changes: Changes,
  execution: Execution,
): Table | null {
  const empty = newTable(range, onCommit, ifNotExists, planning, changes, execution);
  if (empty === null) return null;
  const columns = outputs.map(
    (output, cell): Column => ({
      ...plainColumn,
      name: names[cell] ?? output.name,
      type: output.type.name === 'unknown' ? types.text : output.type,
      modifier: output.modifier,
      isNotNull: false,
      cell,
    }),
  );
  return putTable({ ...empty, columns, cells: columns.map(({ name }) => name) }, planning, changes);
}
