/** A run that fails, as a campaign and an exploration report it. */
import type { History } from '../history/index.ts';
import type { OperationTimes } from '../database/index.ts';
import type { FailureKind } from './sql-run.ts';
import type { LoggedStatement } from './statement-log.ts';

/** A run that fails: what each session sent, and how to repeat it. */
export interface SqlFailure {
  readonly kind: FailureKind;
  readonly message: string;
  readonly replay: string;
  readonly statements: readonly LoggedStatement[];
  /** Access paths that are not the likely ones, each as a clause: `accounts read as a whole by: SELECT ...`. */
  readonly plan: readonly string[];
  /** What the run did, without parameters: a replay has to do the same. */
  readonly steps: readonly string[];
  readonly history: History;
  /** When its operations happened, on the clock of the statements. */
  readonly operationTimes: OperationTimes;
  /** Conditions of which the history does not say what they missed. */
  readonly undecided: readonly string[];
  /** What the rows show that were read, written and not found; `null`: no anomaly, or a history too large to be searched. */
  readonly anomaly: string | null;
}
