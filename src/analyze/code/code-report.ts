/** What the application's own code did beside what its source was read as. */
import type { Place } from '../application.ts';
import type { AnomalyKind } from '../witness-definition.ts';
import type { Difference } from './compare-statements.ts';

/** Of the units that were called, and of the anomalies that were explored by calling them. */
export interface CodeReport {
  readonly units: readonly UnitRun[];
  /** One for each anomaly, those of units last. */
  readonly anomalies: readonly AnomalyRun[];
}

/** A unit that ran alone, or the reason why it did not. */
export interface UnitRun {
  readonly name: string;
  readonly place: Place;
  /** Why it did not run, as a clause; `null`: it did. */
  readonly reason: string | null;
  readonly differences: readonly Difference[];
}

/** What exploring an anomaly by the application's own functions came to. */
export type AnomalyRun =
  | {
      readonly kind: 'confirmed';
      readonly anomaly: AnomalyKind;
      readonly schedules: number;
      readonly violations: number;
    }
  /** Each schedule that ran has the effect of a serial order. */
  | { readonly kind: 'not shown'; readonly schedules: number; readonly isComplete: boolean }
  | { readonly kind: 'not run'; readonly reason: string };

/** A clause: `src/pay.ts:12 the source has SELECT ..., the run sent UPDATE ...` */
export function differenceText({ place, source, reason, sent }: Difference): string {
  const said =
    reason !== null
      ? `the source is not understood (${reason})`
      : source === null
        ? 'the source has no other statement'
        : `the source has ${oneLine(source)}`;
  return `${place.file}:${place.line} ${said}, the run sent ${sent === null ? 'nothing' : oneLine(sent)}`;
}

function oneLine(sql: string): string {
  return sql.replaceAll(/\s+/g, ' ').trim();
}
