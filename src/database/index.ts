export { type AdminCommand, adminCommandOf, parseAdminCommand } from './instance/admin-command.ts';
export {
  accessKey,
  type AssumedAccess,
  assumedClauses,
  mergedAccesses,
  unlikelyClauses,
  type Ways,
} from './assumptions/assumed-accesses.ts';
export { mergedUnsupported } from './assumptions/unsupported-statements.ts';
export { formatChoices, parseChoices, type Replay } from './instance/choices.ts';
export { openSqlDatabase, SqlDatabase, type SqlDatabaseOptions } from './database.ts';
export {
  defaultIsolation,
  engineLevels,
  parseProfile,
  type Profile,
  type ProfileOptions,
  profileText,
  recordedProfile,
} from './instance/profile.ts';
export type { Settle } from './instance/scheduler.ts';
export { usedDatabase } from './statement/used-database.ts';
export { settleInProcess, settleWithin } from './instance/settle.ts';
export type { Session } from './sql-session.ts';
export { isolationNamed, isolationNames, type SnapshotOf } from '../engine/index.ts';
export type { AnswerTo, StatementEvent } from './session/statement-event.ts';
export { administer } from './administer.ts';
export { postgresDefaults } from './settings/settings.ts';
