export { type AdminCommand, adminCommandOf, parseAdminCommand } from './admin-command.ts';
export { formatChoices, parseChoices, type Replay } from './choices.ts';
export type { ConnectedSession } from './connected-session.ts';
export type { SqlDatabaseOptions } from './database-options.ts';
export type { DatabaseImage } from './image.ts';
export { Instance } from './instance.ts';
export {
  defaultIsolation,
  engineLevels,
  type EngineName,
  forbiddingLevel,
  parseProfile,
  type Profile,
  type ProfileOptions,
  profileText,
  recordedProfile,
} from './profile.ts';
export { SharedPlans } from './plan-cache.ts';
export type { JobOptions, Scheduler, Settle } from './scheduler.ts';
export { settleInProcess, settleWithin } from './settle.ts';
