/** BEGIN, COMMIT, ROLLBACK, SET TRANSACTION and the statements of savepoints. */
import type { Notice, StatementResult, TransactionModes, TransactionStatement } from '../../sql/index.ts';
import type { Waiting } from '../../sql/model/index.ts';
import { alreadyOpen, noneOpen, type SessionParts, setModes } from '../session/index.ts';
import { schedule } from './schedule.ts';
import { emptyResult } from './statement-result.ts';

/** @throws SqlError */
export async function controlTransaction(
  statement: TransactionStatement,
  parts: SessionParts,
): Promise<StatementResult> {
  const { command } = statement;
  switch (statement.what) {
    case 'begin':
      return begin(command, statement.modes, parts);
    case 'modes':
      parts.transaction.checkNotFailed();
      return { ...emptyResult(command), notices: setModes(parts, statement.scope, statement.modes) };
    case 'commit':
    case 'rollback':
      return end(statement.what, command, statement.andChain, parts);
    case 'savepoint':
    case 'release':
    case 'rollback to':
      await schedule(parts, savepoint(statement.what, statement.name, parts));
      return emptyResult(command);
  }
}

async function begin(command: string, modes: TransactionModes, parts: SessionParts): Promise<StatementResult> {
  const { instance, transaction } = parts;
  if (instance.rules.beginCommits && transaction.status !== 'idle') await schedule(parts, transaction.end('COMMIT'));
  transaction.checkNotFailed();
  if (transaction.isExplicit) return remarked(command, alreadyOpen, parts);
  startExplicit(modes, parts);
  if (modes.takesSnapshot === true) await schedule(parts, takeSnapshot(parts));
  return emptyResult(command);
}

async function end(
  what: 'commit' | 'rollback',
  command: string,
  andChain: boolean,
  parts: SessionParts,
): Promise<StatementResult> {
  const { transaction } = parts;
  if (transaction.status === 'idle') return remarked(command, noneOpen, parts);
  const outcome = what === 'commit' && !transaction.isFailed ? 'COMMIT' : 'ROLLBACK';
  const { modes } = transaction.characteristics;
  await schedule(parts, transaction.end(outcome));
  if (andChain) startExplicit(modes, parts);
  return emptyResult(outcome);
}

function startExplicit(modes: TransactionModes, { instance, state, transaction }: SessionParts): void {
  transaction.begin(modes);
  instance.scheduler.expect(state.id, true);
}

// A generator because its moment is decided as that of a statement is.
// oxlint-disable-next-line require-yield
function* takeSnapshot({ instance, state, transaction }: SessionParts): Waiting<void> {
  transaction.open();
  state.watch.onStep?.('transaction');
  instance.scheduler.expect(state.id, true);
}

// oxlint-disable-next-line require-yield
function* savepoint(
  what: 'savepoint' | 'release' | 'rollback to',
  name: string,
  { instance, state, transaction }: SessionParts,
): Waiting<void> {
  transaction.savepointStatement(what, name);
  instance.scheduler.expect(state.id, transaction.isExpected);
}

function remarked(command: string, notice: Notice, { instance }: SessionParts): StatementResult {
  return { ...emptyResult(command), notices: instance.rules.warns ? [notice] : [] };
}
