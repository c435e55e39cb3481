/** May this statement run in this transaction? */
import { type Dialect, engineRules, SqlError } from '../../sql/model/index.ts';
import type { SessionRules } from '../dialect/index.ts';
import type { RowStatement, SessionTransaction } from '../session/index.ts';

/** A failed transaction refuses each statement that can be read, before names are looked up. @throws SqlError 25P02 */
export function checkReadableNotFailed(transaction: SessionTransaction, read: () => unknown): void {
  if (!transaction.isFailed) return;
  try {
    read();
  } catch {
    return;
  }
  transaction.checkNotFailed();
}

/** @throws SqlError 25006 */
export function checkMayWrite(command: string, { characteristics }: SessionTransaction, rules: SessionRules): void {
  if (characteristics.isReadOnly) throw rules.readOnlyTransaction(command);
}

/** A lock of LOCK TABLE outside a block would go at once. @throws SqlError 25P01, 25001 */
export function checkPlace(statement: RowStatement, isInBlock: boolean): void {
  if (statement.kind === 'ddl' && statement.outsideBlocks !== null && isInBlock)
    throw new SqlError('25001', `${statement.outsideBlocks} cannot run inside a transaction block`);
  if (statement.kind === 'lock' && !isInBlock)
    throw new SqlError('25P01', `${statement.command} can only be used in transaction blocks`);
}

/** Does it commit the transaction before it and its own after it? */
export function isCommittedAround(statement: RowStatement, dialect: Dialect): boolean {
  if (statement.kind === 'query') return statement.commitsAround === true;
  return statement.kind === 'ddl' && !statement.isTemporary && engineRules[dialect].ddlCommits;
}
