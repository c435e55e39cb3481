/**
 * MERGE of PostgreSQL 15 (`ExecMerge` in nodeModifyTable.c): the rows of the source, each with the rows of the table that ON finds. The first WHEN
 * clause whose condition holds acts on a row. A matched row is locked when a clause is about to change it. Where it has changed meanwhile, READ
 * COMMITTED looks at its new version: while ON still holds the WHEN clauses are gone through again, and otherwise, and where the row is
 * gone, the source's row is one that is not matched.
 */
import type { MergeStmt, MergeWhenClause, Node, RangeVar } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import {
  notSupported,
  SqlError,
  type LockRequest,
  type Row,
  type RowId,
  type Waiting,
  type SqlValue,
} from '../model/index.ts';
import type { Frame } from '../expression.ts';
import type { TableRules } from '../run/table-rules.ts';
import { planCommonTables } from './common-table.ts';
import { allOf, compileConjuncts, type Conjunct } from './conjunct.ts';
import type { DataModification } from './data-modification.ts';
import { type From, planFrom, tableItem } from './from.ts';
import { noAggregates } from './grouping.ts';
import { guardOf } from './impossible.ts';
import { planMergedRow } from './insert.ts';
import { type FromList, type FromNode, planJoins } from './join.ts';
import { joined, type Namespace, namespaceOf, type RangeItem } from './namespace.ts';
import { newFrame, restore } from './query.ts';
import { matchesBeside, planRecheck, type RecheckPlan } from './recheck.ts';
import { type Assignment, assignedRow, planAssignments, rulesFor, writableTable } from './returning.ts';
import type { QueryScope } from './scope.ts';
import { type Filter, forEachRow } from './cursor.ts';
import { changesKey, keyCells } from './update.ts';
import type { Running } from '../execution.ts';

export function planMerge(statement: MergeStmt, scope: QueryScope): DataModification {
  const { relation, sourceRelation, joinCondition, withClause } = statement;
  assert(relation !== undefined && sourceRelation !== undefined, 'MERGE names a table and a source');
  if (withClause?.recursive === true)
    throw new SqlError('42601', 'WITH RECURSIVE is not supported for MERGE statement');
  planCommonTables(withClause, scope);
  const clauses = reachableClauses(statement.mergeWhenClauses ?? []);
  const isWriting = clauses.some(({ commandType }) => commandType !== 'CMD_NOTHING');
  // One that only does nothing may run in a read-only transaction.
  scope.planning.writes ||= isWriting;
  const rules = rulesFor(mergedTable(relation, isWriting, scope), scope);
  const item = tableItem(relation, rules.table, scope);
  item.isWritten = true;
  scope.collector = noAggregates(scope);
  const source = planFrom([sourceRelation], scope);
  if (source.namespace.items.some(({ name }) => name === item.name)) throw sameName(item);
  const both = joined(namespaceOf(item), source.namespace);
  scope.clause = 'JOIN conditions';
  const on = scope.within(both, () => compileConjuncts(joinCondition, scope));
  const list = joinOf(item, source, on, clauses.some(isInsert));
  const rows = guardOf(list, scope.planning)(planJoins(list, scope.planning));
  const plan: MergePlan = {
    rules,
    scope,
    at: item.row,
    on: planRecheck(on, false, scope.planning),
    matched: clauses.filter(isMatched).map((clause) => plannedAction(clause, rules, both, scope)),
    notMatched: clauses
      .filter((clause) => !isMatched(clause))
      .map((clause) => plannedAction(clause, rules, source.namespace, scope)),
  };
  return {
    command: 'MERGE',
    columns: null,
    *run(outer, running) {
      const frame = newFrame(scope.rowCount, running, outer);
      const combinations: Frame['rows'][] = [];
      forEachRow(rows, frame, () => combinations.push([...frame.rows]));
      const merge: Merging = { ...plan, frame, running, written: new Set() };
      let rowCount = 0;
      for (const combination of combinations) {
        const outcome = yield* mergeMatched(combination, merge);
        const done = outcome === 'not matched' ? yield* mergeNotMatched(combination, merge) : outcome;
        if (done === 'written') rowCount += 1;
      }
      return { rows: [], rowCount, foundRows: rowCount, insertId: 0n };
    },
  };
}

interface MergePlan {
  readonly rules: TableRules;
  readonly scope: QueryScope;
  /** The table's row in the frame. */
  readonly at: number;
  readonly on: RecheckPlan;
  readonly matched: readonly Action[];
  readonly notMatched: readonly Action[];
}

interface Merging extends MergePlan {
  readonly frame: Frame;
  readonly running: Running;
  /** Rows that this statement has changed. */
  readonly written: Set<RowId>;
}

type Action = { readonly when: Filter } & (
  | { readonly kind: 'nothing' | 'delete' }
  | {
      readonly kind: 'update';
      readonly assignments: readonly Assignment[];
      readonly columns: readonly number[];
      /** Those of them that others may refer to. */
      readonly key: readonly number[];
    }
  | {
      readonly kind: 'insert';
      /** Do the rows draw numbers from a sequence in the order in which they come? */
      readonly isNumbered: boolean;
      readonly rowIn: (frame: Frame) => SqlValue[];
    }
);

type Done = 'written' | 'left';

function* mergeMatched(combination: Frame['rows'], merge: Merging): Waiting<Done | 'not matched'> {
  const { rules, scope, at, on, matched, frame, running, written } = merge;
  let row = combination[at] ?? null;
  if (row === null) return 'not matched';
  const matches = matchesBeside([...combination], at, on, frame);
  for (;;) {
    restore(frame, combination, []);
    frame.rows[at] = row;
    const action = firstOf(matched, frame);
    if (action === undefined || action.kind === 'nothing') return 'left';
    assert(action.kind !== 'insert', 'a matched row is not inserted');
    if (written.has(row.id)) throw cardinalityViolation();
    const values: SqlValue[] | null =
      action.kind === 'update' ? assignedRow(row, at, action.assignments, frame, scope) : null;
    const locked: Row | null = yield* running.view.lockRow(row, matches, requestOf(row, action, values, rules));
    if (locked === null) return 'not matched';
    if (locked !== row) {
      row = locked;
      continue;
    }
    written.add(row.id);
    if (action.kind === 'update') yield* rules.update(row, values ?? [], action.columns, running);
    else yield* rules.delete(row, running);
    return 'written';
  }
}

function* mergeNotMatched(combination: Frame['rows'], merge: Merging): Waiting<Done> {
  const { rules, at, notMatched, frame, running } = merge;
  restore(frame, combination, []);
  frame.rows[at] = null;
  const action = firstOf(notMatched, frame);
  if (action?.kind !== 'insert') return 'left';
  if (action.isNumbered) running.onOpenRows?.('order');
  const values = action.rowIn(frame);
  const result = yield* rules.tryInsert(values, 'share', running);
  if (result.kind === 'duplicate') throw rules.duplicate(result.index, values, running);
  return 'written';
}

function firstOf(actions: readonly Action[], frame: Frame): Action | undefined {
  return actions.find(({ when }) => when === null || when(frame));
}

function requestOf(
  row: Row,
  action: Extract<Action, { kind: 'update' | 'nothing' | 'delete' }>,
  values: readonly SqlValue[] | null,
  { table }: TableRules,
): LockRequest {
  const isKeyKept = action.kind === 'update' && !changesKey(row, values ?? [], action.key, table);
  const purpose = action.kind === 'update' ? 'update' : 'delete';
  return { strength: isKeyKept ? 'no key update' : 'update', ifLocked: 'wait', reading: 'statement', purpose };
}

function plannedAction(clause: MergeWhenClause, rules: TableRules, visible: Namespace, scope: QueryScope): Action {
  return scope.within(visible, () => {
    scope.clause = 'MERGE WHEN conditions';
    const when = allOf(compileConjuncts(clause.condition, scope));
    switch (clause.commandType) {
      case 'CMD_UPDATE': {
        scope.clause = 'UPDATE';
        const assignments = planAssignments(clause.targetList, rules, scope);
        const assigned = assignments.map(({ column }) => column.cell);
        const generated = rules.table.columns.flatMap((column) => (column.generated === null ? [] : [column.cell]));
        const key = keyCells(rules.table).filter((cell) => assigned.includes(cell));
        return { kind: 'update', when, assignments, columns: [...assigned, ...generated], key };
      }
      case 'CMD_INSERT': {
        const { given, rowIn } = planMergedRow(clause, rules, scope);
        const isNumbered = rules.table.columns.some((column) => column.sequence !== null && !given.includes(column));
        return { kind: 'insert', when, isNumbered, rowIn };
      }
      case 'CMD_DELETE':
        return { kind: 'delete', when };
      default:
        return { kind: 'nothing', when };
    }
  });
}

/** @throws SqlError 0A000 a WITH writes to the table too: which rows it has changed, this statement would have to know */
function mergedTable(relation: RangeVar, isWriting: boolean, scope: QueryScope): ReturnType<typeof writableTable> {
  const before = [...scope.planning.locks];
  const table = writableTable(relation, ['onDelete', 'onUpdate'], scope);
  if (isWriting && before.some((lock) => lock.table === table.id && lock.mode === 'row exclusive'))
    throw notSupported(`MERGE into "${table.name}", to which its WITH writes`);
  return table;
}

/** An outer join where rows that are not matched have something to do. */
function joinOf(item: RangeItem, source: From, on: readonly Conjunct[], isOuter: boolean): FromList {
  const leaf: FromNode = { kind: 'leaf', item, rowsOf: null, needs: new Set() };
  return isOuter
    ? { nodes: [{ kind: 'left', left: source, right: { nodes: [leaf], conjuncts: [] }, on }], conjuncts: [] }
    : { nodes: [...source.nodes, leaf], conjuncts: [...source.conjuncts, ...on] };
}

/** @throws SqlError 42601 */
function reachableClauses(nodes: readonly Node[]): MergeWhenClause[] {
  const clauses = nodes.flatMap((node) => ('MergeWhenClause' in node ? [node.MergeWhenClause] : []));
  const hidden = clauses.find((clause, i) =>
    clauses.slice(0, i).some((other) => other.condition === undefined && isMatched(other) === isMatched(clause)),
  );
  if (hidden !== undefined)
    throw new SqlError('42601', 'unreachable WHEN clause specified after unconditional WHEN clause');
  return clauses;
}

function isMatched({ matchKind }: MergeWhenClause): boolean {
  return matchKind === 'MERGE_WHEN_MATCHED';
}

function isInsert({ commandType }: MergeWhenClause): boolean {
  return commandType === 'CMD_INSERT';
}

function sameName({ name }: RangeItem): SqlError {
  return new SqlError('42712', `name "${name}" specified more than once`, {
    detail: 'The name is used both as MERGE target table and data source.',
  });
}

function cardinalityViolation(): SqlError {
  return new SqlError('21000', 'MERGE command cannot affect row a second time', {
    hint: 'Ensure that not more than one source row matches any one target row.',
  });
}
