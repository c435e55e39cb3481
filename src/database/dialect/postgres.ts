import { SqlError } from '../../sql/model/index.ts';
import type { SessionRules } from './session-rules.ts';

export const postgresSessions: SessionRules = {
  version: 'PostgreSQL 15.18 (moirai) on x86_64-pc-linux-gnu, 64-bit',
  usesDatabases: false,
  databaseName: 'postgres',
  beginCommits: false,
  hasAutocommit: false,
  modesOfOpen: true,
  rollsBackSettings: true,
  checksSettings: true,
  warns: true,
  savepointsNeedTransaction: true,
  replacesSameName: false,
  keyOf: (name) => name,
  noSavepoint: (name) => new SqlError('3B001', `savepoint "${name}" does not exist`),
  noStatement: (name) => new SqlError('26000', `prepared statement "${name}" does not exist`),
  readOnlyTransaction: (command) => new SqlError('25006', `cannot execute ${command} in a read-only transaction`),
  timeouts: { lock: ['lock_timeout', ''], statement: ['statement_timeout', ''], isOfReads: false },
  statementTimeout: () => new SqlError('57014', 'canceling statement due to statement timeout'),
  lockTimeout: () => new SqlError('55P03', 'canceling statement due to lock timeout'),
  lockDeadlock: () => new SqlError('40P01', 'deadlock detected', { hint: 'See server log for query details.' }),
  sleptValue: '',
};
