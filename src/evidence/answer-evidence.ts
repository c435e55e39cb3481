/** What statements did in the runs: part of the evidence on a session and on an invariant. */
/** What the database answered the statements of one session, over all runs. */
export interface AnswerEvidence {
  /** Those that succeeded or failed by their own text, each once, whatever its literals. */
  readonly statements: readonly StatementEvidence[];
  /** The first that looked for rows to read or change and found none, with its parameters. */
  readonly foundNone: string | null;
  /** Did any statement find or change a row, or do something else that others can notice? */
  readonly hasFound: boolean;
}

/** One statement of a session, over all runs. */
export interface StatementEvidence {
  readonly statement: string;
  /** Has it succeeded in some run? */
  readonly hasSucceeded: boolean;
  /**
   * Were there rows that it changed or that it looked for, in some run? A SELECT of a session counts as one that found some unless its aggregates
   * are of none: whether a row is there may be what it asks. `null`: of what looks for none.
   */
  readonly rows: 'some' | 'none-changed' | 'none-found' | null;
  /** The first error that its own text is to blame for, and no timing: `42703 column "x" does not exist`. */
  readonly failure: string | null;
}

export const noAnswers: AnswerEvidence = { statements: [], foundNone: null, hasFound: false };
