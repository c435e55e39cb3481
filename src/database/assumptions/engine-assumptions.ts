/** What a green verdict takes for granted of a server that may answer otherwise than its profile. */
import type { Dialect } from '../../sql/model/index.ts';
import type { IsolationName } from '../../sql/index.ts';
import type { SqlDatabase } from '../database.ts';
import type { Session } from '../sql-session.ts';

/** A search of InnoDB begins at the end of the page before, where its first row begins a page, and locks the gap there (`row_search_mvcc`). */
export function assumePages({ takenForGranted }: SqlDatabase): () => void {
  return () => {
    takenForGranted?.add('no page of an InnoDB index begins with a locked row before which another session inserts');
  };
}

/** PostgreSQL manual, "Serializable Isolation Level": predicate locks on pages, joined where there are many. */
const refusals: Readonly<Record<Dialect, string | null>> = {
  postgres: 'PostgreSQL at serializable answers 40001 no more often than moirai, although it locks whole pages',
  mysql: null,
};

/** @param isolation of a transaction that begins */
export function assumeRefusals({ options }: Session, database: SqlDatabase, isolation: IsolationName): void {
  const { profile, takenForGranted } = database;
  const assumed = refusals[profile.dialect];
  if (profile.family !== 'engine' || isolation !== 'serializable' || options.isSetUp === true) return;
  if (assumed !== null) takenForGranted?.add(assumed);
}
