/**
 * The steps of a run of a SQL program, as a replay compares them: the statements in the order in which they ended, without their parameters
 * but with the code of an error, and the choices of the scheduler between them. What the invariant sends does not count.
 */
import type { Decisions } from '../mockdb/index.ts';
import type { RecordedRun, SqlProgram } from '../program/index.ts';
import { type Profile, profileText, type StatementEvent } from '../database/index.ts';
import { statementLine } from '../sql/index.ts';

/** What a run of a SQL program starts from. Its choices mean something only on the same engine and level. */
export function shapeOfSql({ dialect, sessionNames, schema }: SqlProgram, profile: Profile): RecordedRun['shape'] {
  return [
    `a SQL program for ${dialect}`,
    ...sessionNames.map((name) => `session "${name}"`),
    ...schema.map((text) => `schema ${text}`),
    `database ${profileText(profile)}`,
  ];
}

/** Why a run is not the recorded one, where its steps do not say it: one that moirai refused a statement proves nothing. */
export function reasonOf(run: { readonly unsupported: readonly unknown[] } | null): string | null {
  return run !== null && run.unsupported.length > 0 ? 'the program sends statements that moirai cannot do' : null;
}

export class RunSteps {
  readonly steps: string[] = [];
  #isJudging = false;

  /** The same decisions, noted. */
  noting(decisions: Decisions): Decisions {
    return {
      get path() {
        return decisions.path;
      },
      get schedule() {
        return decisions.schedule;
      },
      get readChoices() {
        return decisions.readChoices;
      },
      session: (waiting) => {
        const session = decisions.session(waiting);
        if (waiting.length > 1) this.#note(`statement ${waiting.indexOf(session) + 1} of ${waiting.length} goes next`);
        return session;
      },
      read: (admissible, point) => {
        const position = decisions.read(admissible, point);
        if (admissible.length > 1) this.#note(`a read sees write ${position + 1} of ${admissible.length}`);
        return position;
      },
      failure: () => decisions.failure(),
    };
  }

  statement(session: string, { sql, error }: StatementEvent): void {
    const end = error === null ? '' : `, which fails with ${error.code}`;
    this.#note(`session "${session}" sends ${statementLine(sql)}${end}`);
  }

  /** The sessions have ended. */
  judge(): void {
    this.#isJudging = true;
  }

  #note(step: string): void {
    if (!this.#isJudging) this.steps.push(step);
  }
}
