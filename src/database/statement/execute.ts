/** One prepared statement of a session, by its kind. */
import type { NamedStatement, StatementResult } from '../../sql/index.ts';
import type { SqlValue } from '../../sql/model/index.ts';
import type { Prepared, SessionParts } from '../session/index.ts';
import { administer } from './administer.ts';
import { runStatement } from './run-statement.ts';
import { schedule } from './schedule.ts';
import { changeSettings } from './setting-statement.ts';
import { currentStatement, prepareAloneIn, preparedInside } from './statement-plans.ts';
import { emptyResult } from './statement-result.ts';
import { controlTransaction } from './transaction-statement.ts';

/** Statements that read or write rows go through the scheduler; BEGIN and settings answer at once, because other sessions cannot see them. @throws SqlError */
export async function execute(
  prepared: Prepared,
  parameters: readonly SqlValue[],
  parts: SessionParts,
): Promise<StatementResult> {
  const { instance, state, transaction } = parts;
  if (prepared.admin !== null) return administer(prepared.admin, instance, state);
  const statement = currentStatement(prepared, parts);
  switch (statement.kind) {
    case 'empty':
      return emptyResult('');
    case 'setting':
      return changeSettings(statement, prepared.sql, parts);
    case 'transaction':
      return controlTransaction(statement, parts);
    case 'named':
      return byName(statement, prepared, parts);
    case 'query':
      if (statement.accesses.length > 0)
        instance.assumed.note(prepared.sql, statement, instance.engine, transaction.isolation);
      return schedule(parts, runStatement(prepared, parameters, parts), statement.isReadOnly);
    case 'ddl':
    case 'lock':
      return schedule(parts, runStatement(prepared, parameters, parts));
  }
}

/** PREPARE, EXECUTE, DEALLOCATE. */
async function byName(statement: NamedStatement, prepared: Prepared, parts: SessionParts): Promise<StatementResult> {
  const { instance, state, transaction, surroundings } = parts;
  transaction.checkNotFailed();
  if (statement.what === 'execute') {
    const inner = parts.named.get(statement.name);
    state.statementTime = instance.clock();
    return execute(inner as Prepared, statement.values(inner.parameterTypes, { parameters: [], surroundings }), parts);
  }
  parts.named.change(
    statement,
    (inner): Prepared =>
      typeof inner === 'string' ? prepareAloneIn(inner, parts) : preparedInside(inner, prepared, parts),
  );
  return emptyResult(statement.command);
}
