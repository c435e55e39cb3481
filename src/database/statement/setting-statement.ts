/** SET, SHOW, RESET, DISCARD, USE and SET CONSTRAINTS. */
import { dropTemporarySchema, type Notice, type SettingStatement, type StatementResult } from '../../sql/index.ts';
import { SqlError } from '../../sql/model/index.ts';
import { constraintsOutside, localOutside, type SessionParts, setSetting, useDatabase } from '../session/index.ts';
import { shown } from '../settings/index.ts';
import { schedule } from './schedule.ts';
import { emptyResult, rowsResult } from './statement-result.ts';
import { usedDatabase } from './used-database.ts';

/** @throws SqlError */
export async function changeSettings(
  statement: SettingStatement,
  sql: string,
  parts: SessionParts,
): Promise<StatementResult> {
  const { state, transaction } = parts;
  transaction.checkNotFailed();
  if (statement.what === 'show') {
    const rows = shown(statement, state.settings, (name) => transaction.characteristics.setting(name));
    return rowsResult('SHOW', statement.columns, rows);
  }
  const wasAutocommit = transaction.isAutocommit;
  const notices = change(statement, sql, parts);
  if (statement.what === 'constraints' && state.deferred.hasDue(false))
    await schedule(parts, transaction.checkDue(false));
  // MySQL: turning autocommit on commits what is open.
  if (!wasAutocommit && transaction.isAutocommit && transaction.status === 'open')
    await schedule(parts, transaction.end('COMMIT'));
  return { ...emptyResult(statement.command), notices };
}

function change(
  statement: Exclude<SettingStatement, { what: 'show' }>,
  sql: string,
  parts: SessionParts,
): readonly Notice[] {
  const { instance, state, transaction } = parts;
  const { command } = statement;
  const outside = (notice: Notice): readonly Notice[] =>
    transaction.isInside || !instance.rules.warns ? [] : [notice];
  switch (statement.what) {
    case 'set':
      if (command === 'USE') useDatabase(parts, usedDatabase(sql) ?? state.database);
      else if (statement.isLocal && !transaction.isInside) return outside(localOutside);
      else return setSetting(parts, statement.name, statement.value, statement.isLocal);
      return [];
    case 'set all':
      for (const { name, value } of statement.settings) setSetting(parts, name, value, false);
      return [];
    case 'constraints':
      transaction.setConstraints(statement.names, statement.isDeferred);
      return outside(constraintsOutside);
    case 'nothing':
      if (command === 'RESET' || command.startsWith('DISCARD')) discard(command, parts);
      return [];
  }
}

function discard(command: string, { instance, state, transaction, named, sequences }: SessionParts): void {
  const isAll = command === 'DISCARD ALL';
  if (isAll) {
    if (transaction.status !== 'idle' || transaction.isBlock)
      throw new SqlError('25001', 'DISCARD ALL cannot run inside a transaction block');
    named.remove(null);
    instance.engine.advisoryLocks.unlockAll(state.id);
    instance.scheduler.released();
  }
  if (isAll || command === 'DISCARD TEMP') dropTemporarySchema(instance.catalog, state.id);
  if (isAll || command === 'DISCARD SEQUENCES') sequences.forget();
  if (isAll || command === 'RESET') state.settings.resetAll();
}
