/** One statement that reads, writes or defines, from its locks to its answer: when it fails it is rolled back, or its transaction is. */
import type { DdlOutcome, Execution, QueryOutcome, StatementResult } from '../../sql/index.ts';
import { engineRules, type SqlValue, type StatementView, type Waiting } from '../../sql/model/index.ts';
import type { SqlDatabase } from '../database.ts';
import { pause, runAfterWaits, type UndoneByError } from '../../engine/index.ts';
import { openRowsIn } from '../assumptions/open-rows.ts';
import { isCommittedAround, type Prepared, type RowStatement } from '../session/prepared.ts';
import type { SessionTransaction } from '../session/session-transaction.ts';
import type { Session } from '../sql-session.ts';
import { checkMayWrite, checkNotFailed, checkPlace } from './statement-checks.ts';
import { emptyResult, resultOf } from './statement-result.ts';
import { statementCheck } from './statement-timeouts.ts';
import { isNameTaken, lockTables } from './table-locks.ts';

export interface StatementRun {
  readonly session: Session;
  readonly database: SqlDatabase;
  readonly transaction: SessionTransaction;
  /** The plan by the catalog as it is now. */
  readonly current: () => RowStatement;
}

/** @throws SqlError */
export function* runStatement(
  prepared: Prepared,
  parameters: readonly SqlValue[],
  run: StatementRun,
): Waiting<StatementResult> {
  const { session, database, transaction } = run;
  const { dialect, engine, scheduler } = database;
  let statement = prepared.plan.statement as RowStatement;
  checkNotFailed(transaction);
  checkPlace(statement, transaction.isInside);
  const isRead = statement.kind === 'query' && statement.isReadOnly;
  const commitsAround = isCommittedAround(statement, dialect);
  let view: StatementView | null = null;
  try {
    if (commitsAround) yield* transaction.commit();
    const isFirst = !transaction.hasBegun;
    const stored = transaction.open(isRead);
    statement = yield* lockTables(stored, transaction, run.current);
    if (statement.kind === 'lock') return emptyResult(statement.command);
    session.watch.onStep?.(engine.snapshotOf(transaction.isolation, isRead));
    database.maySpuriouslyFail(session, transaction.isolation);
    const query = statement.kind === 'query' ? statement : null;
    view = yield* engine.statement(stored, { isolation: transaction.isolation, isFirst, query });
    const checkInterrupt = statementCheck(database, session, isRead);
    const onOpenRows = openRowsIn(database.takenForGranted, prepared.sql);
    const execution = { parameters, surroundings: session.surroundings, checkInterrupt, onOpenRows };
    const result = yield* outcome(statement, execution, view, run);
    if (!transaction.isInside || commitsAround) {
      if (engine.pauses && !isRead && !commitsAround) yield pause;
      yield* transaction.commit();
    }
    return result;
  } catch (error) {
    failed(error, view, commitsAround, run);
    throw error;
  } finally {
    scheduler.expect(session.id, session.isExpected);
  }
}

function* outcome(
  statement: Exclude<RowStatement, { kind: 'lock' }>,
  execution: Execution,
  view: StatementView,
  { session, database, transaction }: StatementRun,
): Waiting<StatementResult> {
  session.statementTime = database.clock();
  if (statement.kind === 'ddl') {
    checkMayWrite(statement.command, transaction, database.rules);
    const define = (each: Execution): Waiting<DdlOutcome> => statement.run(each, view);
    const { undo, rowCount, notices, tag = statement.command } = yield* runAfterWaits(view, execution, define);
    if (!statement.isTemporary || !engineRules[database.dialect].ddlCommits) transaction.defined(undo);
    database.onDdl(session, 'made');
    return { ...emptyResult(tag), rowCount, notices };
  }
  if (!statement.isReadOnly) checkMayWrite(statement.command, transaction, database.rules);
  const query = (each: Execution): Waiting<QueryOutcome> => statement.run(each, view);
  session.givenInsertId = null;
  const result = yield* runAfterWaits(view, execution, query);
  view.ended?.();
  session.foundRows = BigInt(result.foundRows);
  session.rowCount = statement.columns === null ? BigInt(result.rowCount) : -1n;
  const insertId = session.givenInsertId ?? result.insertId;
  if (result.hasDrawn === true) session.lastInsertId = insertId;
  return { ...resultOf(statement, { ...result, insertId }), notices: session.watch.notices.splice(0) };
}

/** The engine says what the error undoes of a transaction that lasts; one of a single statement is rolled back. */
function failed(
  error: unknown,
  view: StatementView | null,
  commitsAround: boolean,
  { session, database, transaction }: StatementRun,
): void {
  view?.undo();
  view?.ended?.();
  if (isNameTaken(error)) database.onDdl(session, 'refused');
  if (!transaction.isExplicit || commitsAround) session.rollback();
  else rollBack(database.engine.undoneBy(error), session, transaction);
  database.scheduler.released();
}

function rollBack(undone: UndoneByError, session: Session, transaction: SessionTransaction): void {
  switch (undone) {
    case 'statement':
      return;
    case 'transaction':
      return session.rollback();
    case 'all until rollback':
      return transaction.abort();
  }
}
