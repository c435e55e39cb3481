/** What the sessions of a program did, added up over runs: the evidence that they did something, and did it at the same time. */
import { type AnswerEvidence, type Loss, noAnswers, type RolledBack, type SessionEvidence } from '../evidence/index.ts';
import { AnswerTally } from './answer-tally.ts';

/** What one session did in one run. */
export interface SessionRun {
  /** That reached the store. */
  readonly operations: number;
  /** Was there a choice between its next step and that of another session? */
  readonly overlapped: boolean;
  /** The error of its last transaction; `null` where that committed, or was aborted by the program. */
  readonly failure: string | null;
  /** What it gave up without an error; `null` where nothing. */
  readonly loss: Loss | null;
  /** The first error that rolled back a transaction of it, beside those of timing. Default: `null`. */
  readonly rolledBack?: RolledBack | null;
  /** What the database answered it. Default: `noAnswers`. */
  readonly answers?: AnswerEvidence;
}

export class SessionTally {
  readonly #sessions: Mutable<Omit<SessionEvidence, 'answers'>>[];
  readonly #answers: readonly AnswerTally[];

  constructor(names: readonly string[]) {
    this.#sessions = names.map((name) => ({
      name,
      runs: 0,
      operations: 0,
      failedRuns: 0,
      failure: null,
      lostRuns: 0,
      loss: null,
      rolledBackRuns: 0,
      rolledBack: null,
      overlapped: false,
    }));
    this.#answers = names.map(() => new AnswerTally());
  }

  add(run: readonly SessionRun[]): void {
    run.forEach(({ operations, overlapped, failure, loss: lost, rolledBack = null, answers = noAnswers }, i) => {
      const failedRuns = failure === null ? 0 : 1;
      const loss = failure === null ? lost : null;
      const lostRuns = loss === null ? 0 : 1;
      const rolledBackRuns = rolledBack === null ? 0 : 1;
      const losses = { failedRuns, failure, lostRuns, loss, rolledBackRuns, rolledBack };
      this.#addTo(i, { runs: 1, operations, ...losses, overlapped, answers });
    });
  }

  /** What was seen of the same program elsewhere. */
  merge(sessions: readonly SessionEvidence[]): void {
    sessions.forEach((session, i) => this.#addTo(i, session));
  }

  sessions(): SessionEvidence[] {
    return this.#sessions.map((session, i) => ({ ...session, answers: this.#answers[i]?.answers ?? noAnswers }));
  }

  #addTo(index: number, more: Omit<SessionEvidence, 'name'>): void {
    const session = this.#sessions[index];
    if (session === undefined) return;
    session.runs += more.runs;
    session.operations += more.operations;
    session.failedRuns += more.failedRuns;
    session.failure ??= more.failure;
    session.lostRuns += more.lostRuns;
    session.loss ??= more.loss;
    session.rolledBackRuns += more.rolledBackRuns;
    session.rolledBack ??= more.rolledBack;
    session.overlapped ||= more.overlapped;
    this.#answers[index]?.add(more.answers);
  }
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
