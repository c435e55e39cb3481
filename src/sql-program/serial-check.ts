/**
 * A session that ends with an error is a finding when timing led it there. One that ends with the same error when the sessions run one after
 * another, in whatever order, is wrong by itself (no user, no such table, no server), and no schedule says anything: bad input. So is an invariant
 * whose own code, or a statement of it, is wrong.
 */
import { InputError } from '../base/index.ts';
import type { Decisions } from '../mockdb/index.ts';
import { inEveryOrder, invariantThrew, type SqlProgram } from '../program/index.ts';
import type { SessionFailure } from './session-record.ts';
import { sessionIndexOf, type SqlRun } from './sql-run.ts';

export class SerialCheck {
  readonly #program: SqlProgram;
  readonly #run: (decisions: Decisions) => Promise<SqlRun>;
  /** Faults that are known not to come in some serial run. */
  readonly #ofTiming = new Set<string>();

  constructor(program: SqlProgram, run: (decisions: Decisions) => Promise<SqlRun>) {
    this.#program = program;
    this.#run = run;
  }

  /** @throws InputError `program/session-threw`, `program/invariant-threw` */
  async require(run: SqlRun): Promise<void> {
    if (run.kind === 'timeout' || run.unsupported.length > 0) return;
    for (const failure of run.failures) if (!failure.isRetryable) await this.#requireSession(failure);
    if (run.mistake !== null) await this.#require('the invariant', ({ mistake }) => mistake && invariantThrew(mistake));
  }

  async #requireSession(failure: SessionFailure): Promise<void> {
    const { session, error } = failure;
    const text = `session "${session}" fails also when the sessions run one after another: ${error}`;
    await this.#require(`${session}\0${error}`, ({ failures }) =>
      failures.some((each) => isSame(each, failure)) ? new InputError('program/session-threw', text) : null,
    );
  }

  async #require(fault: string, faultOf: (run: Finished) => InputError | null): Promise<void> {
    if (this.#ofTiming.has(fault)) return;
    const outcome = await inEveryOrder(this.#program.sessionNames.length, async (order) => {
      const run = await this.#run(serialDecisions(order));
      const failure = run.kind === 'finished' ? faultOf(run) : null;
      return failure === null ? { kind: 'fine' } : { kind: 'fails', failure };
    });
    if (outcome.kind === 'fails') throw outcome.failure;
    this.#ofTiming.add(fault);
  }
}

type Finished = Extract<SqlRun, { kind: 'finished' }>;

function isSame(one: SessionFailure, other: SessionFailure): boolean {
  return one.session === other.session && one.error === other.error;
}

/** One session after the other; reads see what was written last. */
export function serialDecisions(order: readonly number[]): Decisions {
  const schedule: number[] = [];
  const rank = (connection: number): number => order.indexOf(sessionIndexOf(connection));
  return {
    path: [],
    schedule,
    readChoices: [],
    session: (ready) => {
      const first = ready.toSorted((a, b) => rank(a) - rank(b) || a - b)[0] as number;
      schedule.push(first);
      return first;
    },
    read: () => 0,
    failure: () => false,
  };
}
