/** Every schedule of a SQL program, each behaviour once. */
export { estimateSchedules, type EstimateSchedulesOptions, type ScheduleEstimate } from './estimate-schedules.ts';
export { drawSqlFailures, formatScheduleEstimate, formatSqlExplorations } from './explore-sql-levels.ts';
export {
  exploreSqlPart,
  exploreSqlShared,
  sqlPartOptions,
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
export { type LevelCheckpoint, LevelsSaving } from './levels-saving.ts';
export { type ExplorePlansOptions, exploreSqlPlans, type ExploreWays } from './explore-sql-plans.ts';
export { formatSqlExploration, type SqlExplorationText } from './explore-sql-text.ts';
export {
  type AnySqlCheckpoint,
  type OneCheckpoint,
  type PlansCheckpoint,
  requireAlone,
  requireKind,
  requireOne,
  type Saving,
  type SqlCheckpoint,
} from './sql-checkpoint.ts';
