/** Every schedule of a SQL program, each behaviour once. */
export { estimateSchedules, type EstimateSchedulesOptions } from './estimate-schedules.ts';
export type { ScheduleEstimate } from './explore-sql-result.ts';
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
export { sqlExplorationReport } from './explore-sql-report.ts';
export { exploreRemedies, type TriedRemedy } from './explore-remedies.ts';
export { exploreSql } from './explore-sql.ts';
export { formatRemedies, remediesTable } from './remedies-report.ts';
export type { Remedy } from './remedies.ts';
export type { ExploreSqlOptions, SqlProgress } from './explore-sql-options.ts';
export type { ExploreSqlResult, SqlFailureKind } from './explore-sql-result.ts';
export { type ExploreProfileOptions, exploreSqlProfile } from './explore-sql-profile.ts';
export { type LevelCheckpoint, LevelsSaving } from './levels-saving.ts';
export { ScheduleTree } from './schedule-tree.ts';
export { type KnownTables, TextFootprints } from './text-footprints.ts';
export { formatSqlExploration, type SqlExplorationText } from './explore-sql-text.ts';
export {
  type AnySqlCheckpoint,
  type Saving,
  type SqlCheckpoint,
} from './sql-checkpoint.ts';
