/** The tables of a statement are locked before it runs. PostgreSQL locks them while it analyses the statement. */
import type { DdlStatement, NameLook, NewName } from '../../sql/index.ts';
import { notSupported, SqlError, type StorageTransaction, type Waiting } from '../../sql/model/index.ts';
import { pause } from '../../engine/index.ts';
import type { RowStatement, SessionTransaction } from '../session/index.ts';

/**
 * The catalog may change while a statement waits: then it is planned anew, and may need other locks. A transaction with one snapshot has taken it
 * before it waits, but not for LOCK TABLE. @param current the statement by the catalog as it is now @param pauses see `EngineProfile`
 * @throws SqlError 55P03, 40P01, 23505, 42P07, 42710
 */
export function* lockTables(
  stored: StorageTransaction,
  { isolation }: SessionTransaction,
  current: () => RowStatement,
  pauses: boolean,
): Waiting<RowStatement> {
  if (stored.takeSafeSnapshot !== undefined && current().kind !== 'lock') yield* stored.takeSafeSnapshot();
  for (;;) {
    const statement = current();
    if (stored.lockTable === undefined) {
      if (statement.kind === 'lock') throw notSupported(statement.command);
      return statement;
    }
    if (statement.kind === 'ddl' && statement.makesNamesFirst) yield* lockNames(stored, statement, pauses);
    const locks = statement.locks();
    const hasOneSnapshot = isolation === 'repeatable read' || isolation === 'serializable';
    if (hasOneSnapshot && statement.kind !== 'lock' && locks.length > 0) stored.statement();
    let hasWaited = false;
    for (const { table, mode, ifLocked } of locks)
      hasWaited = (yield* stored.lockTable(table, mode, ifLocked)) || hasWaited;
    if (hasWaited) continue;
    if (statement.kind === 'ddl' && !statement.makesNamesFirst) yield* lockNames(stored, statement, pauses);
    return statement;
  }
}

/** @throws SqlError another transaction has made the name since it was found free: 23505 or, from one of the looks, 42P07 or 42710 */
function* lockNames(stored: StorageTransaction, statement: DdlStatement, pauses: boolean): Waiting<void> {
  if (stored.lockName === undefined) return;
  for (const name of statement.names()) {
    const isWaiting = yield* lookAgain(stored, name, pauses);
    if (isWaiting && (yield* stored.lockName(name.name)) && name.isTaken()) throw duplicateName(name);
  }
}

/**
 * Where another transaction has entered the name: its commit may come before each of the looks that are left, or after all of them. That the name was found
 * free before the other entered it comes to the same, so a name that is free needs no pause.
 * @returns is the name still to be waited for? @throws SqlError
 */
function* lookAgain(stored: StorageTransaction, name: NewName, pauses: boolean): Waiting<boolean> {
  const tryLock = (): boolean => stored.tryLockName?.(name.name) === true;
  if (tryLock()) return false;
  if (pauses) {
    const entering: NameLook = { isTaken: name.isTaken, error: () => duplicateName(name) };
    let isLocked = false;
    for (const { isTaken, error } of name.ifEntered === 'wait' ? name.looks : [...name.looks, entering]) {
      if (!isLocked) {
        yield pause;
        isLocked = tryLock();
      }
      if (isTaken()) throw error();
    }
    if (isLocked) return false;
  }
  return name.ifEntered === 'wait';
}

function duplicateName({ index }: NewName): SqlError {
  return new SqlError('23505', `duplicate key value violates unique constraint "${index}"`, { constraint: index });
}

/** Is it DDL's error that the name is taken? */
export function isNameTaken(error: unknown): boolean {
  if (!(error instanceof SqlError)) return false;
  if (['42P07', '42P06', '42710'].includes(error.code)) return true;
  return error.code === '23505' && /^pg_(?:class|type|namespace|extension)_/.test(error.detail.constraint ?? '');
}
