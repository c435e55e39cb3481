/**
 * A session that ends with an error is a finding when timing led it there. One that ends with the same error when the sessions run one after
 * another, in whatever order, is wrong by itself (no user, no such table, no server), and no schedule says anything: bad input.
 */
import { InputError } from '../base/input-error.ts';
import type { Decisions } from '../mockdb/index.ts';
import type { SqlProgram } from '../program/index.ts';
import type { SessionFailure } from './session-record.ts';
import { sessionIndexOf, type SqlRun } from './sql-run.ts';

export class SerialCheck {
  readonly #program: SqlProgram;
  readonly #run: (decisions: Decisions) => Promise<SqlRun>;
  /** Errors that are known not to come in some serial run. */
  readonly #ofTiming = new Set<string>();

  constructor(program: SqlProgram, run: (decisions: Decisions) => Promise<SqlRun>) {
    this.#program = program;
    this.#run = run;
  }

  /** @throws InputError `program/session-threw` */
  async require(run: SqlRun): Promise<void> {
    if (run.kind === 'timeout' || run.unsupported.length > 0) return;
    for (const failure of run.failures) if (!failure.isRetryable) await this.#require(failure);
  }

  async #require(failure: SessionFailure): Promise<void> {
    const key = `${failure.session}\0${failure.error}`;
    if (this.#ofTiming.has(key)) return;
    for (const order of ordersOf(this.#program.sessionNames.length, ORDERS_MAX)) {
      const run = await this.#run(inOrder(order));
      if (run.kind === 'finished' && run.failures.some((each) => isSame(each, failure))) continue;
      this.#ofTiming.add(key);
      return;
    }
    const { session, error } = failure;
    throw new InputError(
      'program/session-threw',
      `session "${session}" fails also when the sessions run one after another: ${error}`,
    );
  }
}

function isSame(one: SessionFailure, other: SessionFailure): boolean {
  return one.session === other.session && one.error === other.error;
}

/** One session after the other; reads see what was written last. */
function inOrder(order: readonly number[]): Decisions {
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

/** The permutations of 0 to count - 1 in lexicographic order, at most so many. */
function ordersOf(count: number, max: number): readonly (readonly number[])[] {
  const orders: number[][] = [];
  const extend = (order: readonly number[]): void => {
    if (orders.length === max) return;
    if (order.length === count) orders.push([...order]);
    for (let next = 0; next < count; next += 1) if (!order.includes(next)) extend([...order, next]);
  };
  extend([]);
  return orders;
}

/** All orders of four sessions. */
const ORDERS_MAX = 24;
