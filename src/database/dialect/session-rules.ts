/** What the sessions and transactions of the two servers do differently. Engines, plans and DDL: `engineRules` of `sql/model/dialect.ts`. */
import { type Dialect, SqlError } from '../../sql/model/index.ts';

export interface SessionRules {
  /** What `version()` returns. */
  readonly version: string;
  /** A session is in one of several databases, which USE changes. */
  readonly usesDatabases: boolean;
  /** The database that is there from the start. */
  readonly databaseName: string;
  /** BEGIN commits the open transaction. Otherwise it has no effect there. */
  readonly beginCommits: boolean;
  /** SET autocommit: statements without BEGIN open a transaction that lasts. */
  readonly hasAutocommit: boolean;
  /** SET TRANSACTION and the settings `transaction_...` are of the open transaction. Otherwise of the next one, and of the session. */
  readonly modesOfOpen: boolean;
  /** SET is rolled back with its transaction or savepoint, and so is CREATE TEMPORARY TABLE. */
  readonly rollsBackSettings: boolean;
  /** Settings have to exist and their values are checked. */
  readonly checksSettings: boolean;
  /** Transaction control without an effect is answered with a warning. */
  readonly warns: boolean;
  /** Statements of savepoints are errors outside a transaction. */
  readonly savepointsNeedTransaction: boolean;
  /** SAVEPOINT removes an older one of its name, PREPARE replaces a statement. Otherwise a savepoint hides the older one, and PREPARE is an error. */
  readonly replacesSameName: boolean;
  /** Names of savepoints and prepared statements are the same when their keys are. */
  readonly keyOf: (name: string) => string;
  readonly noSavepoint: (name: string) => SqlError;
  readonly noStatement: (name: string, command: 'EXECUTE' | 'DEALLOCATE PREPARE') => SqlError;
  readonly readOnlyTransaction: (command: string) => SqlError;
  readonly statementTimeout: () => SqlError;
  readonly lockTimeout: () => SqlError;
}

export const sessionRules: Readonly<Record<Dialect, SessionRules>> = {
  postgres: {
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
    statementTimeout: () => new SqlError('57014', 'canceling statement due to statement timeout'),
    lockTimeout: () => new SqlError('55P03', 'canceling statement due to lock timeout'),
  },
  mysql: {
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
    statementTimeout: () =>
      new SqlError('HY000', 'Query execution was interrupted, maximum statement execution time exceeded', {
        mysqlNumber: 3024,
      }),
    lockTimeout: () =>
      new SqlError('55P03', 'Lock wait timeout exceeded; try restarting transaction', { mysqlNumber: 1205 }),
  },
};
