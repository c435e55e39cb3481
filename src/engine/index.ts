export type { ObservedVersion, StorageObserver } from './observer.ts';
export { postgresStorage, type PostgresStorageOptions } from './postgres-storage.ts';
