/**
 * A session that ends with an error, and an invariant that throws one of its own code, are findings when weak reads led there. Where it happens also when
 * the sessions run one after another and read what was written last, the program is wrong by itself, and no level will help it.
 */
import { InputError } from '../base/index.ts';
import { type Decisions, serial } from '../mockdb/index.ts';
import { errorText, inEveryOrder, invariantThrew, type SerialOutcome } from '../program/index.ts';
import type { FinishedRun, SingleRun } from './single-run.ts';

type Fault = 'session' | 'invariant';

export class SerialCheck {
  readonly #sessions: number;
  readonly #run: (decisions: () => Decisions) => Promise<SingleRun>;
  readonly #isOver: () => boolean;
  readonly #isFine = new Set<Fault>();

  /** @param run on a database of its own: the last run of the other is still to be explained. @param isOver is there no time left? */
  constructor(sessions: number, run: (decisions: () => Decisions) => Promise<SingleRun>, isOver: () => boolean) {
    this.#sessions = sessions;
    this.#run = run;
    this.#isOver = isOver;
  }

  /**
   * @returns false where there was no time left for it
   * @throws InputError `program/session-threw`, `program/invariant-threw`
   */
  async require({ threwOutside, mistake }: FinishedRun): Promise<boolean> {
    if (threwOutside !== null && !(await this.#require('session', sessionThrew))) return false;
    return mistake === null || (await this.#require('invariant', ({ mistake: each }) => each && invariantThrew(each)));
  }

  async #require(fault: Fault, faultOf: (run: FinishedRun) => InputError | null): Promise<boolean> {
    if (this.#isFine.has(fault)) return true;
    const outcome = await inEveryOrder(this.#sessions, async (order): Promise<SerialOutcome<InputError>> => {
      const run = await this.#run(() => serial(order));
      if (run.kind === 'timeout' && this.#isOver()) return { kind: 'late' };
      const failure = run.kind === 'finished' ? faultOf(run) : null;
      return failure === null ? { kind: 'fine' } : { kind: 'fails', failure };
    });
    if (outcome.kind === 'fails') throw outcome.failure;
    if (outcome.kind === 'fine') this.#isFine.add(fault);
    return outcome.kind === 'fine';
  }
}

function sessionThrew({ threwOutside }: FinishedRun): InputError | null {
  if (threwOutside === null) return null;
  const { session, error } = threwOutside;
  const text = `session "${session}" threw outside a transaction: ${errorText(error)}`;
  const failure = new InputError('program/session-threw', text);
  failure.cause = error;
  return failure;
}
