/** What `pg_stat_activity` shows of the sessions, and the functions that end what they run (PostgreSQL manual, 9.27.2). */
import { notSupported, SqlError } from '../../sql/model/index.ts';
import type { SessionActivity } from '../../sql/index.ts';
import { pause } from '../../engine/index.ts';
import type { SqlDatabase } from '../database.ts';
import type { Session } from '../sql-session.ts';

/** As a session reads it: in a transaction what it read first (`stats_fetch_consistency` is `cache`), but for what each waits for now. */
export function activityIn(session: Session, database: SqlDatabase): () => readonly SessionActivity[] {
  let known: { readonly transaction: number; readonly rows: readonly SessionActivity[] } | null = null;
  return () => {
    const transaction = session.transactionNumber;
    if (known?.transaction !== transaction) known = { transaction, rows: activityOf(database) };
    const { rows } = known;
    const now = new Map(activityOf(database).map((row) => [row.pid, row]));
    return rows.map((row) => ({ ...row, waitEventType: now.get(row.pid)?.waitEventType ?? null }));
  };
}

/** @throws SqlError 0A000 in a run that is repeated: what other sessions do at a moment is the machine's timing */
function activityOf(database: SqlDatabase): SessionActivity[] {
  refuseInRuns(database, 'the table pg_stat_activity');
  const waits = new Map(database.scheduler.waiting().map(({ session, wait }) => [session, wait]));
  return database.sessions.map((session): SessionActivity => {
    const wait = waits.get(session.id) ?? null;
    const isActive = session.watch.statement !== null;
    const waitsFor = wait === null || wait === pause ? null : wait.limit === undefined ? 'Lock' : 'Timeout';
    return {
      pid: session.id,
      user: session.options.user,
      database: session.database,
      applicationName: session.settings.get('application_name') ?? '',
      state: isActive ? 'active' : stateNames[session.transactionStatus],
      waitEventType: isActive ? waitsFor : 'Client',
      query: session.watch.latest,
      backendStart: session.startTime,
      transactionStart: session.transactionStatus === 'idle' ? null : session.transactionTime,
      queryStart: session.watch.latest === '' ? null : session.statementTime,
    };
  });
}

const stateNames = { idle: 'idle', open: 'idle in transaction', failed: 'idle in transaction (aborted)' } as const;

/**
 * `pg_cancel_backend`, `pg_terminate_backend`. @returns is there such a session?
 * @throws SqlError 57014, 57P01 the session is this one; 0A000 in a run that is repeated
 */
export function signal(what: 'cancel' | 'terminate', pid: number, from: Session, database: SqlDatabase): boolean {
  refuseInRuns(database, `pg_${what}_backend`);
  const session = database.session(pid);
  if (session === undefined) {
    const message = `PID ${pid} is not a PostgreSQL server process`;
    from.watch.notices.push({ severity: 'WARNING', code: '01000', message });
    return false;
  }
  if (session === from) throw what === 'cancel' ? canceled() : terminated();
  if (what === 'cancel') session.cancel();
  else session.terminate();
  return true;
}

export function canceled(): SqlError {
  return new SqlError('57014', 'canceling statement due to user request', { mysqlNumber: 1317 });
}

export function terminated(): SqlError {
  return new SqlError('57P01', 'terminating connection due to administrator command');
}

function refuseInRuns({ takenForGranted }: SqlDatabase, name: string): void {
  if (takenForGranted !== null) throw notSupported(`${name} in a program that is tested`);
}
