/**
 * Limits of one statement: the time that its session's settings give it, what it may compute, memory and stack. Statements run one at a time; other
 * clients and cancel requests wait. So a statement that would never end is stopped by time, and before its rows fill the memory of the process. Where a
 * run must not depend on the machine's clock, a limit that a client has set never expires, and what is taken for granted by that is noted.
 */
import type { TimeoutSetting } from '../dialect/index.ts';
import type { Instance, JobOptions } from '../instance/index.ts';
import type { SessionState } from '../session/index.ts';
import { type Settings, timeoutMs as millisecondsOf } from '../settings/index.ts';

/** What the scheduler has to know of a statement. */
export function statementLimits(instance: Instance, { settings }: SessionState, isRead: boolean): JobOptions {
  const { lockTimeout, statementTimeout, timeouts } = instance.rules;
  return {
    lockTimeoutMs: limitMs(timeouts.lock, instance, settings),
    timeoutMs: statementTimeoutMs(instance, settings, isRead),
    lockTimeoutError: lockTimeout,
    timeoutError: statementTimeout,
  };
}

/** Milliseconds altogether. Infinity: any. */
export function statementTimeoutMs(instance: Instance, settings: Settings, isRead: boolean): number {
  const { statement, isOfReads } = instance.rules.timeouts;
  return isRead || !isOfReads ? limitMs(statement, instance, settings) : Infinity;
}

function limitMs(
  [name, unit, byDefault = '0']: TimeoutSetting,
  { takenForGranted }: Instance,
  settings: Settings,
): number {
  const ms = millisecondsOf(`${settings.get(name) ?? byDefault}${unit}`);
  if (takenForGranted === null || ms === Infinity) return ms;
  const chosen = settings.chosen(name);
  if (chosen !== undefined) takenForGranted.add(`no statement takes as long as ${name} = ${chosen}${unit}`);
  return Infinity;
}
