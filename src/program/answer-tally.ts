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
  addStatement(added: StatementEvidence): void {
    const key = withoutLiterals(added.statement);
    const known = this.#statements.get(key);
    if (known === undefined && this.#statements.size === STATEMENTS_MAX) return;
    const merged = known === undefined ? added : mergedStatement(known, added);
    if (merged === known) return;
    this.#statements.set(key, merged);
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

function mergedStatement(known: StatementEvidence, added: StatementEvidence): StatementEvidence {
  const hasSucceeded = known.hasSucceeded || added.hasSucceeded;
  const failure = known.failure ?? added.failure;
  const rows = known.rows === 'some' ? known.rows : (added.rows ?? known.rows);
  const isSame = hasSucceeded === known.hasSucceeded && failure === known.failure && rows === known.rows;
  return isSame ? known : { statement: known.statement, hasSucceeded, failure, rows };
}

function withoutLiterals(text: string): string {
  return text.replaceAll(/'(?:[^']|'')*'|\b\d+\b/g, '?');
}

/** Memory does not grow with the runs: what more there is of different statements is not looked at. */
const STATEMENTS_MAX = 1_000;
