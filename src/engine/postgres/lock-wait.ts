/** Waiting for the transactions that hold a lock, and the deadlocks that a wait closes: `ProcSleep` (proc.c), `DeadLockCheck` (deadlock.c). */
import { SqlError, type Wait, type Waiting } from '../../sql/model/index.ts';
import { waitName } from '../footprint.ts';
import * as footprints from './footprint.ts';
import type { PostgresStorage } from './storage.ts';

/** A transaction that may wait. */
export interface Waiter {
  readonly id: number;
  readonly session: number;
  readonly storage: PostgresStorage;
  readonly keepsSnapshot: boolean;
}

/**
 * Waits until no transaction blocks this one. @throws SqlError 40P01 when that would be for ever: who closes the cycle is the victim, or, where any may
 * be, who of those on it is resumed first.
 * @param touch tells the footprint what `blockers` looks at
 */
export function* waitForBlockers(
  waiter: Waiter,
  blockers: () => readonly number[],
  reason: string,
  touch: () => void,
): Waiting<void> {
  const { id, session, storage } = waiter;
  const { waitsFor, anyVictim } = storage;
  const isStuck = (): boolean => findDeadlock(waiter, false).length > 0;
  try {
    for (let ids = blockers(); ids.length > 0; ids = blockers()) {
      touch();
      footprints.recordWait(waiter);
      waitsFor.begin(id, blockers, touch);
      // One that waits for the next of several holders looks for a deadlock again.
      const isLate = (now: readonly number[]): boolean => now[0] !== ids[0] && isStuck();
      const isReady = (): boolean => {
        const now = blockers();
        return now.length === 0 || (anyVictim ? isStuck() : isLate(now));
      };
      const wait: Wait = { blockers: ids, reason, isReady };
      if (anyVictim) yield wait;
      const cycle = findDeadlock(waiter, true);
      if (cycle.length > 0) throw deadlockError(cycle);
      if (!anyVictim && blockers().length > 0) yield wait;
    }
  } finally {
    if (waitsFor.end(id)) storage.footprint?.touch(waitName(session), 'change');
    touch();
  }
}

/** The cycle of waits through this transaction that no change of a queue opens; empty when there is none. */
function findDeadlock({ id, storage }: Waiter, isLooking: boolean): readonly number[] {
  const { waitsFor, heavyweight } = storage;
  const onLook = isLooking ? (other: number): void => footprints.recordWaitRead(storage, other) : undefined;
  const cycle = waitsFor.cycleThrough(id, onLook);
  for (const [i, waiter] of cycle.entries()) {
    const goBack = heavyweight.overtake(waiter, cycle[(i + 1) % cycle.length] ?? waiter);
    if (goBack === null) continue;
    if (cycle.every((each) => waitsFor.cycleThrough(each).length === 0)) return [];
    goBack();
  }
  return cycle;
}

/** @param cycle of transactions: each waits for the next */
export function deadlockError(cycle: readonly number[]): SqlError {
  const lines = cycle.map((id, i) => `Transaction ${id} waits for transaction ${cycle[(i + 1) % cycle.length]}.`);
  return new SqlError('40P01', 'deadlock detected', {
    detail: lines.join('\n'),
    hint: 'See server log for query details.',
  });
}
