import { SqlError } from '../../sql/model/index.ts';
import type { SessionRules } from './session-rules.ts';

export const mysqlSessions: SessionRules = {
  version: '8.0.36-moirai',
  usesDatabases: true,
  databaseName: 'test',
  beginCommits: true,
  hasAutocommit: true,
  modesOfOpen: false,
  rollsBackSettings: false,
  checksSettings: false,
  warns: false,
  savepointsNeedTransaction: false,
  replacesSameName: true,
  keyOf: (name) => name.toLowerCase(),
  noSavepoint: (name) => new SqlError('42000', `SAVEPOINT ${name} does not exist`, { mysqlNumber: 1305 }),
  noStatement: (name, command) =>
    new SqlError('HY000', `Unknown prepared statement handler (${name}) given to ${command}`, { mysqlNumber: 1243 }),
  readOnlyTransaction: () =>
    new SqlError('25006', 'Cannot execute statement in a READ ONLY transaction', { mysqlNumber: 1792 }),
  timeouts: {
    lock: ['innodb_lock_wait_timeout', 's', '50'],
    statement: ['max_execution_time', ''],
    isOfReads: true,
  },
  statementTimeout: () =>
    new SqlError('HY000', 'Query execution was interrupted, maximum statement execution time exceeded', {
      mysqlNumber: 3024,
    }),
  lockTimeout: () =>
    new SqlError('55P03', 'Lock wait timeout exceeded; try restarting transaction', { mysqlNumber: 1205 }),
  // The transaction stays open.
  lockDeadlock: () =>
    new SqlError(
      'HY000',
      'Deadlock found when trying to get user-level lock; try rolling back transaction/releasing locks and restarting lock acquisition.',
      { mysqlNumber: 3058 },
    ),
  sleptValue: 0n,
};
