/**
 * Foreign keys, looked after as PostgreSQL's triggers do: children's parents when the statement is over (InnoDB: at once), with a lock that keeps them; what
 * becomes of children when their parent goes or changes its key. MATCH SIMPLE: a key with a NULL refers to nobody.
 */
import { assert } from '../../base/assert.ts';
import { columnAtCell, type ForeignKey, type Index, type ReferentialAction, type Table } from '../catalog/relation.ts';
import { nullableComparator, wholeTable } from '../plan/access.ts';
import { boundConversion, type ConvertBound } from '../plan/bound.ts';
import type { Planning, Running } from '../plan/planning.ts';
import { newFrame } from '../plan/query.ts';
import { cell, type AccessPath, type LockRequest, type Row, unrecorded, type Waiting } from '../storage.ts';
import { types } from '../type.ts';
import type { SqlValue } from '../value.ts';
import { missingParent, stillReferenced } from './constraint-error.ts';
import type { TableRules } from './table-rules.ts';

export interface References {
  readonly children: readonly Child[];
}

/** A foreign key that refers to the table. */
interface Child {
  readonly table: Table;
  readonly key: ForeignKey;
}

type Step = () => Waiting<void>;

/** Under this the checks that wait for the end of the statement are kept. */
const pendingChecks = {};

const keepParent: LockRequest = { strength: 'key share', ifLocked: 'wait', reading: 'latest' };
const changeChild: LockRequest = { strength: 'update', ifLocked: 'wait', reading: 'latest' };

export function referencesOf(table: Table, planning: Planning): References {
  const children: Child[] = [];
  for (const other of planning.catalog.tables()) {
    for (const key of other.foreignKeys) if (key.parent === table.id) children.push({ table: other, key });
  }
  return { children };
}

/** What the statement has left to check. @throws SqlError 23503 */
export function* finishChecks(running: Running): Waiting<void> {
  const steps = running.kept.get(pendingChecks) as Step[] | undefined;
  if (steps === undefined) return;
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) yield* step();
}

function atEnd(running: Running, step: Step): void {
  const steps = running.kept.get(pendingChecks) as Step[] | undefined;
  if (steps === undefined) running.kept.set(pendingChecks, [step]);
  else steps.push(step);
}

/** InnoDB looks at each row when it is written, PostgreSQL when the statement is over. */
export function* checkParents(
  rules: TableRules,
  values: readonly SqlValue[],
  keys: readonly ForeignKey[],
  running: Running,
): Waiting<void> {
  if (isUnchecked(running)) return;
  for (const key of keys) {
    if (key.cells.some((at) => values[at] === null)) continue;
    if (rules.planning.dialect === 'mysql') yield* mustHaveParent(rules, values, key, running);
    else atEnd(running, () => mustHaveParent(rules, values, key, running));
  }
}

/** MySQL's `SET foreign_key_checks = 0`: nothing is looked up, nothing cascades. */
function isUnchecked({ surroundings }: Running): boolean {
  return surroundings.setting('foreign_key_checks') === '0';
}

function* mustHaveParent(
  rules: TableRules,
  values: readonly SqlValue[],
  key: ForeignKey,
  running: Running,
): Waiting<void> {
  const { table, planning } = rules;
  const parent = planning.catalog.tableById(key.parent);
  assert(parent !== undefined, `the parent of ${key.name} exists`);
  const wanted = converted(table, key.cells, parent, key.parentCells, values, planning);
  const found = yield* lockOne(parent, key.parentCells, wanted, keepParent, running, planning);
  if (!found) {
    const reference = {
      constraint: key.name,
      child: table,
      childCells: key.cells,
      parent,
      parentCells: key.parentCells,
    };
    throw missingParent(reference, values, planning.dialect);
  }
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

export function* afterDelete(rules: TableRules, row: Row, running: Running): Waiting<void> {
  for (const child of rules.references.children)
    yield* parentGone(rules, child, child.key.onDelete, row, null, running);
}

export function* afterUpdate(
  rules: TableRules,
  row: Row,
  values: readonly SqlValue[],
  columns: readonly number[],
  running: Running,
): Waiting<void> {
  for (const child of rules.references.children) {
    const { parentCells, onUpdate } = child.key;
    if (!parentCells.some((at) => columns.includes(at))) continue;
    const old = parentCells.map((at) => cell(row, at));
    if (sameKey(rules, parentCells, old, values)) continue;
    yield* parentGone(rules, child, onUpdate, row, values, running);
  }
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

/** `values`: the parent's new ones; `null`: it is deleted. */
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
  if (action === 'restrict') return yield* mustHaveNoChild(rules, child, old, wanted, running);
  const keyValues = child.key.parentCells.map((at) => old[at] ?? null);
  function* mayHaveNoChild(): Waiting<void> {
    const isBack = yield* lockOne(parent, child.key.parentCells, keyValues, keepParent, running, planning);
    if (!isBack) yield* mustHaveNoChild(rules, child, old, wanted, running);
  }
  if (action === 'no action') return atEnd(running, mayHaveNoChild);
  yield* changeChildren(rules, child, action, wanted, values, running);
  // The default may be the very key that goes.
  if (action === 'set default') yield* mayHaveNoChild();
}

function* mustHaveNoChild(
  rules: TableRules,
  child: Child,
  old: readonly SqlValue[],
  wanted: readonly SqlValue[],
  running: Running,
): Waiting<void> {
  const { planning, table: parent } = rules;
  if (!(yield* lockOne(child.table, child.key.cells, wanted, keepParent, running, planning))) return;
  const { name, cells, parentCells } = child.key;
  const reference = { constraint: name, child: child.table, childCells: cells, parent, parentCells };
  throw stillReferenced(reference, old, planning.dialect);
}

function* changeChildren(
  rules: TableRules,
  { table, key }: Child,
  action: ReferentialAction,
  wanted: readonly SqlValue[],
  values: readonly SqlValue[] | null,
  running: Running,
): Waiting<void> {
  const { planning } = rules;
  const childRules = rules.rulesOf(table);
  const rows: Row[] = [];
  const matches = matcher(table, key.cells, wanted, planning);
  yield* running.view.lock(
    table.id,
    pathTo(table, key.cells, wanted),
    unrecorded(matches),
    changeChild,
    (row) => rows.push(row) > 0,
  );
  const frame = newFrame(0, running, null);
  for (const row of rows) {
    if (action === 'cascade' && values === null) {
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
    yield* childRules.update(row, next, key.cells, running);
  }
}
