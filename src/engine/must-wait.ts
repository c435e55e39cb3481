/**
 * A statement that has to wait in the middle of an expression or a scan, where nothing can wait: it stops, waits, and runs again from the same snapshot.
 * What it has written is undone by the step that runs it again, so others see it as it would stand on a server meanwhile.
 */
import { type Execution, StatementCalls } from '../sql/index.ts';
import type { SqlValue, StatementView, Wait, Waiting } from '../sql/model/index.ts';

/** Thrown through the executor, never to a user. */
export class MustWait extends Error {
  readonly work: Waiting<SqlValue | undefined>;
  /** Is what the statement has written undone before it waits, or after? */
  readonly undo: 'before' | 'after';

  /** @param work ends with the result of the call that waits; `undefined`: no call does */
  constructor(work: Waiting<SqlValue | undefined>, undo: 'before' | 'after') {
    super('a statement waits in the middle of an expression');
    this.work = work;
    this.undo = undo;
  }
}

/** Runs `run`, again after each wait. */
export function* runAfterWaits<T>(
  view: StatementView,
  execution: Execution,
  run: (execution: Execution) => Waiting<T>,
): Waiting<T> {
  const { parameters, surroundings, budget, onOpenRows } = execution;
  const calls = new StatementCalls();
  const remembering = { parameters, surroundings, calls, budget, onOpenRows };
  for (;;) {
    try {
      return yield* run(remembering);
    } catch (error) {
      if (!(error instanceof MustWait)) throw error;
      if (error.undo === 'before') view.undo();
      const result = yield* error.work;
      if (error.undo === 'after') view.undo();
      if (result !== undefined) calls.answer(result);
      calls.restart();
    }
  }
}

/** The rest of what has begun to wait. @param begun what an interruption has to reach */
export function* continuing(
  first: Wait,
  rest: Waiting<void>,
  begun: Generator<Wait, unknown, void>,
): Waiting<undefined> {
  try {
    yield first;
    yield* rest;
  } catch (error) {
    begun.throw(error);
    throw error;
  }
  return undefined;
}
