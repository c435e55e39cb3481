/**
 * PostgreSQL's INSERT ... ON CONFLICT, after `ExecInsert`: the arbiters are looked at before the row goes in, and again when the row that was in
 * the way has changed while the statement waited for it. Other unique indexes refuse the row when it goes in.
 */
import type { InferClause, Node, OnConflictClause } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import { SqlError, type Duplicate, type InsertResult, type Waiting, type SqlValue } from '../model/index.ts';
import type { Index } from '../catalog/relation.ts';
import type { Frame } from '../expression.ts';
import { compileExpression } from '../expressions/index.ts';
import type { TableRules } from '../run/table-rules.ts';
import { type Answered, overwrite, planUpsert, uniqueIndexes } from './conflict.ts';
import { compileConjuncts } from './conjunct.ts';
import { impliesPredicate } from './implied-predicate.ts';
import { namespaceOf, type RangeItem } from './namespace.ts';
import type { QueryScope } from './scope.ts';
import { treeText } from './tree.ts';
import type { Running } from '../execution.ts';

/** Inserts a row, or does what the clause says. @throws SqlError 55000 at a deferrable arbiter */
export type InsertOrResolve = (values: SqlValue[], frame: Frame, running: Running) => Waiting<Answered>;

/** What to do about the row in the way. `null`: it has changed; look again. */
type Resolve = (duplicate: Duplicate, values: SqlValue[], frame: Frame, running: Running) => Waiting<Answered | null>;

export function planOnConflict(
  clause: OnConflictClause,
  item: RangeItem,
  rules: TableRules,
  scope: QueryScope,
): InsertOrResolve {
  // Names are looked up first; that no index is an arbiter is the planner's error on the server.
  const findArbiters = arbiterFinder(clause.infer, item, rules, scope);
  const resolve = clause.action === 'ONCONFLICT_NOTHING' ? doNothing : doUpdate(clause, item, rules, scope);
  const indexes = findArbiters();
  const arbiters = indexes.map(({ id }) => id);
  // PostgreSQL searches the indexes in their order, and fails at the first deferrable one: a conflict before it decides.
  const deferrable = indexes.findIndex(({ deferral }) => deferral !== 'never');
  const searched = deferrable < 0 ? arbiters : arbiters.slice(0, deferrable);
  return function* insert(values, frame, running) {
    rules.check(values, running);
    for (;;) {
      const search = running.view.findConflict?.(rules.table.id, values, searched);
      assert(search !== undefined, 'a store of PostgreSQL statements finds conflicts');
      const duplicate = yield* search;
      if (duplicate !== null) {
        const resolved = yield* resolve(duplicate, values, frame, running);
        if (resolved !== null) return resolved;
        continue;
      }
      if (searched.length < arbiters.length) throw deferrableArbiter(rules);
      const result: InsertResult = yield* rules.tryInsert(values, 'share', running);
      if (result.kind === 'inserted') return { row: result.row, rowCount: 1, isInserted: true };
      // An arbiter's key was taken while another one waited.
      if (!arbiters.includes(result.index)) throw rules.duplicate(result.index, values, running);
    }
  };
}

/** Which rows are in the way of a deferrable index is not known before its check. */
function deferrableArbiter({ table }: TableRules): SqlError {
  const message = 'ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters';
  return new SqlError('55000', message, { schema: table.schema, table: table.name });
}

// It waits for nothing.
// oxlint-disable-next-line require-yield
const doNothing: Resolve = function* doNothing({ isUnseen }) {
  if (isUnseen === true) throw new SqlError('40001', 'could not serialize access due to concurrent update');
  return { row: null, rowCount: 0 };
};

function doUpdate(clause: OnConflictClause, item: RangeItem, rules: TableRules, scope: QueryScope): Resolve {
  if (clause.infer === undefined) {
    throw new SqlError('42601', 'ON CONFLICT DO UPDATE requires inference specification or constraint name', {
      hint: 'For example, ON CONFLICT (column_name).',
    });
  }
  const upsert = planUpsert(clause, 'conflict', item, rules, scope);
  return function* update({ row, isOwn }, values, frame, running) {
    if (isOwn === true) throw cardinalityViolation();
    const locked = yield* running.view.lockRow(row, () => true, upsert.request);
    return locked === null ? null : yield* overwrite(upsert, locked, values, frame, { rules, running, scope });
  };
}

function cardinalityViolation(): SqlError {
  return new SqlError('21000', 'ON CONFLICT DO UPDATE command cannot affect row a second time', {
    hint: 'Ensure that no rows proposed for insertion within the same command have duplicate constrained values.',
  });
}

/**
 * The unique indexes over exactly these columns and expressions, whose condition follows from the clause's. @throws SqlError 42703, 42704; 42P10 when it
 * is called
 */
function arbiterFinder(
  infer: InferClause | undefined,
  item: RangeItem,
  rules: TableRules,
  scope: QueryScope,
): () => readonly Index[] {
  if (infer === undefined) return () => uniqueIndexes(rules);
  const { conname, indexElems, whereClause } = infer;
  const { table } = rules;
  if (conname !== undefined) {
    const named = table.indexes.find(({ name, isUnique }) => name === conname && isUnique);
    if (named === undefined)
      throw new SqlError('42704', `constraint "${conname}" for table "${table.name}" does not exist`);
    return () => [named];
  }
  const { wanted, conjuncts } = scope.within(namespaceOf(item), () => {
    scope.clause = 'index expressions';
    const texts = new Set((indexElems ?? []).map((node) => elementText(node, rules, scope)));
    scope.clause = 'index predicates';
    return { wanted: texts, conjuncts: compileConjuncts(whereClause, scope) };
  });
  return () => {
    const found = uniqueIndexes(rules).filter((index) => {
      const own = new Set(
        index.parts.map(({ cell, expression }) => (cell >= 0 ? `cell ${cell}` : treeText(expression))),
      );
      const isSame = own.size === wanted.size && [...own].every((text) => wanted.has(text));
      return isSame && impliesPredicate(index, conjuncts, item.row);
    });
    if (found.length > 0) return found;
    throw new SqlError('42P10', 'there is no unique or exclusion constraint matching the ON CONFLICT specification');
  };
}

function elementText(node: Node, { table }: TableRules, scope: QueryScope): string {
  const { name, expr } = 'IndexElem' in node ? node.IndexElem : {};
  if (name === undefined && expr !== undefined) compileExpression(expr, scope);
  if (name === undefined) return treeText(expr);
  const column = table.columns.find((each) => each.name === name);
  if (column === undefined) throw new SqlError('42703', `column "${name}" does not exist`);
  return `cell ${column.cell}`;
}
