export { type AdminCommand, adminCommandOf } from './admin-command.ts';
export { formatChoices, parseChoices, type Replay } from './choices.ts';
export { Footprint, FootprintRecorder } from '../engine/index.ts';
export { connectTo, type ConnectToOptions, startConversation } from './connect.ts';
export { openSqlDatabase, SqlDatabase, type SqlDatabaseOptions } from './database.ts';
export { httpInterface } from './http-interface.ts';
export { listen, type Listener, type ListenOptions } from './listener.ts';
export {
  defaultIsolation,
  engineLevels,
  isolationNames,
  parseProfile,
  type Profile,
  type ProfileOptions,
  profileText,
  recordedProfile,
} from './profile.ts';
export type { Settle } from './scheduler.ts';
export type { Session } from './sql-session.ts';
export type { AnswerTo, SnapshotOf, StatementEvent } from './statement-event.ts';
export {
  accessKey,
  type AssumedAccess,
  assumedClauses,
  mergedAccesses,
  unlikelyClauses,
  type Ways,
} from './assumed-accesses.ts';
export { mergedUnsupported } from './unsupported-statements.ts';
export { settleInProcess, settleWithin } from './settle.ts';
