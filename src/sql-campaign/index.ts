/** SQL in process: a mock database for the driver that a test suite already has, and campaigns of SQL programs. */
export {
  connectTo,
  openSqlDatabase,
  parseProfile,
  recordedProfile,
  type ConnectToOptions,
  type Profile,
  type SqlDatabase,
  type SqlDatabaseOptions,
  type StatementEvent,
} from '../serve/index.ts';
export { estimateSchedules, type EstimateSchedulesOptions, type ScheduleEstimate } from './estimate-schedules.ts';
export { drawSqlFailures, formatScheduleEstimate, formatSqlExplorations } from './explore-sql-levels.ts';
export {
  exploreSqlPart,
  exploreSqlShared,
  type SharedSqlOptions,
  type SqlJob,
  type SqlPart,
  type SqlPartOptions,
  type SqlPartProgress,
  type SqlThread,
} from './explore-sql-shared.ts';
export { exploreSql } from './explore-sql.ts';
export type { ExploreSqlOptions, SqlProgress } from './explore-sql-options.ts';
export type { ExploreSqlResult, SqlFailureKind } from './explore-sql-result.ts';
export { type ExplorePlansOptions, exploreSqlPlans, type ExploreWays } from './explore-sql-plans.ts';
export { formatSqlExploration, type SqlExplorationText } from './explore-sql-text.ts';
export { conclusionOf } from './run-evidence.ts';
export {
  type AnySqlCheckpoint,
  isCompleteSql,
  type LevelsCheckpoint,
  type OneCheckpoint,
  type PlansCheckpoint,
  requireAlone,
  requireKind,
  requireOne,
  requireSameShapes,
  type Saving,
  type SqlCheckpoint,
} from './sql-checkpoint.ts';
export {
  runSqlCampaign,
  sqlCampaignDefaults,
  type SqlCampaignOptions,
  type SqlCampaignResult,
  type SqlFailure,
} from './sql-campaign.ts';
export { prepareSchema } from './prepare-schema.ts';
export { shapeOfSql } from './run-steps.ts';
export { formatSqlFailure, formatSqlResult, type SqlTextOptions } from './sql-text.ts';
export type { LoggedStatement } from './statement-log.ts';
export { testSqlProgram, type TestSqlOptions } from './test-sql-program.ts';
