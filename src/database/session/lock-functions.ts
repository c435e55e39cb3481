/** Functions that take locks by a key, or wait: what they mean for one session. */
import { type AdvisoryLock, type AdvisoryLocks, type AdvisoryMode, MustWait, pause } from '../../engine/index.ts';
import type { SqlValue, StorageTransaction, Waiting } from '../../sql/model/index.ts';
import type { LockFunctions, Notice } from '../../sql/index.ts';
import type { SessionRules } from '../dialect/index.ts';

export interface LockFunctionsOptions {
  readonly session: number;
  readonly rules: SessionRules;
  readonly locks: () => AdvisoryLocks;
  /** The transaction of the statement under way. */
  readonly transaction: () => StorageTransaction;
  readonly notice: (notice: Notice) => void;
  /** Called when the statement under way keeps its snapshot while others run. */
  readonly keepsSnapshot: () => void;
  /** Where a run must not depend on the machine's clock: what is taken for granted by that is added here. */
  readonly takenForGranted: Set<string> | null;
}

export function lockFunctions(options: LockFunctionsOptions): LockFunctions {
  const { session, rules, locks, notice, takenForGranted } = options;
  const take = (lock: AdvisoryLock, limitMs: number | null, answer: (isTaken: boolean) => SqlValue): void => {
    const wait = { session, transaction: options.transaction(), deadlock: rules.lockDeadlock, limitMs };
    throw new MustWait(answered(locks().lock(lock, wait), answer), 'after');
  };
  return {
    lock: (key, mode, owner) => {
      const lock = { key, mode, owner };
      if (!locks().tryLock(session, lock)) take(lock, null, () => '');
    },
    tryLock: (key, mode, owner) => locks().tryLock(session, { key, mode, owner }),
    unlock: (key, mode) => {
      const isHeld = locks().unlock(session, key, mode);
      if (!isHeld && rules.warns) notice(notHeld(mode));
      return isHeld;
    },
    unlockAll: () => locks().unlockAll(session),
    lockWithin: (key, limitMs) => {
      const lock = { key, mode: 'exclusive', owner: 'session' } as const;
      if (locks().tryLock(session, lock)) return true;
      if (limitMs === 0) return false;
      if (limitMs !== Infinity)
        takenForGranted?.add('no GET_LOCK waits as long as its limit while other statements can go on');
      take(lock, limitMs, (isTaken) => (isTaken ? 1n : 0n));
      return true;
    },
    holder: (key) => locks().holder(key),
    sleep: (ms) => {
      takenForGranted?.add('a sleep in SQL may take any time');
      options.keepsSnapshot();
      throw new MustWait(sleeping(takenForGranted === null ? ms : null, rules), 'after');
    },
  };
}

function* answered(taking: Waiting<boolean>, answer: (isTaken: boolean) => SqlValue): Waiting<SqlValue> {
  return answer(yield* taking);
}

/** @param ms `null`: as long as others take */
function* sleeping(ms: number | null, rules: SessionRules): Waiting<SqlValue> {
  const state = { isOver: false };
  const reached = (): void => void (state.isOver = true);
  if (ms === null) yield pause;
  else
    while (!state.isOver)
      yield { blockers: [], reason: 'the end of a sleep', isReady: () => state.isOver, limit: { ms, reached } };
  return rules.sleptValue;
}

function notHeld(mode: AdvisoryMode): Notice {
  const name = mode === 'share' ? 'ShareLock' : 'ExclusiveLock';
  return { severity: 'WARNING', code: '01000', message: `you don't own a lock of type ${name}` };
}
