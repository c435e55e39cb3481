/** `moirai/sql`: a mock database for the driver that a test suite already has; every schedule of a SQL program, or many runs of it. */
export {
  formatSqlFailure,
  formatSqlResult,
  runSqlCampaign,
  sqlCampaignDefaults,
  testSqlProgram,
  type SqlCampaignOptions,
  type SqlCampaignResult,
  type TestSqlOptions,
} from '../campaign/sql/index.ts';
export {
  openSqlDatabase,
  parseProfile,
  type Profile,
  recordedProfile,
  type SqlDatabase,
  type SqlDatabaseOptions,
  type StatementEvent,
} from '../database/index.ts';
export {
  drawSqlFailures,
  estimateSchedules,
  type EstimateSchedulesOptions,
  exploreSql,
  type ExploreSqlOptions,
  exploreSqlPlans,
  type ExplorePlansOptions,
  type ExploreSqlResult,
  type ExploreWays,
  formatScheduleEstimate,
  formatSqlExploration,
  formatSqlExplorations,
  type ScheduleEstimate,
  type SqlExplorationText,
  type SqlFailureKind,
  type SqlProgress,
} from '../explore/sql/index.ts';
export { connectTo, type ConnectToOptions } from '../serve/index.ts';
export { type LoggedStatement, prepareSchema, type SqlFailure, type SqlTextOptions } from '../sql-program/index.ts';
