/**
 * SELECT ... FOR UPDATE. PostgreSQL finds and sorts the rows by the snapshot, then locks them in order until LIMIT is reached; a row that
 * has changed meanwhile is looked at again. MySQL's locking reads look at the latest rows in the first place.
 */
import type { LockingClause, SelectStmt } from '@pgsql/types';
import {
  engineRules,
  notSupported,
  SqlError,
  type LockRequest,
  type LockStrength,
  type Row,
  type Waiting,
} from '../model/index.ts';
import { assert } from '../../base/index.ts';
import type { Frame } from '../expression.ts';
import { wholeTable } from './access.ts';
import { wholeScan } from './covering-index.ts';
import { isGrouped } from './grouping.ts';
import { possible } from './impossible.ts';
import { semiJoinWays } from './membership.ts';
import { type FromList, rowsOf } from './join.ts';
import type { RangeItem } from './namespace.ts';
import { nullableRows } from './nullable-sides.ts';
import { backwards, directionOf, orderColumns, preferCovering, preferOrdered } from './ordered-access.ts';
import { newFrame, type PlannedQuery, type Values, restore } from './query.ts';
import { planJoinRecheck, type RecheckPlan } from './recheck.ts';
import { rowCondition } from './row-condition.ts';
import type { QueryScope } from './scope.ts';
import { expanded, type SelectPlan, sortedTuples } from './tuple.ts';
import { generated, type Source } from './cursor.ts';
import { runningOf } from '../execution.ts';

interface LockedItem {
  readonly item: RangeItem;
  readonly request: LockRequest;
}

/** What the rows of the query are to its locking clause. */
export interface LockedRows {
  readonly rows: PlannedQuery['rows'];
  readonly hasWindows: boolean;
  /** `isReadAlone` */
  readonly isAlone: boolean;
}

/** Are the rows those of one table as they are? Then a locking read of MySQL needs no more than its locks. */
export function isReadAlone({ nodes }: FromList, isPlain: boolean): boolean {
  return isPlain && nodes.length === 1 && nodes[0]?.kind === 'leaf';
}

export function planLocking(
  select: SelectStmt,
  plan: SelectPlan,
  { rows, hasWindows, isAlone }: LockedRows,
  scope: QueryScope,
): NonNullable<PlannedQuery['locking']> {
  const clauses = (select.lockingClause ?? []).map((node) => {
    assert('LockingClause' in node, 'FOR UPDATE is a locking clause');
    return node.LockingClause;
  });
  const { hasMetadataLocks, locksWhileScanning } = engineRules[scope.dialect];
  if (!locksWhileScanning) refuseOtherRows(select, plan, hasWindows, clauses[0]?.strength);
  scope.planning.writes = true;
  const items = clauses.flatMap((clause) => lockedItems(clause, plan, scope));
  // To MySQL's metadata locks FOR SHARE is a read like any other.
  for (const { item, request } of items) {
    const metadataMode = request.strength === 'share' ? 'access share' : 'row exclusive';
    if (item.table === null) continue;
    if (hasMetadataLocks) scope.planning.lockOnce(item.table.id, metadataMode);
    else scope.planning.lock(item.table.id, 'row share');
  }
  if (!locksWhileScanning) return lockFound(plan, items, scope);
  const readRows = new Set(plan.from.nodes.flatMap(rowsOf));
  const [only, another] = items.filter(({ item }) => readRows.has(item.row));
  if (isAlone && only !== undefined && another === undefined) return currentRead(plan, only, scope);
  scope.planning.locksInScans = true;
  for (const { item: each, request } of items) each.lockedBy = request;
  // The scans wait.
  // oxlint-disable-next-line require-yield
  return function* lockRead(outer, running) {
    return [...rows(outer, running)];
  };
}

/** PostgreSQL locks rows of tables, and these would be none. @throws SqlError 0A000 */
function refuseOtherRows(
  select: SelectStmt,
  { targets }: SelectPlan,
  hasWindows: boolean,
  strength: LockingClause['strength'],
): void {
  const refuse = (what: string): void => {
    throw new SqlError('0A000', `${(words[strength ?? ''] ?? 'for update').toUpperCase()} is not allowed with ${what}`);
  };
  if (select.distinctClause !== undefined) refuse('DISTINCT clause');
  if (select.groupClause !== undefined) refuse('GROUP BY clause');
  if (select.havingClause !== undefined) refuse('HAVING clause');
  if (isGrouped(select)) refuse('aggregate functions');
  if (hasWindows) refuse('window functions');
  if (targets.some(({ sets }) => sets.length > 0)) refuse('set-returning functions in the target list');
}

const words: Readonly<Record<string, string>> = {
  LCS_FORKEYSHARE: 'for key share',
  LCS_FORSHARE: 'for share',
  LCS_FORNOKEYUPDATE: 'for no key update',
  LCS_FORUPDATE: 'for update',
};

function lockedItems(
  { lockedRels, strength, waitPolicy }: LockingClause,
  plan: SelectPlan,
  scope: QueryScope,
): LockedItem[] {
  const request: LockRequest = {
    strength: (words[strength ?? 'LCS_FORUPDATE'] ?? 'for update').slice(4) as LockStrength,
    ifLocked: waitPolicy === 'LockWaitSkip' ? 'skip' : waitPolicy === 'LockWaitError' ? 'error' : 'wait',
    reading: 'statement',
  };
  const word = `FOR ${request.strength.toUpperCase()}`;
  const { items } = plan.from.namespace;
  const { locksDerivedTables } = engineRules[scope.dialect];
  const nullable = locksDerivedTables ? nullableRows(plan.from) : new Set<number>();
  const locked = (item: RangeItem): LockedItem => {
    if (nullable.has(item.row))
      throw new SqlError('0A000', `${word} cannot be applied to the nullable side of an outer join`);
    return { item, request };
  };
  if (lockedRels === undefined) {
    const derived = items.find(({ source }) => source === 'view' || (locksDerivedTables && source === 'subquery'));
    if (derived !== undefined) throw notSupported(`${word} of a ${derived.source} in FROM`);
    return items.filter(({ table }) => table !== null).map(locked);
  }
  return lockedRels.map((node) => {
    const name = 'RangeVar' in node ? node.RangeVar.relname : undefined;
    const item = items.find((each) => each.name === name);
    if (item === undefined)
      throw new SqlError('42P01', `relation "${name}" in ${word} clause not found in FROM clause`);
    if (item.table !== null) return locked(item);
    const { source = 'system table' } = item;
    if (source === 'subquery' || source === 'view' || source === 'system table')
      throw notSupported(`${word} of a ${source} in FROM`);
    throw new SqlError('0A000', `${word} cannot be applied to ${source === 'VALUES' ? '' : 'a '}${source}`);
  });
}

/** PostgreSQL: the items are locked when the rows have been found. */
function lockFound(
  plan: SelectPlan,
  items: readonly LockedItem[],
  { planning }: QueryScope,
): NonNullable<PlannedQuery['locking']> {
  const recheck = planJoinRecheck(plan.from, planning);
  return function* lock(outer, running) {
    const frame = newFrame(plan.rowCount(), running, outer);
    const found: Values[] = [];
    let toSkip = plan.limit?.offset(frame) ?? 0;
    const count = plan.limit?.count(frame) ?? Infinity;
    if (count === 0) return found;
    // By an index that has the order LIMIT ends the scan, and a serializable transaction has read no further.
    const { ordered } = plan;
    const isOrdered = ordered !== null && running.view.scansInOrder === true;
    for (const { rows } of sortedTuples(isOrdered ? { ...plan, source: ordered, compare: null } : plan, frame, true)) {
      assert(rows !== null, 'rows that are locked are kept');
      if (!(yield* lockRows(frame, rows, items, recheck))) continue;
      if (toSkip-- > 0) continue;
      restore(frame, rows, []);
      found.push(...expanded(plan.targets, frame));
      if (found.length >= count) break;
    }
    return found;
  };
}

/** Puts the locked versions in the place of those found, all before one is looked at again. @returns false: one is gone, is skipped or matches no more */
function* lockRows(
  frame: Frame,
  rows: Frame['rows'],
  items: readonly LockedItem[],
  recheck: RecheckPlan,
): Waiting<boolean> {
  const { view } = runningOf(frame);
  const found = [...rows];
  for (const { item, request } of items) {
    const row = rows[item.row];
    if (row === null || row === undefined) continue;
    const locked = yield* view.lockRow(row, () => true, request);
    if (locked === null) return false;
    rows[item.row] = locked;
  }
  if (rows.every((row, i) => row === found[i])) return true;
  restore(frame, found, []);
  const holds = recheck(frame);
  restore(frame, rows, []);
  if (!holds(frame)) return false;
  // A left join may have lost its other side.
  for (const i of rows.keys()) rows[i] = frame.rows[i] ?? null;
  return true;
}

/** Locks while it reads, by the index that the conditions choose; stops at LIMIT where the index has the order, or sorts afterwards. */
function currentRead(
  plan: SelectPlan,
  { item, request }: LockedItem,
  scope: QueryScope,
): NonNullable<PlannedQuery['locking']> {
  const { table } = item;
  assert(table !== null, 'only tables are locked');
  const { conjuncts } = plan.from;
  const conditionIn = rowCondition(item, conjuncts, scope.planning);
  const ways = semiJoinWays(table, item.row, conjuncts, scope);
  const order = orderColumns({ keys: plan.sortKeys, orders: plan.sortOrders }, item.row, scope.dialect);
  const ordered = preferOrdered(table, ways, order, plan.limit !== null, scope.dialect);
  const access = scope.planning.access(table, preferCovering(table, ways, ordered, item.cellsRead), true);
  const direction = directionOf(table, access, order, scope.dialect);
  const whole =
    direction === null || plan.sortKeys.length === 0 ? wholeScan(item, table, scope.dialect) : () => wholeTable;
  const isPossible = possible(plan.from, 'select', scope.planning);
  return function* read(outer, running) {
    const frame = newFrame(plan.rowCount(), running, outer);
    if (isPossible?.(frame) === false) return [];
    const count = plan.limit?.count(frame) ?? Infinity;
    const wanted = direction !== null ? count + (plan.limit?.offset(frame) ?? 0) : Infinity;
    const condition = conditionIn(frame);
    const locked: Row[] = [];
    const take = (row: Row): boolean => locked.push(row) < wanted;
    const paths = (access?.paths ?? whole)(frame);
    const inOrder = direction === 'descending' ? backwards(table, paths) : paths;
    for (const path of wanted === 0 ? [] : inOrder) {
      if (locked.length < wanted) yield* running.view.lock(table.id, path, condition, request, take);
    }
    const source: Source = generated(function* again(own) {
      for (const row of locked) {
        own.rows[item.row] = row;
        yield undefined;
      }
    });
    const offset = plan.limit?.offset(frame) ?? 0;
    return [...sortedTuples({ ...plan, source }, frame, false)]
      .map(({ values }) => values)
      .slice(offset, offset + count);
  };
}
