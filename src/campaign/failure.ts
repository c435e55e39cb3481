/** A failing run with what a person needs to believe it: the history, who read from whom, the anomaly and its cycle, a replay token. */
import type { History, TransactionIndex } from '../history/index.ts';
import { type IsolationLevel, type Violated, weakestViolation } from '../isolation/index.ts';
import { encodePath, type RecordedRun, sealToken, shapeOfKeys, stepsOfHistory } from '../program/index.ts';
import type { FinishedRun, ProgramRunner } from './single-run.ts';

/** A run that fails, reduced, and how to repeat it. */
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
  /** What the run did, without values: a replay has to do the same. */
  readonly steps: readonly string[];
  /**
   * Why the history is not serializable: the verdict at the weakest level that forbids it. `null` when it is serializable: then the
   * program fails without any anomaly.
   */
  readonly anomaly: { readonly level: IsolationLevel; readonly verdict: Violated } | null;
}

/** A failing run before its anomaly was searched for. */
export type FailedRun = Omit<Failure, 'anomaly'>;

/** @param run the run that `runner` did last */
export function failedRunOf(runner: ProgramRunner, run: FinishedRun): FailedRun {
  const { history, commitOrder } = runner.lastHistory();
  const recorded = recordedRun(runner, run);
  const older = run.readChoices.filter(({ position }) => position > 0);
  return {
    message: run.violation ?? '',
    history,
    commitOrder,
    olderReads: older.length,
    olderReadPlaces: runner.placesOf(older),
    replay: sealToken(encodePath(run.path), recorded),
    steps: recorded.steps,
  };
}

export function failureOf(run: FailedRun): Failure {
  return { ...run, anomaly: weakestViolation(run.history, { abortedReads: 'constrained' }) };
}

/**
 * The run that `runner` did last, as a replay compares it. Attempts that ended in a serialization failure are not in the history: the turns
 * count them.
 */
export function recordedRun(runner: ProgramRunner, { schedule }: FinishedRun): RecordedRun {
  const { history } = runner.lastHistory();
  const turns = history.sessions.map((name, session) => {
    const count = schedule.filter((each) => each === session).length;
    return `session "${name}" has run ${count === 1 ? '1 transaction' : `${count} transactions`}, retries included`;
  });
  return { shape: shapeOfKeys(history, runner.level), steps: [...stepsOfHistory(history), ...turns] };
}
