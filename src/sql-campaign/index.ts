/** SQL in process: a mock database for the driver that a test suite already has, and campaigns of SQL programs. */
export {
  connectTo,
  openSqlDatabase,
  parseProfile,
  type ConnectToOptions,
  type Profile,
  type SqlDatabase,
  type SqlDatabaseOptions,
  type StatementEvent,
} from '../serve/index.ts';
export {
  exploreSql,
  type ExploreSqlOptions,
  type ExploreSqlResult,
  type SqlFailureKind,
  type SqlProgress,
} from './explore-sql.ts';
export { formatSqlExploration, type SqlExplorationText } from './explore-sql-text.ts';
export {
  runSqlCampaign,
  sqlCampaignDefaults,
  type SqlCampaignOptions,
  type SqlCampaignResult,
  type SqlFailure,
} from './sql-campaign.ts';
export { formatSqlFailure, formatSqlResult, type SqlTextOptions } from './sql-text.ts';
export type { LoggedStatement } from './statement-log.ts';
export { testSqlProgram, type TestSqlOptions } from './test-sql-program.ts';
