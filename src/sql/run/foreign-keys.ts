/**
 * Foreign keys. PostgreSQL checks and acts by triggers (`ri_triggers.c`): each row that was written queues what it makes necessary, and the queue is
 * worked off when the statement is over, in queries of their own. InnoDB checks and acts at each row. A check locks the row that it finds.
 * MATCH SIMPLE: a key with a NULL refers to no row.
 */
import {
  engineRules,
  cell,
  type AccessPath,
  type LockRequest,
  type LockStrength,
  type Row,
  type StatementView,
  type TableId,
  unrecorded,
  type Waiting,
  type SqlError,
  types,
  formatText,
  type SqlValue,
} from '../model/index.ts';
import { assert } from '../../base/index.ts';
import { columnAtCell, type ForeignKey, type Index, type ReferentialAction, type Table } from '../catalog/relation.ts';
import { nullableComparator, wholeTable } from '../plan/access.ts';
import { boundConversion, type ConvertBound } from '../plan/bound.ts';
import type { Planning } from '../plan/planning.ts';
import { newFrame } from '../plan/query.ts';
import { constraintErrors } from './constraint-error.ts';
import type { TableRules } from './table-rules.ts';
import type { Running, ConstraintCheck } from '../execution.ts';

export interface References {
  readonly children: readonly Child[];
}

/** A foreign key that refers to the table. */
export interface Child {
  readonly table: Table;
  readonly key: ForeignKey;
}

/** Under this the checks that wait for the end of the statement are kept. */
const pendingChecks = {};

const keepParent: LockRequest = { strength: 'key share', ifLocked: 'wait', reading: 'referenced' };
/** Of a row that may have come into the place of the one that is gone, and of children. */
const keepRow: LockRequest = { strength: 'key share', ifLocked: 'wait', reading: 'referencing' };

export function referencesOf(table: Table, planning: Planning): References {
  const children: Child[] = [];
  for (const other of planning.catalog.tables()) {
    for (const key of other.foreignKeys) if (key.parent === table.id) children.push({ table: other, key });
  }
  return { children };
}

/** What the statement has left to check. @throws SqlError 23503, 23505 */
export function* finishChecks(running: Running): Waiting<void> {
  const checks = running.kept.get(pendingChecks) as ConstraintCheck[] | undefined;
  if (checks === undefined) return;
  // Actions write rows, which are checked in their turn.
  for (let i = 0; i < checks.length; i++) yield* (checks[i] as ConstraintCheck).run(running);
  checks.length = 0;
}

/** When the statement is over, or, where that is put off, when SET CONSTRAINTS says or the transaction ends. */
export function atEnd(running: Running, check: ConstraintCheck): void {
  const { deferred } = running.surroundings;
  const checks = running.kept.get(pendingChecks) as ConstraintCheck[] | undefined;
  if (deferred.isDeferred(check)) deferred.defer(check);
  else if (checks === undefined) running.kept.set(pendingChecks, [check]);
  else checks.push(check);
}

/**
 * Each query of a constraint is one of its own: it sees what the statement has written. It locks its table before it takes its snapshot, as any
 * statement does: `row share` to look for a row, `row exclusive` to write.
 */
function* queryOf(table: TableId, mode: 'row share' | 'row exclusive', running: Running): Waiting<Running> {
  if (running.view.lockTable !== undefined) yield* running.view.lockTable(table, mode);
  return { ...running, view: running.view.constraintQuery() };
}

/** A row has been written. InnoDB looks at each at once, PostgreSQL when the statement is over and the row is still there. @throws SqlError 23503 */
export function* checkParents(
  rules: TableRules,
  row: Row,
  values: readonly SqlValue[],
  keys: readonly ForeignKey[],
  running: Running,
): Waiting<void> {
  if (isUnchecked(running)) return;
  const { table } = rules;
  for (const key of keys) {
    if (key.cells.some((at) => values[at] === null)) continue;
    if (engineRules[rules.planning.dialect].checksKeysByRow) yield* mustHaveParent(rules, values, key, running);
    else {
      atEnd(running, {
        table: table.id,
        constraint: { table: table.id, name: key.name },
        deferral: key.deferral,
        *run(own) {
          if (!own.view.isCurrent(row)) return;
          yield* mustHaveParent(rules, values, key, yield* queryOf(key.parent, 'row share', own));
        },
      });
    }
  }
}

/** The foreign keys whose columns an update changes. A row that this transaction has written has its earlier check still before it. */
export function changedKeys(
  rules: TableRules,
  row: Row,
  values: readonly SqlValue[],
  columns: readonly number[],
  isOwn: boolean,
): ForeignKey[] {
  return rules.table.foreignKeys.filter(({ cells }) => {
    if (isOwn) return true;
    if (!cells.some((at) => columns.includes(at))) return false;
    // What was not read is not compared: that would be another read.
    const old = cells.map((at) => row.values[at]);
    return old.includes(undefined) || !sameKey(rules, cells, old as SqlValue[], values);
  });
}

/** MySQL's `SET foreign_key_checks = 0`: nothing is looked up, nothing cascades. */
function isUnchecked({ surroundings }: Running): boolean {
  return surroundings.setting('foreign_key_checks') === '0';
}

/** @throws SqlError 23503 */
export function* mustHaveParent(
  rules: TableRules,
  values: readonly SqlValue[],
  key: ForeignKey,
  running: Running,
): Waiting<void> {
  const { parent, wanted } = parentOf(rules, values, key);
  const found = yield* lockOne(parent, key.parentCells, wanted, keepParent, running, rules.planning);
  if (!found) throw missingParent(rules, values, key, parent);
}

/** The same by a query that locks nothing (`RI_Initial_Check` in ri_triggers.c). @throws SqlError 23503 */
export function mustSeeParent(
  rules: TableRules,
  values: readonly SqlValue[],
  key: ForeignKey,
  view: StatementView,
): void {
  const { parent, wanted } = parentOf(rules, values, key);
  const matches = matcher(parent, key.parentCells, wanted, rules.planning);
  const [found] = view.scan(parent.id, pathTo(parent, key.parentCells, wanted), unrecorded(matches));
  if (found === undefined) throw missingParent(rules, values, key, parent);
}

function parentOf(
  { table, planning }: TableRules,
  values: readonly SqlValue[],
  { name, cells, parent: id, parentCells }: ForeignKey,
): { parent: Table; wanted: SqlValue[] } {
  const parent = planning.catalog.tableById(id);
  assert(parent !== undefined, `the parent of ${name} exists`);
  return { parent, wanted: converted(table, cells, parent, parentCells, values, planning) };
}

function missingParent(
  { table, planning }: TableRules,
  values: readonly SqlValue[],
  key: ForeignKey,
  parent: Table,
): SqlError {
  return constraintErrors[planning.dialect].missingParent({ key, child: table, parent }, values);
}

/** The values of a key as the other table's columns would have them. */
function converted(
  from: Table,
  fromCells: readonly number[],
  to: Table,
  toCells: readonly number[],
  values: readonly SqlValue[],
  { dialect }: Planning,
): SqlValue[] {
  return fromCells.map((at, i) => {
    const value = values[at] ?? null;
    if (value === null) return null;
    const own = columnAtCell(from, at)?.type ?? types.text;
    const other = columnAtCell(to, toCells[i] ?? -1)?.type ?? types.text;
    const convert: ConvertBound = boundConversion(other, own, dialect) ?? ((same) => same);
    return convert(value) ?? null;
  });
}

function* lockOne(
  table: Table,
  cells: readonly number[],
  wanted: readonly SqlValue[],
  request: LockRequest,
  running: Running,
  planning: Planning,
): Waiting<boolean> {
  if (wanted.includes(null)) return false;
  let isFound = false;
  const matches = matcher(table, cells, wanted, planning);
  const take = (): boolean => {
    isFound = true;
    return false;
  };
  yield* running.view.lock(table.id, pathTo(table, cells, wanted), unrecorded(matches), request, take);
  return isFound;
}

function matcher(
  table: Table,
  cells: readonly number[],
  wanted: readonly SqlValue[],
  { dialect }: Planning,
): (row: Row) => boolean {
  const compares = cells.map((at) => nullableComparator(columnAtCell(table, at)?.type ?? types.text, dialect));
  return (row) => cells.every((at, i) => compares[i]?.(cell(row, at), wanted[i] ?? null) === 0);
}

/** By the index whose first columns are the most of the key. */
function pathTo(table: Table, cells: readonly number[], wanted: readonly SqlValue[]): AccessPath {
  const lengthOf = (index: Index): number => {
    if (index.predicate !== null) return 0;
    const other = index.parts.findIndex((part) => !cells.includes(part.cell));
    return other < 0 ? index.parts.length : other;
  };
  let best: Index | undefined;
  for (const index of table.indexes) if (lengthOf(index) > (best === undefined ? 0 : lengthOf(best))) best = index;
  if (best === undefined) return wholeTable[0] as AccessPath;
  const prefix = best.parts.slice(0, lengthOf(best)).map((part) => wanted[cells.indexOf(part.cell)] ?? null);
  return { kind: 'index', index: best.id, prefix, isDescending: false };
}

export function* afterDelete(rules: TableRules, children: readonly Child[], row: Row, running: Running): Waiting<void> {
  for (const child of children) yield* parentGone(rules, child, child.key.onDelete, row, null, running);
}

export function* afterUpdate(
  rules: TableRules,
  children: readonly Child[],
  row: Row,
  values: readonly SqlValue[],
  columns: readonly number[],
  running: Running,
): Waiting<void> {
  for (const child of children) {
    const { parentCells, onUpdate } = child.key;
    if (!parentCells.some((at) => columns.includes(at))) continue;
    const old = parentCells.map((at) => cell(row, at));
    if (isSameParent(rules, parentCells, old, values)) continue;
    yield* parentGone(rules, child, onUpdate, row, values, running);
  }
}

/** PostgreSQL compares the images of a parent's key (`ri_KeysEqual`): 1.0 and 1.00 are two. */
function isSameParent(
  rules: TableRules,
  cells: readonly number[],
  old: readonly SqlValue[],
  values: readonly SqlValue[],
): boolean {
  if (engineRules[rules.planning.dialect].checksKeysByRow) return sameKey(rules, cells, old, values);
  return cells.every((at, i) => {
    const [before = null, after = null] = [old[i], values[at]];
    const type = columnAtCell(rules.table, at)?.type ?? types.text;
    if (before === null || after === null) return before === after;
    return formatText(before, type, 'postgres') === formatText(after, type, 'postgres');
  });
}

function sameKey(
  rules: TableRules,
  cells: readonly number[],
  old: readonly SqlValue[],
  values: readonly SqlValue[],
): boolean {
  return cells.every((at, i) => {
    const compare = nullableComparator(columnAtCell(rules.table, at)?.type ?? types.text, rules.planning.dialect);
    return compare(old[i] ?? null, values[at] ?? null) === 0;
  });
}

/** `values`: the parent's new ones; `null`: it is deleted. Only NO ACTION can be put off. */
function* parentGone(
  rules: TableRules,
  child: Child,
  action: ReferentialAction,
  row: Row,
  values: readonly SqlValue[] | null,
  running: Running,
): Waiting<void> {
  if (isUnchecked(running)) return;
  const { table: parent, planning } = rules;
  const old = parent.cells.map((_, at) =>
    child.key.parentCells.includes(at) ? cell(row, at) : (row.values[at] ?? null),
  );
  const wanted = converted(parent, child.key.parentCells, child.table, child.key.cells, old, planning);
  if (wanted.includes(null)) return;
  const gone: GoneParent = { rules, child, old, wanted, values };
  // InnoDB looks at children row by row, and takes NO ACTION for RESTRICT, and what would change rows of the table that is updated.
  const isRestricted = action === 'no action' || (values !== null && child.table.id === parent.id);
  if (engineRules[planning.dialect].checksKeysByRow)
    return yield* act(gone, isRestricted ? 'restrict' : action, running);
  atEnd(running, {
    table: parent.id,
    constraint: { table: child.table.id, name: child.key.name },
    deferral: action === 'no action' ? child.key.deferral : 'never',
    run: (own) => act(gone, action, own),
  });
}

/** A key that no row has any more, or that one has only again. */
interface GoneParent {
  readonly rules: TableRules;
  readonly child: Child;
  /** Values of the parent's row, by cell. */
  readonly old: readonly SqlValue[];
  /** The key as children have it. */
  readonly wanted: readonly SqlValue[];
  /** Of the parent's new row; `null`: it is deleted. */
  readonly values: readonly SqlValue[] | null;
}

function* act(gone: GoneParent, action: ReferentialAction, running: Running): Waiting<void> {
  const children = gone.child.table.id;
  switch (action) {
    case 'restrict':
      return yield* mustHaveNoChild(gone, yield* queryOf(children, 'row share', running));
    case 'no action':
      return yield* mayHaveNoChild(gone, running);
    case 'cascade':
    case 'set null':
      return yield* changeChildren(gone, action, yield* queryOf(children, 'row exclusive', running));
    case 'set default':
      yield* changeChildren(gone, action, yield* queryOf(children, 'row exclusive', running));
      // The default may be the very key that goes.
      return yield* mayHaveNoChild(gone, running);
  }
}

/** Another row may have taken the key. */
function* mayHaveNoChild(gone: GoneParent, running: Running): Waiting<void> {
  const { rules, child, old } = gone;
  const { table: parent, planning } = rules;
  const keyValues = child.key.parentCells.map((at) => old[at] ?? null);
  const query = yield* queryOf(parent.id, 'row share', running);
  const isBack = yield* lockOne(parent, child.key.parentCells, keyValues, keepRow, query, planning);
  if (!isBack) yield* mustHaveNoChild(gone, yield* queryOf(child.table.id, 'row share', running));
}

function* mustHaveNoChild({ rules, child, old, wanted }: GoneParent, running: Running): Waiting<void> {
  const { planning, table: parent } = rules;
  if (!(yield* lockOne(child.table, child.key.cells, wanted, keepRow, running, planning))) return;
  throw constraintErrors[planning.dialect].stillReferenced({ key: child.key, child: child.table, parent }, old);
}

function* changeChildren(
  { rules, child: { table, key }, wanted, values }: GoneParent,
  action: ReferentialAction,
  running: Running,
): Waiting<void> {
  const { planning } = rules;
  const childRules = rules.rulesOf(table);
  const isDeleted = action === 'cascade' && values === null;
  const rows: Row[] = [];
  const matches = matcher(table, key.cells, wanted, planning);
  yield* running.view.lock(
    table.id,
    pathTo(table, key.cells, wanted),
    unrecorded(matches),
    { strength: strengthOf(table, key, isDeleted, planning), ifLocked: 'wait', reading: 'referencing' },
    (row) => rows.push(row) > 0,
  );
  const frame = newFrame(0, running, null);
  for (const row of rows) {
    // A cascade that comes back to a row that InnoDB is deleting.
    if (running.view.checksByIndex === true && !running.view.isCurrent(row)) continue;
    if (isDeleted) {
      yield* childRules.delete(row, running);
      continue;
    }
    const next = [...row.values] as SqlValue[];
    const moved =
      action === 'cascade' && values !== null
        ? converted(rules.table, key.parentCells, table, key.cells, values, planning)
        : key.cells.map((at) => {
            const column = columnAtCell(table, at);
            return action === 'set default' && column !== undefined ? childRules.default(column)(frame) : null;
          });
    for (const [i, at] of key.cells.entries()) next[at] = moved[i] ?? null;
    yield* childRules.update(row, next, key.cells, running, key);
  }
}

/** As the DELETE or UPDATE that it stands for: an update of columns that no key has lets others refer to the row. */
function strengthOf(table: Table, key: ForeignKey, isDeleted: boolean, { dialect }: Planning): LockStrength {
  const isInKey = table.indexes.some(
    ({ isUnique, predicate, parts }) =>
      isUnique &&
      predicate === null &&
      parts.every(({ cell: at }) => at >= 0) &&
      parts.some(({ cell: at }) => key.cells.includes(at)),
  );
  return isDeleted || isInKey || !engineRules[dialect].locksKeysApart ? 'update' : 'no key update';
}
