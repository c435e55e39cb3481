/** What `pg_stat_activity` shows of the sessions, and the functions that end what they run (PostgreSQL manual, 9.27.2). */
import { notSupported, SqlError } from '../../sql/model/index.ts';
import type { SessionActivity } from '../../sql/index.ts';
import { pause } from '../../engine/index.ts';
import type { Instance } from '../instance/index.ts';
import type { SessionState } from './session-state.ts';
import type { SessionTransaction } from './session-transaction.ts';

/** As a session reads it: in a transaction what it read first (`stats_fetch_consistency` is `cache`), but for what each waits for now. */
export function activityIn(own: SessionTransaction, instance: Instance): () => readonly SessionActivity[] {
  let known: { readonly transaction: number; readonly rows: readonly SessionActivity[] } | null = null;
  return () => {
    const transaction = own.number;
    if (known?.transaction !== transaction) known = { transaction, rows: activityOf(instance) };
    const { rows } = known;
    const now = new Map(activityOf(instance).map((row) => [row.pid, row]));
    return rows.map((row) => ({ ...row, waitEventType: now.get(row.pid)?.waitEventType ?? null }));
  };
}

/** @throws SqlError 0A000 in a run that is repeated: what other sessions do at a moment is the machine's timing */
function activityOf(instance: Instance): SessionActivity[] {
  refuseInRuns(instance, 'the table pg_stat_activity');
  const waits = new Map(instance.scheduler.waiting().map(({ session, wait }) => [session, wait]));
  return [...instance.sessions.values()].map((session): SessionActivity => {
    const wait = waits.get(session.id) ?? null;
    const waitsFor = wait === null || wait === pause ? null : wait.limit === undefined ? 'Lock' : 'Timeout';
    const activity = session.activity();
    return activity.state === 'active' ? { ...activity, waitEventType: waitsFor } : activity;
  });
}

/** A row of it; what a running statement waits for is known to the scheduler. */
export function activityOfSession(state: SessionState, transaction: SessionTransaction): SessionActivity {
  const { watch } = state;
  const isActive = watch.statement !== null;
  return {
    pid: state.id,
    user: state.options.user,
    database: state.database,
    applicationName: state.settings.get('application_name') ?? '',
    state: isActive ? 'active' : stateNames[transaction.status],
    waitEventType: isActive ? null : 'Client',
    query: watch.latest,
    backendStart: state.startTime,
    transactionStart: transaction.status === 'idle' ? null : transaction.time,
    queryStart: watch.latest === '' ? null : state.statementTime,
  };
}

const stateNames = { idle: 'idle', open: 'idle in transaction', failed: 'idle in transaction (aborted)' } as const;

/**
 * `pg_cancel_backend`, `pg_terminate_backend`. @returns is there such a session?
 * @throws SqlError 57014, 57P01 the session is this one; 0A000 in a run that is repeated
 */
export function signal(what: 'cancel' | 'terminate', pid: number, from: SessionState, instance: Instance): boolean {
  refuseInRuns(instance, `pg_${what}_backend`);
  const session = instance.sessions.get(pid);
  if (session === undefined) {
    const message = `PID ${pid} is not a PostgreSQL server process`;
    from.watch.notices.push({ severity: 'WARNING', code: '01000', message });
    return false;
  }
  if (pid === from.id) throw what === 'cancel' ? canceled() : terminated();
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

function refuseInRuns({ takenForGranted }: Instance, name: string): void {
  if (takenForGranted !== null) throw notSupported(`${name} in a program that is tested`);
}
