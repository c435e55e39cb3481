export { AdvisoryLocks, type AdvisoryLock, type AdvisoryMode } from './advisory-locks.ts';
export { axiomaticProfile } from './axiomatic/profile.ts';
export type {
  BegunTransaction,
  DependsOnWay,
  Engine,
  EngineOptions,
  EngineProfile,
  OperationTimes,
  SnapshotOf,
  UndoneByError,
} from './engine-profile.ts';
export { Footprint, FootprintRecorder } from './footprint.ts';
export { innodbEngine } from './innodb/profile.ts';
export { isolationNamed, isolationNames } from './isolation-name.ts';
export { MustWait, runAfterWaits } from './must-wait.ts';
export { pause } from './pause.ts';
export { postgresEngine } from './postgres/profile.ts';
