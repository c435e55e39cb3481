/**
 * How long a statement may take by the settings of its session. Where a run must not depend on the machine's clock, a limit that a client has set
 * never expires, and what is taken for granted by that is noted.
 */
import type { Dialect } from '../../sql/model/index.ts';
import type { SqlDatabase } from '../database.ts';
import { timeoutMs } from '../settings/settings.ts';
import type { JobOptions } from '../instance/scheduler.ts';
import type { Session } from '../sql-session.ts';
import { interruptCheck } from './statement-limits.ts';

interface StatementTimeouts {
  /** Milliseconds that it may wait for one lock. Infinity: any. */
  readonly lockTimeoutMs: number;
  /** Milliseconds altogether. Infinity: any. */
  readonly timeoutMs: number;
}

/** What the scheduler has to know of a statement. */
export function statementLimits(database: SqlDatabase, session: Session, isRead: boolean): JobOptions {
  const { lockTimeoutMs, timeoutMs: limitMs } = statementTimeouts(database, session, isRead);
  return {
    lockTimeoutMs,
    timeoutMs: limitMs,
    lockTimeoutError: () => database.rules.lockTimeout(),
    timeoutError: () => database.rules.statementTimeout(),
  };
}

/** To be called for every row that the statement looks at. @throws SqlError 57014, 53200 */
export function statementCheck(database: SqlDatabase, session: Session, isRead: boolean): () => void {
  return interruptCheck(database.scheduler, {
    computeMs: database.computeMsMax,
    timeoutMs: statementTimeouts(database, session, isRead).timeoutMs,
    timeoutError: () => database.rules.statementTimeout(),
  });
}

function statementTimeouts(database: SqlDatabase, session: Session, isRead: boolean): StatementTimeouts {
  const of = (name: string, unit: '' | 's', byDefault = '0'): number => {
    const limitMs = timeoutMs(`${session.settings.get(name) ?? byDefault}${unit}`);
    if (database.takenForGranted === null || limitMs === Infinity) return limitMs;
    const chosen = session.settings.chosen(name);
    if (chosen !== undefined) database.takenForGranted.add(`no statement takes as long as ${name} = ${chosen}${unit}`);
    return Infinity;
  };
  const { lock, statement, isOfReads } = timeoutSettings[database.dialect];
  return { lockTimeoutMs: of(...lock), timeoutMs: isRead || !isOfReads ? of(...statement) : Infinity };
}

type TimeoutSetting = readonly [name: string, unit: '' | 's', byDefault?: string];

interface TimeoutSettings {
  readonly lock: TimeoutSetting;
  readonly statement: TimeoutSetting;
  /** Does the one of statements limit only those that read? */
  readonly isOfReads: boolean;
}

const timeoutSettings: Readonly<Record<Dialect, TimeoutSettings>> = {
  postgres: { lock: ['lock_timeout', ''], statement: ['statement_timeout', ''], isOfReads: false },
  mysql: { lock: ['innodb_lock_wait_timeout', 's', '50'], statement: ['max_execution_time', ''], isOfReads: true },
};
