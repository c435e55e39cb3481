/** SELECT, VALUES, UNION and their like: from a tree to a planned query. */
import type { Node, SelectStmt } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import { notSupported, SqlError, type SqlType, types } from '../model/index.ts';
import { compileExpression, unify } from '../expressions/index.ts';
import type { Expression, Frame, Subquery, SubqueryUse } from '../expression.ts';
import { planCommonTables } from './common-table.ts';
import { noAggregates } from './grouping.ts';
import { takesConditions } from './push-down.ts';
import { newFrame, type OpenQuery, type OutputColumn, type PlannedQuery, type Values } from './query.ts';
import type { QueryScope } from './scope.ts';
import { planSetOperation, planSorted } from './set-operation.ts';
import { openSimpleSelect, planSimpleSelect } from './simple-select.ts';
import { type KeptResults, runningOf } from '../execution.ts';

/** `scope`: the query's own, empty still. `expected`: types for literals and parameters in the select list. */
export function planQuery(
  select: SelectStmt,
  scope: QueryScope,
  expected: readonly (SqlType | undefined)[] = [],
): PlannedQuery {
  if (select.intoClause !== undefined) throw notSupported('SELECT INTO inside of another statement');
  planCommonTables(select.withClause, scope);
  if (select.op !== undefined && select.op !== 'SETOP_NONE') return planSetOperation(select, scope, expected);
  if (select.valuesLists !== undefined) {
    if (select.lockingClause !== undefined) throw new SqlError('0A000', 'FOR UPDATE cannot be applied to VALUES');
    return planSorted(select, planValues(select.valuesLists, scope, expected), scope);
  }
  return planSimpleSelect(select, scope, expected);
}

/** A SELECT in FROM; `null`: of another form, or one that the server plans without regard to the query around. */
export function openQuery(select: SelectStmt, scope: QueryScope): OpenQuery | null {
  if (!takesConditions(select, scope)) return null;
  planCommonTables(select.withClause, scope);
  return openSimpleSelect(select, scope, []);
}

const keptIn = (frame: Frame): KeptResults => runningOf(frame).kept;

/** A SELECT inside an expression. */
export function planSubquery(node: Node, scope: QueryScope, use: SubqueryUse): Subquery {
  assert('SelectStmt' in node, 'a subquery is a SELECT');
  const planned = planQuery(node.SelectStmt, scope.child(use));
  const { locking } = planned;
  const columns = planned.columns.map(({ name, type, isUnsigned = false }) => ({
    name,
    isUnsigned,
    type: type.name === 'unknown' ? types.text : type,
  }));
  if (locking === null) {
    const rows = (frame: Frame): Iterable<Values> => planned.rows(frame, runningOf(frame));
    const { hasRow } = planned;
    return {
      columns,
      rows,
      hasRow: (frame) => (hasRow === null ? hasFirst(rows(frame)) : hasRow(frame, runningOf(frame))),
      join: planned.join,
      isCorrelated: planned.isCorrelated,
      keptIn,
    };
  }
  if (planned.isCorrelated) throw notSupported('FOR UPDATE in a subquery that depends on the query around it');
  scope.planning.prelude.push(function* lockFirst(running) {
    running.kept.set(planned, yield* locking(null, running));
  });
  const rows = (frame: Frame): Values[] => keptIn(frame).get(planned) as Values[];
  return { columns, rows, hasRow: (frame) => rows(frame).length > 0, isCorrelated: false, keptIn };
}

function hasFirst(rows: Iterable<Values>): boolean {
  for (const _ of rows) return true;
  return false;
}

function planValues(
  lists: readonly Node[],
  scope: QueryScope,
  expected: readonly (SqlType | undefined)[],
): PlannedQuery {
  scope.clause = 'VALUES';
  scope.collector = noAggregates(scope);
  const rows = lists.map((list) => {
    assert('List' in list, 'VALUES has lists');
    return (list.List.items ?? []).map((node, i) => {
      if ('SetToDefault' in node) throw new SqlError('42601', 'DEFAULT is not allowed in this context');
      return compileExpression(node, scope, expected[i]);
    });
  });
  const width = rows[0]?.length ?? 0;
  if (rows.some(({ length }) => length !== width))
    throw new SqlError('42601', 'VALUES lists must all be the same length');
  const columns: OutputColumn[] = [];
  const evaluators: Expression['evaluate'][][] = rows.map(() => []);
  for (let i = 0; i < width; i++) {
    const unified = unify(
      rows.map((row) => row[i] as Expression),
      'VALUES',
      scope,
    );
    const [first] = unified;
    assert(first !== undefined, 'VALUES has rows');
    columns.push({
      name: `column${i + 1}`,
      type: first.type,
      modifier: unified.every(({ modifier }) => modifier === first.modifier) ? first.modifier : -1,
      isNullable: true,
      origin: null,
    });
    for (const [r, { evaluate }] of unified.entries()) evaluators[r]?.push(evaluate);
  }
  return {
    columns,
    *rows(outer, running) {
      const frame = newFrame(0, running, outer);
      for (const row of evaluators) yield row.map((evaluate) => evaluate(frame));
    },
    hasRow: null,
    locking: null,
    get isCorrelated() {
      return scope.reachesOut;
    },
  };
}
