/** Statements about the transaction and the session: the session itself does them. */
import type { A_Const, Node, RangeVar, TransactionStmt, VariableSetStmt } from '@pgsql/types';
import type { ResultColumn } from './session.ts';
import { notSupported, SqlError, types } from './model/index.ts';
import type { IsolationName, SettingStatement, TransactionModes, TransactionStatement } from './statement.ts';

/** `undefined`: something else. */
export function sessionStatement(node: Node): TransactionStatement | SettingStatement | undefined {
  if ('TransactionStmt' in node) return transactionStatement(node.TransactionStmt);
  if ('VariableSetStmt' in node) return setStatement(node.VariableSetStmt);
  if ('VariableShowStmt' in node) {
    const name = node.VariableShowStmt.name ?? '';
    return { kind: 'setting', command: 'SHOW', what: 'show', name, columns: showColumns(name) };
  }
  if ('ConstraintsSetStmt' in node) {
    const { constraints, deferred: isDeferred = false } = node.ConstraintsSetStmt;
    const names = constraints?.map((each) => ('RangeVar' in each ? namesOf(each.RangeVar) : [])) ?? null;
    return { kind: 'setting', command: 'SET CONSTRAINTS', what: 'constraints', names, isDeferred };
  }
  const command = acceptedCommand(node);
  return command === undefined ? undefined : { kind: 'setting', command, what: 'nothing' };
}

/** Settings whose names are not written in small letters: PostgreSQL 15, `select name from pg_settings where name <> lower(name)`. */
const settingTitles = new Map(['DateStyle', 'IntervalStyle', 'TimeZone'].map((name) => [name.toLowerCase(), name]));

function namesOf({ schemaname, relname = '' }: RangeVar): string[] {
  return schemaname === undefined ? [relname] : [schemaname, relname];
}

function showColumns(name: string): ResultColumn[] {
  const names = name === 'all' ? ['name', 'setting', 'description'] : [settingTitles.get(name.toLowerCase()) ?? name];
  return names.map((each) => ({
    name: each,
    type: types.text,
    modifier: -1,
    tableNumber: 0,
    columnNumber: 0,
    tableName: '',
    isNullable: true,
  }));
}

function acceptedCommand(node: Node): string | undefined {
  if ('DiscardStmt' in node) return `DISCARD ${(node.DiscardStmt.target ?? 'DISCARD_ALL').replace('DISCARD_', '')}`;
  if ('ListenStmt' in node) return 'LISTEN';
  if ('UnlistenStmt' in node) return 'UNLISTEN';
  if ('NotifyStmt' in node) return 'NOTIFY';
  if ('CheckPointStmt' in node) return 'CHECKPOINT';
  return undefined;
}

function transactionStatement(statement: TransactionStmt): TransactionStatement {
  const { kind, options, savepoint_name: name = '', chain: andChain = false } = statement;
  switch (kind) {
    case 'TRANS_STMT_BEGIN':
      return { kind: 'transaction', command: 'BEGIN', what: 'begin', modes: modesOf(options) };
    case 'TRANS_STMT_START':
      return { kind: 'transaction', command: 'START TRANSACTION', what: 'begin', modes: modesOf(options) };
    case 'TRANS_STMT_COMMIT':
      return { kind: 'transaction', command: 'COMMIT', what: 'commit', andChain };
    case 'TRANS_STMT_ROLLBACK':
      return { kind: 'transaction', command: 'ROLLBACK', what: 'rollback', andChain };
    case 'TRANS_STMT_SAVEPOINT':
      return { kind: 'transaction', command: 'SAVEPOINT', what: 'savepoint', name };
    case 'TRANS_STMT_RELEASE':
      return { kind: 'transaction', command: 'RELEASE', what: 'release', name };
    case 'TRANS_STMT_ROLLBACK_TO':
      return { kind: 'transaction', command: 'ROLLBACK', what: 'rollback to', name };
    default:
      throw notSupported('two-phase commit');
  }
}

function modesOf(options: readonly Node[] | undefined): TransactionModes {
  const modes: { isolation?: IsolationName; isReadOnly?: boolean; isDeferrable?: boolean } = {};
  for (const node of options ?? []) {
    if (!('DefElem' in node)) continue;
    const { defname, arg } = node.DefElem;
    const constant = arg !== undefined && 'A_Const' in arg ? arg.A_Const : undefined;
    if (defname === 'transaction_isolation')
      modes.isolation = (constant?.sval?.sval ?? 'read committed') as IsolationName;
    if (defname === 'transaction_deferrable') modes.isDeferrable = (constant?.ival?.ival ?? 0) === 1;
    if (defname === 'transaction_read_only') modes.isReadOnly = (constant?.ival?.ival ?? 0) === 1;
  }
  return modes;
}

function setStatement(statement: VariableSetStmt): TransactionStatement | SettingStatement {
  const { kind, name = '', args, is_local: isLocal = false } = statement;
  const command = kind === 'VAR_RESET' || kind === 'VAR_RESET_ALL' ? 'RESET' : 'SET';
  switch (kind) {
    case 'VAR_SET_MULTI': {
      if (name === 'TRANSACTION SNAPSHOT') throw notSupported('SET TRANSACTION SNAPSHOT');
      const scope = name === 'TRANSACTION' ? 'transaction' : 'session';
      return { kind: 'transaction', command, what: 'modes', scope, modes: modesOf(args) };
    }
    case 'VAR_SET_VALUE':
      return { kind: 'setting', command, what: 'set', isLocal, name, value: (args ?? []).map(settingText).join(', ') };
    case 'VAR_SET_DEFAULT':
    case 'VAR_RESET':
      return { kind: 'setting', command, what: 'set', isLocal, name, value: null };
    case 'VAR_RESET_ALL':
      return { kind: 'setting', command, what: 'nothing' };
    default:
      throw notSupported('SET ... FROM CURRENT');
  }
}

function settingText(node: Node): string {
  if ('TypeCast' in node && node.TypeCast.arg !== undefined) return settingText(node.TypeCast.arg);
  if ('A_Const' in node) return constantText(node.A_Const);
  throw new SqlError('22023', 'SET takes constants');
}

function constantText({ sval, ival, fval, boolval }: A_Const): string {
  if (sval !== undefined) return sval.sval ?? '';
  if (fval !== undefined) return fval.fval ?? '';
  if (boolval !== undefined) return String(boolval.boolval === true);
  return String(ival?.ival ?? 0);
}
