/** The end of a run, where its invariant can judge again: with the answers that its statements have there, or with others. */
import {
  type Judgement,
  judgementOf,
  observed,
  resultsOf,
  type SqlConnection,
  type SqlEnd,
  type SqlProgram,
} from '../program/index.ts';
import {
  type AnswerTo,
  type Session,
  settleInProcess,
  type SqlDatabase,
  type StatementEvent,
} from '../database/index.ts';
import { connectTo } from '../serve/index.ts';
import type { Answer, Looked } from './looked.ts';

export interface FinalStateOptions {
  readonly program: SqlProgram;
  readonly database: SqlDatabase;
  /** What each session returned. */
  readonly results: Readonly<Record<string, unknown>>;
  /** The number of the next connection. */
  readonly connectionId: () => number;
}

/** One judgement. */
export interface Judged {
  readonly judgement: Judgement;
  /** What the invariant looked at, changed or not. */
  readonly looked: Looked;
  /** Did it send a statement of its own, and not its driver's? */
  readonly sends: boolean;
  /** Is all that it looked at in `looked`? Not where it writes, expects an error, or asks for what is in no table. */
  readonly isWhole: boolean;
}

export class FinalState {
  readonly #options: FinalStateOptions;

  constructor(options: FinalStateOptions) {
    this.#options = options;
  }

  /** @param changed what statements and sessions answer in place of what they do; `null`: what they do */
  async judge(changed: Looked | null): Promise<Judged> {
    const judging = new StateJudgement(this.#options, changed);
    const judgement = await judgementOf(() => observed((isObserved) => judging.judge(isObserved)));
    await judging.close();
    return { judgement, ...judging.seen() };
  }
}

/** One judgement of a final state, with what the invariant asked for. */
class StateJudgement {
  readonly #options: FinalStateOptions;
  readonly #changed: Looked | null;
  readonly #sessions: Session[] = [];
  readonly #answers: Answer[] = [];
  #asksResults = false;
  #sends = false;
  #isWhole = true;

  constructor(options: FinalStateOptions, changed: Looked | null) {
    this.#options = options;
    this.#changed = changed;
  }

  judge(isObserved: boolean): unknown {
    const { program } = this.#options;
    const results = this.#changed?.results ?? this.#options.results;
    const given = isObserved ? resultsOf({ ...results }, program.sessionNames) : results;
    const noteResults = (): void => void (this.#asksResults = true);
    const end: SqlEnd = {
      ...this.#connection(),
      get results() {
        noteResults();
        return given;
      },
    };
    return program.invariant(end);
  }

  seen(): Omit<Judged, 'judgement'> {
    const looked = { answers: this.#answers, results: this.#asksResults ? this.#options.results : null };
    return { looked, sends: this.#sends, isWhole: this.#isWhole };
  }

  /** What it has sent without awaiting the answer arrives; a transaction that it has left open holds no lock. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => void settleInProcess(resolve));
    for (const session of this.#sessions) session.close();
  }

  #connection(): SqlConnection {
    const { database, connectionId } = this.#options;
    return {
      name: 'invariant',
      connect: () =>
        connectTo(database, {
          id: connectionId(),
          name: 'invariant',
          readsStrongly: true,
          answerTo: this.#answerTo,
          onStatement: (event) => this.#ended(event),
          onSession: (session) => this.#sessions.push(session),
        }),
      sometimes: () => {},
    };
  }

  readonly #answerTo: AnswerTo = (sql, tables, answer) => {
    const { columns, rows, command } = answer;
    if (command !== 'SELECT' || columns === null || tables === null || tables.length === 0) return answer;
    const number = this.#answers.length;
    this.#answers.push({ sql, columns, rows });
    const changed = this.#changed?.answers[number];
    // With another answer to an earlier statement, it may ask for something else.
    if (changed === undefined || changed.sql !== sql || changed.columns.length !== columns.length) return answer;
    return { ...answer, rows: changed.rows, rowCount: changed.rows.length, foundRows: changed.rows.length };
  };

  #ended({ sql, command, tables, error }: StatementEvent): void {
    if (error === null && (isOfSession.test(command) || ofDrivers.some((each) => each.test(sql)))) return;
    this.#sends = true;
    this.#isWhole &&= error === null && command === 'SELECT' && tables !== null && tables.length > 0;
  }
}

const isOfSession =
  /^(?:BEGIN|START TRANSACTION|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|RESET|USE|DISCARD.*|DEALLOCATE|)$/i;
const ofDrivers = [
  // To try the connection.
  /^\s*select\s+'?\w*'?(?:\s+as\s+\S+)?\s*;?\s*$/i,
  /^\s*select\s+(?:(?:version|current_schema|current_database|database)\(\)|@@[^]*)(?:\s+as\s+\S+)?\s*;?\s*$/i,
  /^\s*show\s+(?:server_version|variables|session|transaction)/i,
  // From `pg_type` alone.
  /^\s*select\b(?![^]*\bfrom\b(?!\s+(?:pg_catalog\.)?pg_type\b))[^]*\bpg_type\b/i,
];
