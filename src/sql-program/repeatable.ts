/**
 * A SQL program must be a function of its schedule and of what the database answers (`program/function-of-reads.ts`). What the database itself
 * draws, and its time, are the same in every repetition; what is compared is what sessions send, are answered and return.
 */
import { InputError } from '../base/index.ts';
import {
  ControlledSources,
  requireFunctionOfReads,
  requireNoForcedDifference,
  type SqlProgram,
} from '../program/index.ts';
import { factsOf } from './run-facts.ts';
import type { SqlRun } from './sql-run.ts';

type Finished = Extract<SqlRun, { kind: 'finished' }>;

export interface RepeatableRun {
  /** Logged. */
  readonly run: Finished;
  /** The same schedule of this program, logged, with the same answers of the database's clock. */
  readonly again: (program: SqlProgram) => Promise<SqlRun>;
  /** Sessions that awaited something other than the database. */
  readonly waitedOutside: Iterable<string>;
}

/**
 * Which of many runs are repeated: the first and the first that fails, each with one run more, and four and one for each source besides where
 * it calls one (randomness, a clock); and the first few others in which a source was called, each with two more.
 */
export class RepeatedRuns {
  readonly #program: SqlProgram;
  readonly #isKnown: boolean;
  readonly #sources: ControlledSources<SqlProgram>;
  #isFirst = true;
  #hasFailed = false;
  #withCalls = 0;

  /** @param isKnown is the program known to be a function of what it reads? Then none is repeated, and no source is watched. */
  constructor(program: SqlProgram, isKnown = false) {
    this.#program = program;
    this.#isKnown = isKnown;
    this.#sources = new ControlledSources(program);
  }

  /** The one to run: its sources give the same values in every run. */
  get program(): SqlProgram {
    return this.#sources.program;
  }

  /** What a verdict takes for granted of these values, as clauses. */
  assumed(): string[] {
    return this.#sources.assumed();
  }

  /** Makes a run, and notes whether a source was called meanwhile. */
  made(run: () => Promise<SqlRun>): Promise<SqlRun> {
    if (!this.#isKnown) this.#sources.begin('now');
    return this.#sources.made(run);
  }

  /** Is the run that was made last to be repeated, and how? */
  takes({ violation }: Finished): 'whole' | 'forced' | null {
    if (this.#isKnown) return null;
    const isWhole = this.#isFirst || (violation !== null && !this.#hasFailed);
    this.#isFirst = false;
    this.#hasFailed ||= violation !== null;
    if (isWhole) return 'whole';
    if (!this.#sources.wereCalled || this.#withCalls === CALLS_MAX) return null;
    this.#withCalls += 1;
    return 'forced';
  }

  /**
   * @returns false where there was no time left for it
   * @throws InputError `program/nondeterministic` naming the first difference and its cause
   */
  require(how: 'whole' | 'forced', { run, again, waitedOutside }: RepeatableRun): Promise<boolean> {
    const requireFunction = how === 'whole' ? requireFunctionOfReads : requireNoForcedDifference;
    return requireFunction({
      first: factsOf(run),
      repeat: async (trial) => {
        const repeated = await again(trial.around(this.#program));
        return repeated.kind === 'timeout' ? null : factsOf(repeated);
      },
      waitedOutside: [...waitedOutside],
    });
  }

  stop(): void {
    this.#sources.end();
  }
}

/** Runs beside the first and the first failing one that are repeated because a source was called. */
const CALLS_MAX = 8;

/**
 * A run took another turn than an earlier one with the same decisions.
 * @param looking sessions that look at memory which others change
 */
export function otherTurn([looking]: readonly string[]): InputError {
  const cause =
    looking === undefined
      ? 'it depends on something else (time, randomness, the network)'
      : `session "${looking}" looks at memory that outlives a run or that another session changes`;
  return new InputError(
    'program/nondeterministic',
    `with the same decisions the program does not do the same: ${cause}`,
  );
}

/** A clock of the database that gives the same in each run: about a millisecond more with each look. Microseconds since 1970. */
export function steppingClock(): () => bigint {
  let now = NEW_YEAR;
  return () => (now += 1_010n);
}

/**
 * 1 January 2026: what a schedule shows must not depend on when it is run. With microseconds, as servers have them: a driver that makes a moment
 * a JavaScript `Date` cuts it to milliseconds, and the value that comes back equals no stored one. No step of the clock above makes them whole.
 */
export const NEW_YEAR = 1_767_225_600_123_457n;
