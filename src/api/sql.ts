/** SQL in process: a mock database for the driver that a test suite already has; every schedule of a SQL program, or many runs of it. */
export * from '../campaign/sql/index.ts';
export {
  openSqlDatabase,
  parseProfile,
  type Profile,
  recordedProfile,
  type SqlDatabase,
  type SqlDatabaseOptions,
  type StatementEvent,
} from '../database/index.ts';
export * from '../explore/sql/index.ts';
export { connectTo, type ConnectToOptions } from '../serve/index.ts';
export * from '../sql-program/index.ts';
