/** One statement that reads, writes or defines, from its locks to its answer: when it fails it is rolled back, or its transaction is. */
import {
  chargeRows,
  type DdlOutcome,
  type Execution,
  type QueryOutcome,
  type StatementResult,
} from '../../sql/index.ts';
import {
  engineRules,
  type SqlValue,
  type StatementView,
  type Waiting,
  SqlError,
  type Dialect,
} from '../../sql/model/index.ts';
import { pause, runAfterWaits, type UndoneByError } from '../../engine/index.ts';
import { openRowsIn } from '../assumptions/index.ts';
import { type Prepared, type RowStatement, type SessionParts, type SessionTransaction } from '../session/index.ts';
import { currentStatement } from './statement-plans.ts';
import { emptyResult } from './statement-result.ts';
import { StatementBudget } from './statement-budget.ts';
import { isNameTaken, lockTables } from './table-locks.ts';
import type { SessionRules } from '../dialect/index.ts';

/** @throws SqlError */
export function* runStatement(
  prepared: Prepared,
  parameters: readonly SqlValue[],
  parts: SessionParts,
): Waiting<StatementResult> {
  const { instance, state, transaction, surroundings } = parts;
  const { dialect, engine, scheduler } = instance;
  let statement = prepared.plan.statement as RowStatement;
  transaction.checkNotFailed();
  checkPlace(statement, transaction.isInside);
  const isRead = statement.kind === 'query' && statement.isReadOnly;
  const commitsAround = isCommittedAround(statement, dialect);
  let view: StatementView | null = null;
  try {
    if (commitsAround) yield* transaction.commit();
    const isFirst = !transaction.hasBegun;
    const stored = transaction.open(statement.kind === 'query' && statement.command === 'SELECT');
    const current = (): RowStatement => currentStatement(prepared, parts) as RowStatement;
    statement = yield* lockTables(stored, transaction, current, engine.pauses);
    if (statement.kind === 'lock') return emptyResult(statement.command);
    state.watch.onStep?.(engine.snapshotOf(transaction.isolation, isRead));
    instance.choices.mayFailSpuriously(state, transaction.isolation);
    const query = statement.kind === 'query' ? statement : null;
    view = yield* engine.statement(stored, { isolation: transaction.isolation, isFirst, query });
    const budget = new StatementBudget(instance, state, isRead);
    const { takenForGranted } = instance;
    const onOpenRows = takenForGranted === null ? undefined : openRowsIn(takenForGranted, prepared.sql);
    const execution = { parameters, surroundings, budget, onOpenRows };
    const result = yield* outcome(statement, execution, view, parts);
    if (!transaction.isInside || commitsAround) {
      if (engine.pauses && !isRead && !commitsAround) yield pause;
      yield* transaction.commit();
    }
    return result;
  } catch (error) {
    failed(error, view, commitsAround, parts);
    throw error;
  } finally {
    scheduler.expect(state.id, transaction.isExpected);
  }
}

function* outcome(
  statement: Exclude<RowStatement, { kind: 'lock' }>,
  execution: Execution,
  view: StatementView,
  { instance, state, transaction }: SessionParts,
): Waiting<StatementResult> {
  state.statementTime = instance.clock();
  if (statement.kind === 'ddl') {
    checkMayWrite(statement.command, transaction, instance.rules);
    const define = (each: Execution): Waiting<DdlOutcome> => statement.run(each, view);
    const { undo, rowCount, notices, tag = statement.command } = yield* runAfterWaits(view, execution, define);
    if (!statement.isTemporary || !engineRules[instance.dialect].ddlCommits) transaction.defined(undo);
    instance.engine.recorder.onDdl(transaction.number, state.id, 'made');
    return { ...emptyResult(tag), rowCount, notices };
  }
  if (!statement.isReadOnly) checkMayWrite(statement.command, transaction, instance.rules);
  const query = (each: Execution): Waiting<QueryOutcome> => statement.run(each, view);
  state.givenInsertId = null;
  const result = yield* runAfterWaits(view, execution, query);
  view.ended?.();
  chargeRows(result.rows, statement.columns ?? [], execution.budget);
  state.foundRows = BigInt(result.foundRows);
  state.rowCount = statement.columns === null ? BigInt(result.rowCount) : -1n;
  const insertId = state.givenInsertId ?? result.insertId;
  if (result.hasDrawn === true) state.lastInsertId = insertId;
  const { command, columns } = statement;
  return { command, columns, ...result, insertId, notices: state.watch.notices.splice(0) };
}

/** The engine says what the error undoes of a transaction that lasts; one of a single statement is rolled back. */
function failed(
  error: unknown,
  view: StatementView | null,
  commitsAround: boolean,
  { instance, state, transaction }: SessionParts,
): void {
  view?.undo();
  view?.ended?.();
  if (isNameTaken(error)) instance.engine.recorder.onDdl(transaction.number, state.id, 'refused');
  if (!transaction.isExplicit || commitsAround) transaction.rollback();
  else rollBack(instance.engine.undoneBy(error), transaction);
  instance.scheduler.released();
}

function rollBack(undone: UndoneByError, transaction: SessionTransaction): void {
  switch (undone) {
    case 'statement':
      return;
    case 'transaction':
      return transaction.rollback();
    case 'all until rollback':
      return transaction.abort();
  }
}

/** @throws SqlError 25006 */
function checkMayWrite(command: string, { characteristics }: SessionTransaction, rules: SessionRules): void {
  if (characteristics.isReadOnly) throw rules.readOnlyTransaction(command);
}

/** A lock of LOCK TABLE outside a block would go at once. @throws SqlError 25P01, 25001 */
function checkPlace(statement: RowStatement, isInBlock: boolean): void {
  if (statement.kind === 'ddl' && statement.outsideBlocks !== null && isInBlock)
    throw new SqlError('25001', `${statement.outsideBlocks} cannot run inside a transaction block`);
  if (statement.kind === 'lock' && !isInBlock)
    throw new SqlError('25P01', `${statement.command} can only be used in transaction blocks`);
}

/** Does it commit the transaction before it and its own after it? */
function isCommittedAround(statement: RowStatement, dialect: Dialect): boolean {
  if (statement.kind === 'query') return statement.commitsAround === true;
  return statement.kind === 'ddl' && !statement.isTemporary && engineRules[dialect].ddlCommits;
}
