/** What the invariant of a SQL program looked at and what its sessions used, added up over runs. */
import type { InvariantEvidence } from '../evidence/index.ts';
import { AnswerTally } from '../program/index.ts';

export class InvariantTally {
  readonly #answers = new AnswerTally();
  readonly #looked = new Set<string>();
  readonly #touched = new Set<string>();
  readonly #changed = new Set<string>();
  #touchesAny = false;
  #asksResults = false;
  #again: InvariantEvidence['again'] = null;

  /** Of one run, or of runs elsewhere. */
  add({ statements, asksResults, looked, touched, changed, again }: InvariantEvidence): void {
    for (const statement of statements) this.#answers.addStatement(statement);
    this.#asksResults ||= asksResults;
    this.#touchesAny ||= touched === null;
    if (again !== null && !(typeof this.#again === 'object' && this.#again?.canFail === true)) this.#again = again;
    for (const table of looked) this.#looked.add(table);
    for (const table of touched ?? []) this.#touched.add(table);
    for (const table of changed) this.#changed.add(table);
  }

  get evidence(): InvariantEvidence {
    return {
      statements: this.#answers.answers.statements,
      asksResults: this.#asksResults,
      looked: [...this.#looked],
      touched: this.#touchesAny ? null : [...this.#touched],
      changed: [...this.#changed],
      again: this.#again,
    };
  }
}
