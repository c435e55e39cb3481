export { AdvisoryLocks, type AdvisoryLock, type AdvisoryMode } from './advisory-locks.ts';
export { axiomaticStorage, type AxiomaticStorage, type AxiomaticStorageOptions } from './axiomatic/storage.ts';
export { Footprint, FootprintRecorder } from './footprint.ts';
export { innodbStorage, type InnodbStorageOptions } from './innodb/storage.ts';
export type { ObservedScan, ObservedVersion, StorageObserver } from './observer.ts';
export { postgresStorage, type PostgresStorageOptions } from './postgres/storage.ts';
