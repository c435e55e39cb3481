/** May this statement run in this transaction? */
import { SqlError } from '../../sql/model/index.ts';
import type { RowStatement } from '../session/prepared.ts';
import type { SessionRules } from '../dialect/session-rules.ts';
import type { SessionTransaction } from '../session/session-transaction.ts';

/** @throws SqlError 25P02 */
export function checkNotFailed({ isFailed }: SessionTransaction): void {
  if (isFailed)
    throw new SqlError('25P02', 'current transaction is aborted, commands ignored until end of transaction block');
}

/** A failed transaction refuses each statement that can be read, before names are looked up. @throws SqlError 25P02 */
export function checkReadableNotFailed(transaction: SessionTransaction, read: () => unknown): void {
  if (!transaction.isFailed) return;
  try {
    read();
  } catch {
    return;
  }
  checkNotFailed(transaction);
}

/** @throws SqlError 25006 */
export function checkMayWrite(command: string, { isReadOnly }: SessionTransaction, rules: SessionRules): void {
  if (isReadOnly) throw rules.readOnlyTransaction(command);
}

/** A lock of LOCK TABLE outside a block would go at once. @throws SqlError 25P01, 25001 */
export function checkPlace(statement: RowStatement, isInBlock: boolean): void {
  if (statement.kind === 'ddl' && statement.outsideBlocks !== null && isInBlock)
    throw new SqlError('25001', `${statement.outsideBlocks} cannot run inside a transaction block`);
  if (statement.kind === 'lock' && !isInBlock)
    throw new SqlError('25P01', `${statement.command} can only be used in transaction blocks`);
}
