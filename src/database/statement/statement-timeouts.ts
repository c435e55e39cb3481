/**
 * How long a statement may take by the settings of its session. Where a run must not depend on the machine's clock, a limit that a client has set
 * never expires, and what is taken for granted by that is noted.
 */
import type { TimeoutSetting } from '../dialect/index.ts';
import type { Instance, JobOptions } from '../instance/index.ts';
import type { SessionState } from '../session/index.ts';
import { timeoutMs } from '../settings/index.ts';
import { interruptCheck } from './statement-limits.ts';

interface StatementTimeouts {
  /** Milliseconds that it may wait for one lock. Infinity: any. */
  readonly lockTimeoutMs: number;
  /** Milliseconds altogether. Infinity: any. */
  readonly timeoutMs: number;
}

/** What the scheduler has to know of a statement. */
export function statementLimits(instance: Instance, session: SessionState, isRead: boolean): JobOptions {
  const { lockTimeoutMs, timeoutMs: limitMs } = statementTimeouts(instance, session, isRead);
  return {
    lockTimeoutMs,
    timeoutMs: limitMs,
    lockTimeoutError: () => instance.rules.lockTimeout(),
    timeoutError: () => instance.rules.statementTimeout(),
  };
}

/** To be called for every row that the statement looks at. @throws SqlError 57014, 53200 */
export function statementCheck(instance: Instance, session: SessionState, isRead: boolean): () => void {
  return interruptCheck(instance.scheduler, {
    computeMs: instance.computeMsMax,
    timeoutMs: statementTimeouts(instance, session, isRead).timeoutMs,
    timeoutError: () => instance.rules.statementTimeout(),
  });
}

function statementTimeouts(instance: Instance, session: SessionState, isRead: boolean): StatementTimeouts {
  const of = ([name, unit, byDefault = '0']: TimeoutSetting): number => {
    const limitMs = timeoutMs(`${session.settings.get(name) ?? byDefault}${unit}`);
    if (instance.takenForGranted === null || limitMs === Infinity) return limitMs;
    const chosen = session.settings.chosen(name);
    if (chosen !== undefined) instance.takenForGranted.add(`no statement takes as long as ${name} = ${chosen}${unit}`);
    return Infinity;
  };
  const { lock, statement, isOfReads } = instance.rules.timeouts;
  return { lockTimeoutMs: of(lock), timeoutMs: isRead || !isOfReads ? of(statement) : Infinity };
}
