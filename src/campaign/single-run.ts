/** One run of a program on the mock database, judged: did the invariant hold, and by which decisions did it come about? */
import type { History, Key, TransactionIndex } from '../history/index.ts';
import type { ConstrainingLevel } from '../isolation/index.ts';
import { type Attempt, type Decisions, MockDatabase, type ReadChoice, type ReadPoint } from '../mockdb/index.ts';
import type { InputError } from '../base/index.ts';
import { endOf, errorText, judge, type Marks, type Program, runProgram, type SessionRun } from '../program/index.ts';

export interface RunLimits {
  readonly conflicts?: 'retry' | 'abort' | 'discard';
  /** When the run must be over, in `monotonicMs`. */
  readonly deadlineMs?: number;
  /** Aborted: the run is given up. */
  readonly signal?: AbortSignal;
  /** Turns that the run may take; one more is a timeout. Default: any number. */
  readonly turnsMax?: number;
  /** Called whenever a session gets to run, by its index, or the invariant: `null`. For those who watch. */
  readonly onTurn?: (session: number | null, lastOperation: () => string) => void;
  /** Called, after the run, with each call of a session that had returned, or of a transaction that had ended: the program is at fault. Default: the call is rejected. */
  readonly onLateCall?: (fault: InputError) => void;
}

/** A session that did not end in time, or the invariant: `null`. */
export interface Timeout {
  readonly session: string | null;
  readonly lastOperation: string;
}

export type SingleRun = FinishedRun | { readonly kind: 'discarded' } | ({ readonly kind: 'timeout' } & Timeout);

export interface FinishedRun {
  readonly kind: 'finished';
  /** What is wrong; `null` where the invariant holds. */
  readonly violation: string | null;
  /** The error of its own code that the invariant threw. */
  readonly mistake: Error | null;
  readonly path: readonly number[];
  readonly schedule: readonly number[];
  readonly readChoices: readonly ReadChoice[];
  readonly marks: Marks;
  readonly sessions: readonly SessionRun[];
  /** What each session returned; empty where one threw. */
  readonly results: Readonly<Record<string, unknown>>;
  /** Sessions that awaited something that is not the store's. */
  readonly waitedOutside: readonly string[];
  /** Sessions that started a transaction while another of theirs was under way. */
  readonly queued: readonly string[];
  readonly observedState: number;
  /** The error with which a session ended that did not come out of a transaction. */
  readonly threwOutside: { readonly session: string; readonly error: unknown } | null;
}

/** Runs one program many times; the memory is kept from run to run, so only the last run can be asked for its history. */
export class ProgramRunner {
  readonly program: Program;
  readonly level: ConstrainingLevel;
  readonly #database: MockDatabase;

  constructor(program: Program, level: ConstrainingLevel) {
    this.program = program;
    this.level = level;
    this.#database = new MockDatabase({ level, initial: program.initial, sessionNames: program.sessionNames });
  }

  async run(decisions: Decisions, limits: RunLimits = {}): Promise<SingleRun> {
    const database = this.#database;
    database.reset(decisions);
    const outcome = await runProgram(this.program, database, { nextSession: decisions.session, ...limits });
    if (outcome.kind === 'discarded') return outcome;
    if (outcome.kind === 'timeout') {
      return { kind: 'timeout', session: outcome.session, lastOperation: outcome.lastOperation };
    }
    const observedState = database.observedState();
    const marks = new Map(outcome.marks);
    limits.onTurn?.(null, () => 'nothing');
    const verdict =
      outcome.kind === 'threw'
        ? {
            kind: 'fails' as const,
            message: `session "${outcome.session}" failed: ${errorText(outcome.error)}`,
            mistake: null,
          }
        : await judge(
            this.program,
            endOf(outcome.results, marks, () => database.finalState()),
            limits,
          );
    if (verdict.kind === 'late') return { kind: 'timeout', session: null, lastOperation: 'nothing' };
    const violation = verdict.kind === 'fails' ? verdict.message : null;
    const { path, schedule, readChoices } = decisions;
    const { overlapped } = database;
    const sessions = outcome.sessions.map((session, i) =>
      overlapped.has(i) ? { ...session, overlapped: true } : session,
    );
    const threwOutside =
      outcome.kind === 'threw' && outcome.isOutside ? { session: outcome.session, error: outcome.error } : null;
    return {
      kind: 'finished',
      violation,
      mistake: verdict.kind === 'fails' ? verdict.mistake : null,
      path,
      schedule,
      readChoices,
      marks,
      sessions,
      results: outcome.kind === 'finished' ? outcome.results : {},
      waitedOutside: outcome.waitedOutside,
      queued: outcome.queued,
      observedState,
      threwOutside,
    };
  }

  /** That some run has read or written. */
  get keys(): readonly Key[] {
    return this.#database.keys;
  }

  /** Of the last run. */
  get attempts(): readonly Attempt[] {
    return this.#database.attempts();
  }

  /** The history of the last run, and a commit order that shows it to be at its level. */
  lastHistory(): { readonly history: History; readonly commitOrder: readonly TransactionIndex[] } {
    return { history: this.#database.history(), commitOrder: this.#database.commitOrder() };
  }

  /** Where the last run's history has these reads, as `transaction operation`; without those of transactions that left no trace. */
  placesOf(reads: readonly ReadPoint[]): ReadonlySet<string> {
    const places = reads.flatMap((read) => this.#database.placeOf(read) ?? []);
    return new Set(places.map(({ transaction, operation }) => `${transaction} ${operation}`));
  }
}
