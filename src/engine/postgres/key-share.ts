/** FOR KEY SHARE of the PostgreSQL profile: it lets updates pass that keep the row's keys. */
import type { LockRequest } from '../../sql/model/index.ts';
import type { Version } from './table.ts';
import type { Writer } from '../versions.ts';

/**
 * FOR KEY SHARE may lock an updated row if its key is the same, and looks at the newer versions for that; when one of those is in the way it
 * waits, NOWAIT and SKIP LOCKED notwithstanding (`heap_lock_updated_tuple` knows nothing of them).
 */
export function waitsAnyway(found: Version, request: LockRequest, reader: Writer): boolean {
  if (request.strength !== 'key share' || request.ifLocked === 'wait') return false;
  let next = found.stored.newest;
  while (next !== null && next.older !== found) next = next.older;
  if (next === null || next.isDeleted) return false;
  return next.writer !== reader && keepsKeys(found, next);
}

/** From one version to a newer one of the row. */
export function keepsKeys(from: Version, to: Version): boolean {
  for (let version: Version | null = to; version !== null && version !== from; version = version.older)
    if (version.changesKey) return false;
  return true;
}
