/**
 * Which rows each statement of a run read and wrote: the operations of the history, by the statement that was under way when they happened. A
 * connection has one statement at a time, so an operation belongs to the first statement of its connection that ended at its time or later.
 */
import type { OperationTimes } from '../database/index.ts';
import type { History, TransactionIndex } from '../history/index.ts';
import type { LoggedStatement } from './statement-log.ts';

/** An operation of a history. */
export interface OperationPlace {
  readonly transaction: TransactionIndex;
  readonly operation: number;
}

/** By statement. */
export function operationsOfStatements(
  statements: readonly LoggedStatement[],
  { sessions, transactions }: History,
  times: OperationTimes,
): readonly (readonly OperationPlace[])[] {
  const placed: OperationPlace[][] = statements.map(() => []);
  transactions.forEach(({ session, operations }, transaction) => {
    const name = sessions[session];
    operations.forEach((_, operation) => {
      const at = times[transaction]?.[operation] ?? Infinity;
      const statement = statements.findIndex((each) => each.connectionName === name && each.time >= at);
      placed[statement]?.push({ transaction, operation });
    });
  });
  return placed;
}
