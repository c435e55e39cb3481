/** What the invariant has sent and not awaited: a statement whose answer is still to come, or that failed with an error that nothing catches. */
import { InputError } from '../base/index.ts';
import type { StatementEvent } from '../database/index.ts';
import { errorText } from '../program/index.ts';
import { shortened } from './statement-answers.ts';

export class InvariantAwaits {
  /** Statements that have come, without those that were answered. */
  readonly #open: string[] = [];
  readonly #failed: { readonly sql: string; readonly message: string }[] = [];

  arrived(sql: string): void {
    this.#open.push(sql);
  }

  ended({ sql, error }: StatementEvent): void {
    const at = this.#open.indexOf(sql);
    if (at !== -1) this.#open.splice(at, 1);
    if (error !== null) this.#failed.push({ sql, message: error.message });
  }

  /** A promise that nothing awaits was rejected. `null`: by no statement of the invariant. */
  rejected(reason: unknown): InputError | null {
    const text = reason instanceof Error ? reason.message : String(reason);
    const sql = this.#failed.find(({ message }) => text.includes(message))?.sql ?? this.#open[0];
    if (sql === undefined) return null;
    return new InputError(
      'program/statement-under-way',
      `the invariant did not await a statement: is an await missing? ${shortened(sql)}: ${errorText(reason)}`,
    );
  }
}
