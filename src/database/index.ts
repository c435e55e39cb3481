export {
  accessKey,
  type AssumedAccess,
  assumedClauses,
  mergedAccesses,
  mergedUnsupported,
  unlikelyClauses,
  type Ways,
} from './assumptions/index.ts';
export { openSqlDatabase, SqlDatabase } from './database.ts';
export {
  type AdminCommand,
  adminCommandOf,
  type DatabaseImage,
  defaultIsolation,
  engineLevels,
  type EngineName,
  forbiddingLevel,
  formatChoices,
  parseAdminCommand,
  parseChoices,
  parseProfile,
  type Profile,
  type ProfileOptions,
  profileText,
  recordedProfile,
  type Replay,
  type Settle,
  SharedPlans,
  settleInProcess,
  settleWithin,
  type SqlDatabaseOptions,
} from './instance/index.ts';
export { type AnswerTo, shownRows, type StatementEvent } from './session/index.ts';
export { postgresDefaults } from './settings/index.ts';
export type { Session } from './sql-session.ts';
export { usedDatabase } from './statement/index.ts';
export { isolationNamed, isolationNames, type OperationTimes, type SnapshotOf } from '../engine/index.ts';
