export { type AdminCommand, adminCommandOf } from './admin-command.ts';
export { formatChoices, parseChoices, type Replay } from './choices.ts';
export { connectTo, type ConnectToOptions, startConversation } from './connect.ts';
export { openSqlDatabase, settleInProcess, settleWithin, SqlDatabase, type SqlDatabaseOptions } from './database.ts';
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
} from './profile.ts';
export type { StatementEvent } from './statement-event.ts';
