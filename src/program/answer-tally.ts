/** What the database answered one session, added up over the statements of a run or over runs. */
import type { AnswerEvidence, StatementEvidence } from '../evidence/index.ts';

export class AnswerTally {
  readonly #statements = new Map<string, StatementEvidence>();
  #foundNone: string | null = null;
  #hasFound = false;
  /** `null`: it has changed since it was asked for. */
  #answers: AnswerEvidence | null = null;

  add({ statements, foundNone, hasFound }: AnswerEvidence): void {
    for (const statement of statements) this.addStatement(statement);
    if (foundNone !== null) this.addNone(foundNone);
    if (hasFound) this.addFound();
  }

  /** Statements that differ in literals only are one. */
  addStatement({ statement, hasSucceeded, failure }: StatementEvidence): void {
    const key = withoutLiterals(statement);
    const known = this.#statements.get(key);
    if (known === undefined ? this.#statements.size === STATEMENTS_MAX : known.hasSucceeded || !hasSucceeded) return;
    this.#statements.set(key, {
      statement: known?.statement ?? statement,
      hasSucceeded,
      failure: known?.failure ?? failure,
    });
    this.#answers = null;
  }

  /** @param statement one that looked for rows and found none */
  addNone(statement: string): void {
    if (this.#foundNone !== null) return;
    this.#foundNone = statement;
    this.#answers = null;
  }

  addFound(): void {
    if (this.#hasFound) return;
    this.#hasFound = true;
    this.#answers = null;
  }

  get answers(): AnswerEvidence {
    this.#answers ??= {
      statements: [...this.#statements.values()],
      foundNone: this.#foundNone,
      hasFound: this.#hasFound,
    };
    return this.#answers;
  }
}

function withoutLiterals(text: string): string {
  return text.replaceAll(/'(?:[^']|'')*'|\b\d+\b/g, '?');
}

/** Memory does not grow with the runs: what more there is of different statements is not looked at. */
const STATEMENTS_MAX = 1_000;
