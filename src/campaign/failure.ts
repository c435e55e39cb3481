/** A failing run with what a person needs to believe it: the history, who read from whom, the anomaly and its cycle, a replay token. */
import type { History, TransactionIndex } from '../history/index.ts';
import { type IsolationLevel, type Violated, weakestViolation } from '../isolation/index.ts';
import type { FinishedRun, ProgramRunner } from './single-run.ts';
import { encodePath } from './token.ts';

export interface Failure {
  /** What the invariant says. */
  readonly message: string;
  readonly history: History;
  /** Shows that the history is at the level that it ran at. */
  readonly commitOrder: readonly TransactionIndex[];
  /** External reads that did not see the newest of the writes that they could have seen. */
  readonly olderReads: number;
  /** Those of them that the history has, as `transaction operation`. */
  readonly olderReadPlaces: ReadonlySet<string>;
  /** The token of this run for `replay`. */
  readonly replay: string;
  /**
   * Why the history is not serializable: the verdict at the weakest level that forbids it. `null` when it is serializable: then the
   * program fails without any anomaly.
   */
  readonly anomaly: { readonly level: IsolationLevel; readonly verdict: Violated } | null;
}

/** @param run the run that `runner` did last */
export function failureOf(runner: ProgramRunner, run: FinishedRun): Failure {
  const { history, commitOrder } = runner.lastHistory();
  const older = run.readChoices.filter(({ position }) => position > 0);
  return {
    message: run.violation ?? '',
    history,
    commitOrder,
    olderReads: older.length,
    olderReadPlaces: runner.placesOf(older),
    replay: encodePath(run.path),
    anomaly: weakestViolation(history, { abortedReads: 'constrained' }),
  };
}
