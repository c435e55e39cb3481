/** What the sessions and transactions of the two servers do differently. Engines, plans and DDL: `sql/model/engine-rules.ts`. */
import type { SqlError, SqlValue } from '../../sql/model/index.ts';

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
  readonly timeouts: TimeoutSettings;
  readonly statementTimeout: () => SqlError;
  readonly lockTimeout: () => SqlError;
  /** Of advisory locks. */
  readonly lockDeadlock: () => SqlError;
  /** What `pg_sleep` and SLEEP return. */
  readonly sleptValue: SqlValue;
}

/** The settings that limit how long a statement takes. */
export interface TimeoutSettings {
  readonly lock: TimeoutSetting;
  readonly statement: TimeoutSetting;
  /** Does the one of statements limit only those that read? */
  readonly isOfReads: boolean;
}

/** `unit`: of a value without one; `''`: milliseconds. */
export type TimeoutSetting = readonly [name: string, unit: '' | 's', byDefault?: string];
