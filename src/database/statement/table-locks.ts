/** The tables of a statement are locked before it runs. PostgreSQL locks them while it analyses the statement. */
import type { DdlStatement } from '../../sql/index.ts';
import { notSupported, SqlError, type StorageTransaction, type Waiting } from '../../sql/model/index.ts';
import type { RowStatement, SessionTransaction } from '../session/index.ts';

/**
 * The catalog may change while a statement waits: then it is planned anew, and may need other locks. A transaction with one snapshot has taken it
 * before it waits, but not for LOCK TABLE. @param current the statement by the catalog as it is now @throws SqlError 55P03, 40P01
 */
export function* lockTables(
  stored: StorageTransaction,
  { isolation }: SessionTransaction,
  current: () => RowStatement,
): Waiting<RowStatement> {
  if (stored.takeSafeSnapshot !== undefined && current().kind !== 'lock') yield* stored.takeSafeSnapshot();
  for (;;) {
    const statement = current();
    if (stored.lockTable === undefined) {
      if (statement.kind === 'lock') throw notSupported(statement.command);
      return statement;
    }
    if (statement.kind === 'ddl' && statement.makesNamesFirst) yield* lockNames(stored, statement);
    const locks = statement.locks();
    const hasOneSnapshot = isolation === 'repeatable read' || isolation === 'serializable';
    if (hasOneSnapshot && statement.kind !== 'lock' && locks.length > 0) stored.statement();
    let hasWaited = false;
    for (const { table, mode, ifLocked } of locks)
      hasWaited = (yield* stored.lockTable(table, mode, ifLocked)) || hasWaited;
    if (hasWaited) continue;
    if (statement.kind === 'ddl' && !statement.makesNamesFirst) yield* lockNames(stored, statement);
    return statement;
  }
}

/** @throws SqlError 23505: a transaction that was waited for has made the name */
function* lockNames(stored: StorageTransaction, statement: DdlStatement): Waiting<void> {
  for (const { name, index, isTaken } of statement.names()) {
    if (stored.lockName === undefined || isTaken()) continue;
    if ((yield* stored.lockName(name)) && isTaken())
      throw new SqlError('23505', `duplicate key value violates unique constraint "${index}"`, { constraint: index });
  }
}

/** Is it DDL's error that the name is taken? */
export function isNameTaken(error: unknown): boolean {
  if (!(error instanceof SqlError)) return false;
  if (error.code === '42P07') return true;
  return error.code === '23505' && /^pg_(?:class|type|namespace)_/.test(error.detail.constraint ?? '');
}
