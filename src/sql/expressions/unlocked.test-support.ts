import type { LockFunctions } from '../execution.ts';

/** Every lock is free, and no sleep takes time. */
export const unlocked: LockFunctions = {
  lock: () => undefined,
  tryLock: () => true,
  unlock: () => false,
  unlockAll: () => 0,
  lockWithin: () => true,
  holder: () => null,
  sleep: () => undefined,
};
